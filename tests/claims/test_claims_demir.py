"""The panels of Demir and Dogan's poster: each fails on wrong measurements, stays open on wide ones, and runs at a tiny size."""

from dataclasses import replace
from functools import partial

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.claims import select
from giantstep.claims.demir import alignment, judgement, panel, rank, ratio, weighting
from giantstep.plot import style

NAMES = ("width", "weighting", "strength", "ratio", "alignment", "rank")
RAISED = ("weighting", "strength", "ratio", "alignment", "rank")  # the axis is said to matter


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure: "")


def judged(name, change):
    """The verdict with what was measured on every curve changed."""
    (claim,) = select([f"demir/{name}"])
    measured, predicted = kept.load(claim)
    return claim.judge("quick", {curve: {**found, **change(found)} for curve, found in measured.items()}, predicted)


@pytest.mark.parametrize("name", RAISED)
def test_an_axis_that_works_the_other_way_fails(name, undrawn):
    (claim,) = select([f"demir/{name}"])
    assert isinstance(claim.judge, partial)
    own = claim.judge.args[0]
    turned = replace(own, better=own.worse, worse=own.better)
    verdict = judgement.judge(turned, "quick", *kept.load(claim))
    assert verdict.outcome == "fails" and "reversed" in verdict.sentence


@pytest.mark.parametrize("name", NAMES)
def test_wide_error_bars_leave_it_open(name, undrawn):
    def wide(found):
        signs = np.where(np.arange(found["hermite"].shape[-1]) % 2, 1, -1)
        return {"hermite": found["network"][:, 1, : len(signs)] * (1 + 0.35 * signs)}

    assert judged(name, wide).outcome == "inconclusive"


def test_the_network_without_its_step_is_another_one(undrawn):
    """At alpha = 1 the step learns, and neither the Hermite model nor theory is that of random features."""
    assert judged("weighting", lambda f: {"network": f["network"][:, ::-1]}).outcome == "fails"


def test_labels_along_the_spikes_need_the_degree(undrawn):
    assert judged("weighting", lambda f: {"hermite": f.get("linear", f["hermite"])}).outcome == "fails"


def test_normalised_verdicts_are_said(undrawn):
    for name, at in (("weighting", -2), ("strength", -2), ("ratio", -1), ("alignment", -1)):
        assert judged(name, lambda f: {}).rows[at][-1] == "raw: holds; normalised: not seen"
    for name in ("weighting", "strength"):
        clean = judged(name, lambda f: {}).rows[-1]
        assert "along the spikes" in str(clean[0]) and clean[-1] == "raw: holds; normalised: holds"


def test_half_the_error_over_half_the_variance_is_the_normalised_error():
    curve = replace(alignment.PANEL.curves["quick"][0], x=(0.0,), some=(), unpredicted=True)
    found = panel.measure(replace(alignment.PANEL, curves={"quick": (curve,)}, sizes={"quick": (40, 2)}), "quick")
    setting = panel.experiment(40, curve, 0.0)
    outcome = gs.simulate(setting, range(2), n_test=200, dtype="float32", method="dense")
    own = found[curve.name]
    np.testing.assert_allclose(own["network"][0, 1] / own["variance"][0], outcome.normalised, rtol=1e-5)


def test_the_components_of_a_population_have_equal_traces():
    curve = rank.PANEL.curves["quick"][0]
    for population in range(3):
        data = panel.experiment(60, curve, 3.0, population).data
        assert isinstance(data, gs.Mixture)
        assert np.trace(data.covariance(0)) == pytest.approx(np.trace(data.covariance(1)))
    first = [rank.strengths(1, i, 16)[0] for i in range(16)]
    assert sorted(int(16 * t) for t in first) == list(range(16))  # one in every sixteenth


@pytest.mark.parametrize("module", (rank, ratio, weighting), ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, coarse):
    own = module.PANEL
    curves = tuple(replace(c, unpredicted=True, populations=min(c.populations, 2)) for c in own.curves["quick"])
    tiny = replace(own, curves={"quick": curves}, sizes={"quick": (30, 3)})
    verdict = judgement.judge(tiny, "quick", panel.measure(tiny, "quick"), panel.predict(tiny, "quick"))
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption
