"""The claims of Demir and Dogan and on mixtures: identities, verdicts on kept measurements, and runs at a tiny size."""

from dataclasses import replace

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.claims import select
from giantstep.claims.claim import ClaimModule, checked_by
from giantstep.claims.demir import alignment, conditional, evidence, fashion, figure, hermite, panel, rank, weighting
from giantstep.claims.giantstep import fitted, mixtures
from giantstep.claims.giantstep import images as own_images
from giantstep.plot import style

PANELS = ("weighting", "strength", "ratio", "alignment", "rank")


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure, **options: "")


def ruled(name, change=lambda measured: measured):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return claim.rule("quick", change(measured), predicted)


def on_curves(change):
    return lambda measured: {name: {**found, **change(found)} for name, found in measured.items()}


@pytest.mark.parametrize("name", PANELS)
def test_the_trend_of_a_panel_is_that_of_its_labels(name, undrawn):
    verdict = ruled(f"demir/{name}")
    assert (verdict.as_stated, verdict.corrected) == ("fails", "holds")


@pytest.mark.parametrize("name", PANELS)
def test_a_trend_of_learning_would_hold_as_stated(name, undrawn):
    """Labels of one size everywhere: the whole change of the raw error is then learning."""

    def learned(found):
        return {"variance": np.full_like(found["variance"], found["variance"].mean())}

    (claim,) = select([f"demir/{name}"])
    measured, predicted = kept.load(claim)
    predicted = {**predicted, "change of log Var(y)": 0.0}
    outcome = claim.rule("quick", on_curves(learned)(measured), predicted).as_stated
    assert (outcome == "holds") == (name != "rank")  # the error hardly depends on the rank, whatever the labels


@pytest.mark.parametrize("name", ("width", *PANELS))
def test_a_hermite_model_that_is_off_fails(name, undrawn):
    verdict = ruled(f"demir/{name}", on_curves(lambda found: {"hermite": 1.2 * found["hermite"]}))
    assert verdict.as_stated == "fails" and verdict.corrected in (None, "fails")


def test_large_spread_is_what_fails_for_the_hermite_model(undrawn):
    verdict = ruled("demir/hermite")
    assert (verdict.as_stated, verdict.corrected) == ("fails", "holds")

    def mended(measured):
        spread = {
            hermite.HermiteArm(case, n).name
            for case in (hermite.SPREAD, hermite.BEYOND)
            for n in hermite.SIZES["quick"]
        }
        shift = {name: {**f, "gap": f["gap"] - f["gap"].mean(axis=-1, keepdims=True)} for name, f in measured.items()}
        return {name: shift[name] if name in spread else found for name, found in measured.items()}

    verdict = ruled("demir/hermite", mended)
    assert verdict.as_stated != "fails"


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
    def seeds(case, n, size):
        return len(hermite.HermiteArm(case, n).seeds(size, range(60)))

    assert [seeds(hermite.SPREAD, n, "full") for n in (400, 800, 1600)] == [60, 30, 24]
    assert [seeds(case, 800, "full") for case in (*hermite.CLOSE, hermite.BEYOND)] == [15, 15, 15, 20]
    assert seeds(hermite.BEYOND, 200, "quick") == 60
    assert [len(weighting.PANEL.fewer(size, range(60))) for size in ("quick", "full")] == [60, 30]


def test_a_panel_with_fewer_seeds_for_some_curves_is_judged(monkeypatch):
    monkeypatch.setitem(panel.SIZES, "full", 20)
    curves = tuple(replace(c, x=(0.0, 1.0), line=(), aligned=(1.0,)) for c in weighting.PANEL.curves["full"][::2])
    tiny = replace(weighting.PANEL, curves={"full": curves})
    measured = panel.measure(tiny, "full", range(20))
    assert [measured[c.name]["network"].shape[-1] for c in curves] == [10, 20]
    assert [measured[c.name]["hermite"].shape[-1] for c in curves] == [10, 10]
    assert evidence.compare(tiny, "full", measured, {}).stated


def test_panels_run_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(panel.SIZES, "quick", 30)
    for module in (rank, weighting):
        curves = tuple(replace(c, line=()) for c in module.PANEL.curves["quick"])
        tiny = replace(module.PANEL, curves={**module.PANEL.curves, "quick": curves})
        measured = panel.measure(tiny, "quick", range(3, 7))
        predicted = rank.predict("quick") if module is rank else {}
        if module is rank:
            assert evidence.compare(tiny, "quick", measured, predicted).corrected
        assert "<svg" in figure.figure(tiny, curves, measured, {})


def test_models_run_at_a_tiny_size(monkeypatch):
    for module in (conditional, mixtures):
        monkeypatch.setitem(module.SIZES, "quick", 40)
    monkeypatch.setitem(hermite.SIZES, "quick", (24, 32))
    monkeypatch.setitem(hermite.LARGEST, "quick", 32)
    for name in ("demir/conditional", "demir/hermite", "giantstep/mixtures"):
        (claim,) = select([name])
        verdict = claim.rule("quick", claim.measure("quick", range(4)), claim.predict("quick") if claim.predict else {})
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
    modules: tuple[ClaimModule, ...] = (fashion, fitted, own_images)
    for module in modules:
        claim = checked_by(module)
        predicted = claim.predict("quick") if claim.predict else {}
        verdict = claim.rule("quick", claim.measure("quick", range(3)), predicted)
        assert verdict.rows and "<svg" in verdict.figure and verdict.caption
    fitted.fitted.cache_clear()
