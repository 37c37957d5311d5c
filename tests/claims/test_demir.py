"""The claims of Demir and Dogan and on mixtures: identities, verdicts on kept measurements, and runs at a tiny size."""

from dataclasses import replace

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.checks import Size
from giantstep.checks.statistics import decide
from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.claims._registry import loaded
from giantstep.plot import style
from giantstep_papers.demir import (
    alignment,
    conditional,
    evidence,
    fashion,
    figure,
    hermite,
    panel,
    rank,
    ratio,
    strength,
    weighting,
)
from giantstep_papers.giantstep import fitted, mixtures, network_gap
from giantstep_papers.giantstep import images as own_images

PANELS = ("weighting", "strength", "ratio", "alignment", "rank")


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure, **options: "")


def ruled(name, change=lambda measured: measured, size: Size = "quick"):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return rule(claim, size, change(measured), predicted)


def on_curves(change):
    return lambda measured: {name: {**found, **change(found)} for name, found in measured.items()}


@pytest.mark.parametrize("name", ("width", *PANELS))
def test_the_words_of_a_panel_hold_by_the_error_of_the_poster(name, undrawn):
    verdict = ruled(f"demir/{name}")
    assert (verdict.outcome, verdict.stated, verdict.corrected) == ("holds", "holds", None)
    assert (name == "width") != ("labels-shrink" in verdict.sentence)


def turned(panel, change):
    """The poster's curve with another error at its better end."""
    curve = panel.curves["quick"][0]
    better, worse = (curve.x.index(x) for x in (panel.better, panel.worse))

    def turn(measured):
        network = measured[curve.name]["network"].copy()
        network[better] = change(network[better], network[worse])
        return {**measured, curve.name: {**measured[curve.name], "network": network}}

    return turn


def moved(name, change):
    """The decision on the change of the error alone."""
    (claim,) = select([f"demir/{name}"])
    measured, predicted = kept.load(claim)
    module = {"weighting": weighting, "strength": strength, "ratio": ratio, "alignment": alignment, "rank": rank}[name]
    found = claim.compare("quick", turned(module.PANEL, change)(measured), predicted).stated[0]
    assert found.what.startswith("change of log error")
    return decide([found]).outcome


@pytest.mark.parametrize("name", ("weighting", "strength", "ratio", "alignment"))
def test_an_axis_that_leaves_the_error_alone_fails(name):
    assert moved(name, lambda better, worse: worse) == "fails"


@pytest.mark.parametrize("name", ("weighting", "strength", "ratio", "alignment"))
def test_only_a_panel_that_names_a_direction_fails_in_the_other(name):
    outcome = moved(name, lambda better, worse: 2 * worse**2 / better)
    assert outcome == ("fails" if name in ("weighting", "strength") else "holds")


@pytest.mark.parametrize("name", ("width", *PANELS))
def test_a_hermite_model_that_is_off_fails(name, undrawn):
    verdict = ruled(f"demir/{name}", on_curves(lambda found: {"hermite": 1.2 * found["hermite"]}))
    assert (verdict.outcome, verdict.stated) == ("contradicted", "fails")


def test_the_change_of_the_panels_is_that_of_the_labels(undrawn):
    verdict = ruled("giantstep/labels-shrink")
    assert (verdict.outcome, verdict.limit, verdict.corrected) == ("holds", None, None)


def test_labels_of_nearly_one_size_would_contradict_it(undrawn):
    """Most of the change of the raw error is then learning."""

    def learned(found):
        return {"variance": found["variance"] ** 0.1}

    def change(measured):
        return {name: on_curves(learned)(curves) for name, curves in measured.items()}

    assert ruled("giantstep/labels-shrink", change).outcome == "contradicted"


def test_at_large_spread_the_hermite_model_is_undecided(undrawn):
    verdict = ruled("demir/hermite")
    assert (verdict.outcome, verdict.limit, verdict.corrected) == ("undecided at these sizes", None, "holds")
    assert "too low" in verdict.sentence and "cannot decide the limit" in verdict.sentence


def test_a_hermite_model_that_is_right_at_large_spread_holds(undrawn):
    much = {hermite.HermiteArm(case, n).name for case in hermite.SPREAD for n in hermite.SIZES["quick"]}

    def mended(measured):
        shift = {name: {**f, "gap": f["gap"] - f["gap"].mean(axis=-1, keepdims=True)} for name, f in measured.items()}
        return {name: shift[name] if name in much else found for name, found in measured.items()}

    verdict = ruled("demir/hermite", mended)
    assert verdict.stated != "fails" and verdict.corrected == "fails"
    assert "too low" not in verdict.sentence


def test_the_first_term_that_is_left_out_is_slow_in_two_ranges():
    assert [round(hermite.rate(beta), 3) for beta in hermite.BETAS] == [-0.25, -0.1, -0.1]
    for beta in hermite.BETAS:
        below, above = ((k - 2) / (k - 1) for k in (hermite.order(beta), hermite.order(beta) + 1))
        assert below < beta < above and min(beta - below, above - beta) > 0.03


def test_a_fitted_mixture_predicts_its_own_draws_and_not_the_images(undrawn):
    assert ruled("giantstep/fitted", size="full").outcome == "holds"

    def like_the_mixture(measured):
        return {**measured, fitted.IMAGES: measured[fitted.CONTROL]}

    assert ruled("giantstep/fitted", like_the_mixture, size="full").outcome == "contradicted"


def test_half_the_error_over_half_the_variance_is_the_normalised_error(monkeypatch):
    monkeypatch.setitem(panel.SIZES, "quick", 40)
    curve = replace(alignment.PANEL.curves["quick"][0], x=(0.0,), line=(), aligned=())
    own = panel.measure(replace(alignment.PANEL, curves={"quick": (curve,)}), "quick", range(5, 7))[curve.name]
    outcome = gs.simulate(panel.experiment(40, curve, 0.0), range(5, 7), n_test=120, dtype="float32", method="dense")
    np.testing.assert_allclose(own["network"][0, 1] / own["variance"][0], outcome.normalised, rtol=1e-5)


def test_populations_have_equal_traces():
    curve = rank.PANEL.curves["quick"][0]
    for seed in range(3):
        data = panel.experiment(60, curve, 8.0, seed).data
        assert isinstance(data, gs.Mixture)
        assert np.trace(data.covariance(0)) == pytest.approx(np.trace(data.covariance(1)))


def test_the_order_of_the_theorem():
    assert [hermite.order(beta) for beta in (0.4, 0.6, 0.7, 0.74, 0.76, 0.86)] == [2, 3, 4, 4, 5, 8]


def test_at_full_size_what_scatters_less_has_fewer_seeds():
    def seeds(case, size):
        return len(hermite.HermiteArm(case, 200).seeds(size, range(60)))

    assert {seeds(case, "full") for case in hermite.SPREAD} == {60}
    assert {seeds(case, "full") for case in hermite.STEPPED} == {24}
    assert {seeds(case, "quick") for case in (*hermite.SPREAD, *hermite.STEPPED)} == {60}
    assert [len(weighting.PANEL.fewer(size, range(60))) for size in ("quick", "full")] == [60, 30]


def test_a_panel_with_fewer_seeds_for_some_curves_is_judged(monkeypatch):
    monkeypatch.setitem(panel.SIZES, "full", 20)
    curves = tuple(replace(c, x=(0.0, 1.0), line=(), aligned=(1.0,)) for c in weighting.PANEL.curves["full"][::2])
    tiny = replace(weighting.PANEL, curves={"full": curves})
    measured = panel.measure(tiny, "full", range(20))
    assert [measured[c.name]["network"].shape[-1] for c in curves] == [10, 20]
    assert [measured[c.name]["hermite"].shape[-1] for c in curves] == [10, 10]
    assert evidence.compare(weighting.CLAIM, tiny, "full", measured, {}).stated


def test_panels_run_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(panel.SIZES, "quick", 30)
    for module in (rank, weighting):
        curves = tuple(replace(c, line=()) for c in module.PANEL.curves["quick"])
        tiny = replace(module.PANEL, curves={**module.PANEL.curves, "quick": curves})
        measured = panel.measure(tiny, "quick", range(3, 7))
        predicted = rank.predict("quick") if module is rank else {}
        if module is rank:
            assert evidence.compare(module.CLAIM, tiny, "quick", measured, predicted).stated
        assert "<svg" in figure.figure(tiny, curves, measured, {})


def test_models_run_at_a_tiny_size(monkeypatch):
    for module in (conditional, mixtures):
        monkeypatch.setitem(module.SIZES, "quick", 40)
    monkeypatch.setitem(hermite.SIZES, "quick", (16, 24, 32))
    monkeypatch.setitem(hermite.ONCE, "quick", 32)
    monkeypatch.setitem(network_gap.DIMENSIONS, "quick", (10, 12, 14))
    monkeypatch.setitem(panel.SIZES, "quick", 30)
    names = (
        "demir/conditional",
        "demir/hermite",
        "giantstep/mixtures",
        "giantstep/labels-shrink",
        "giantstep/network-gap",
    )
    for name in names:
        (claim,) = select([name])
        verdict = rule(
            claim, "quick", claim.measure("quick", range(4)), claim.predict("quick") if claim.predict else {}
        )
        assert verdict.rows and "<svg" in verdict.figure and verdict.caption


def test_claims_on_images_run_on_a_small_set(monkeypatch):
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 5, 9], 60)
    images = (np.where(classes[:, None] == 0, 2.0, 1.0) * rng.standard_normal((240, 12))) @ np.diag(
        np.linspace(3, 1, 12)
    )

    def small(size, m, pair, activation, ratio, eta=1.0):
        setting = gs.presets.fashion(m, round(ratio * m), tuple(pair), eta, 1e-3, activation=activation)
        return replace(setting, data=gs.Dataset((images, classes), tuple(pair), counts="exact"))

    monkeypatch.setattr(fashion, "experiment", small)
    monkeypatch.setattr(fitted, "experiment", lambda size, pair, ratio: small(size, 20, pair, "relu", ratio))
    monkeypatch.setitem(fashion.SIZES, "quick", 20)
    monkeypatch.setitem(fitted.SIZES, "quick", 20)
    monkeypatch.setitem(fashion.N_TEST, "quick", 40)
    monkeypatch.setattr(fitted, "SPIKES", 1)
    monkeypatch.setattr(own_images, "experiment", lambda size, a, b, ratio: small(size, 20, (a, b), "relu", ratio))
    for each in (fitted, own_images):
        monkeypatch.setattr(each, "prediction", lambda *cell: [1.0, 0.01])
    fitted.fitted.cache_clear()
    for name in ("demir/fashion", "giantstep/fitted", "giantstep/images"):
        claim = loaded(name)
        predicted = claim.predict("quick") if claim.predict else {}
        verdict = rule(claim, "quick", claim.measure("quick", range(3)), predicted)
        assert verdict.rows and "<svg" in verdict.figure and verdict.caption
    fitted.fitted.cache_clear()
