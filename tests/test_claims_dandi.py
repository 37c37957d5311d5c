"""Claims on multi-index targets hold at a small size, and fail when what they say is made wrong."""

from giantstep.claims.dandi import (
    floors,
    narrow,
    one_step,
    ranks,
    regime,
    reuse,
    scaling,
    second_layer,
    staircase,
    threshold,
)
from giantstep.claims.saad_solla import one_pass


def test_the_staircase_holds_and_fails_for_an_activation_that_is_blind(monkeypatch):
    """tanh sees no odd coupling: it cannot climb example 1, which the conjecture says is climbed."""
    monkeypatch.setitem(staircase.SIZES, "quick", ((300, 1200, 4800), 4))
    monkeypatch.setattr(staircase, "EXAMPLES", {"example 1": staircase.EXAMPLES["example 1"]})
    monkeypatch.setattr(staircase, "STEPS", 2)
    assert staircase.run("quick").outcome == "holds"
    blind = lambda *args, **more: narrow.experiment(*args, activation="tanh", **more)  # noqa: E731
    monkeypatch.setattr(staircase, "experiment", blind)
    assert staircase.run("quick").outcome == "fails"


def test_reuse_holds_and_fails_if_the_even_target_were_to_be_found(monkeypatch):
    monkeypatch.setitem(reuse.SIZES, "quick", ((500, 4000, 16_000), 16))
    rows = reuse.measured("quick")
    assert reuse.judged("quick", rows).outcome == "holds"
    monkeypatch.setattr(reuse, "TARGETS", dict.fromkeys(reuse.TARGETS, True))
    assert reuse.judged("quick", rows).outcome == "fails"


def test_the_threshold_holds_and_fails_for_another_order(monkeypatch):
    small = {1: (2**8, 2**11), 2: (2**5, 2**7), 3: (2**4, 2**5)}
    monkeypatch.setitem(threshold.SIZES, "quick", (small, 8, 2**16))
    curves = threshold.measured("quick")
    assert threshold.judged("quick", curves).outcome != "fails"
    # samples of order d^1.5 would have done
    other = [c._replace(sizes=c.sizes / c.d**0.5) if c.order == 2 else c for c in curves]
    assert threshold.judged("quick", other).outcome == "fails"


def test_the_rank_of_one_step_holds_and_fails_for_another(monkeypatch):
    monkeypatch.setitem(one_step.SIZES, "quick", ((256, 2048), (32, 128), 8))
    found = [ranks.measured(case, 8) for case in one_step.cases("quick")]
    assert ranks.judged(found).outcome == "holds"
    told = [f._replace(case=f.case._replace(rank=2)) for f in found]
    assert ranks.judged(told).outcome == "fails"


def test_the_limit_of_signs_holds_and_fails_for_another(monkeypatch):
    monkeypatch.setitem(second_layer.SIZES, "quick", ((2**10, 2**13), 8))
    found = [ranks.measured(case, 8) for case in second_layer.cases("quick")]
    assert ranks.judged(found).outcome == "holds"
    assert ranks.judged([f._replace(case=f.case._replace(rank=3)) for f in found]).outcome == "fails"


def test_the_scaling_holds_and_fails_without_the_constant_of_the_activation(monkeypatch):
    monkeypatch.setitem(scaling.SIZES, "quick", ({1: (2**8, 2**12), 2: (2**5, 2**7), 3: (16, 32)}, 12))
    rows = scaling.measured("quick")
    assert scaling.judged("quick", rows).outcome != "fails"
    half = [
        r._replace(slope=r.slope / 2, slope_se=r.slope_se / 2) for r in rows
    ]  # as the slide has it, c_1 = 1/2 left out
    assert scaling.judged("quick", half).outcome == "fails"


def test_the_floors_hold_and_fail_when_raised(monkeypatch):
    monkeypatch.setitem(floors.SIZES, "quick", ({"d": (24, 72), "d^2": (12, 20), "d^2 d^2": (6, 8)}, 4, 3000))
    rows = floors.measured("quick")
    assert floors.judged("quick", rows).outcome != "fails"
    higher = property(lambda r: (r.explained.floor["network"] + 1, r.explained.floor["random_features"]))
    monkeypatch.setattr(regime.Regime, "floors", higher)
    assert floors.judged("quick", rows).outcome == "fails"


def test_one_pass_holds_and_fails_for_another_step_size(monkeypatch):
    monkeypatch.setitem(one_pass.SIZES, "quick", ((64, 256), 5))
    found = one_pass.paths("quick")
    assert one_pass.judged("quick", found).outcome != "fails"
    monkeypatch.setattr(one_pass, "RATE", 1.3)
    other = one_pass.paths("quick")
    mixed = [path._replace(predicted=wrong.predicted) for path, wrong in zip(found, other, strict=True)]
    assert one_pass.judged("quick", mixed).outcome == "fails"
