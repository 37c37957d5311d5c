"""Narrow networks: the followed overlaps against formulas, dense simulations and a perturbed equation."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.theory.narrow.evolution import evolution, readout

EXAMPLE = "x1 + x2 + x1^2 - x2^2"


def experiment(formula=EXAMPLE, d=600, n=1200, p=6, steps=2, sigma="relu", **changes):
    network = {"second_layer": "rademacher", "scale": "1/p", "symmetric": True} | changes.pop("network", {})
    step = {"eta": float(p)} | changes.pop("step", {})
    return gs.Setting(
        gs.Gaussian(d),
        gs.target(formula, noise=changes.pop("noise", 0.0)),
        gs.Network(p, sigma, **network),
        gs.Protocol(tuple(gs.GiantStep(n, **step) for _ in range(steps)), gs.Ridge(20 * n, 1e-2)),
    )


@pytest.mark.parametrize("sigma", ["relu", "tanh"])
def test_one_step_has_a_closed_form(sigma):
    """cos^2(w, w*) = s^2 s_1^2 C_1^2 / (1 + s^2 (s_1^2 C_1^2 + (d/n) E y^2 E sigma'^2)) for centred labels."""
    setting = experiment("2*x1", sigma=sigma, steps=1, noise=0.5)
    slope = setting.network.activation.hermite(1)[1]
    square = np.mean(np.asarray(setting.network.activation.slope(np.random.default_rng(0).standard_normal(10**6))) ** 2)
    signal = 4 * slope**2
    expected = signal / (1 + signal + (600 / 1200) * (4.25 * square - 0.0))
    assert np.allclose(evolution(setting).shares[-1][:, 0], expected, rtol=0.02)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"step": {"residual": "full", "eta": 3.0}, "network": {"symmetric": False, "second_layer": "gaussian"}},
        {"step": {"update": "gradient", "deflate": 1, "eta": 4.0}, "formula": "x1 + x1*x2 + 1", "noise": 0.5},
    ],
    ids=["pairs", "full residual", "deflated"],
)
def test_overlaps_of_dense_networks(changes):
    """RMS overlaps after every step and the readout's error, over seeds, within 3 standard errors or 4%."""
    setting, seeds = experiment(d=500, n=1000, **changes), range(12)
    found = gs.simulate(setting, seeds, method="dense", n_test=8000)
    paths = [evolution(setting, seed) for seed in seeds]
    measured = np.mean(np.asarray(found.overlaps) ** 2, axis=1)  # (seeds, r)
    expected = np.array([np.mean(path.M[-1] ** 2, axis=0) for path in paths])
    gap = measured - expected - 1 / setting.d
    error = gap.std(axis=0, ddof=1) / np.sqrt(len(gap))
    assert np.all(np.abs(gap.mean(0)) < np.maximum(3 * error, 0.04 * expected.mean(0)))
    errors = np.array([readout(setting, path, np.array([1e-2]))["test_error"][0] for path in paths])
    gap = np.asarray(found.test_error) - errors
    assert abs(gap.mean()) < max(3 * gap.std(ddof=1) / np.sqrt(len(gap)), 0.03 * errors.mean())


def test_the_noise_of_the_batch_matters():
    """Without the term (d/n) V the neurons would be shorter by far more than the spread: the comparison can fail."""
    setting = experiment()
    lengths = np.diagonal(evolution(setting).Q[-1]).mean()
    many = replace(setting, protocol=gs.Protocol(tuple(gs.GiantStep(10**7, 6.0) for _ in range(2)), gs.Ridge(100, 1.0)))
    assert lengths > 1.2 * np.diagonal(evolution(many).Q[-1]).mean()


def test_theory_takes_narrow_networks():
    found = gs.theory(experiment())
    assert found.captured.shape == (2,) and "narrow network" in str(found.status) and found.status.ok
    assert found.test_error == pytest.approx(float(gs.theory(experiment(steps=2)).test_error))
    leap = gs.theory(experiment("H2(x1)"))
    assert "information exponent is 2" in str(leap.status)


def test_refusals():
    with pytest.raises(gs.InputError, match="far below d"):
        evolution(experiment(d=40))
    with pytest.raises(gs.InputError, match="fresh batches"):
        evolution(_reused())
    with pytest.raises(gs.InputError, match="start must be"):
        evolution(experiment(), start="nowhere")


def _reused():
    setting = experiment(steps=1)
    again = gs.GiantStep(None, 6.0, batch="reuse")
    return replace(setting, protocol=gs.Protocol((*setting.protocol.steps, again), gs.Ridge(100, 1.0)))


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
def test_the_simulated_evolution_ends_where_the_overlap_route_ends(batch):
    first = gs.GiantStep(n=400, eta=6.0, residual="full")
    later = first if batch == "fresh" else gs.GiantStep(None, 6.0, residual="full", batch="reuse")
    s = gs.Setting(
        gs.Gaussian(300), "x1 + x1*x2", gs.Network(4, "relu", scale="1/p"), gs.Protocol((first, later, later))
    )
    path, end = gs.simulate.evolution(s, seed=3), gs.simulate(s, seed=3, method="overlap", n_test=100)
    assert path.Q.shape == (4, 4, 4) and path.M.shape == (4, 4, 2) and path.route == "simulate"
    np.testing.assert_allclose(path.M[-1], end.overlaps, rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(np.diagonal(path.Q[-1])), end.norms, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(path.Q[0]), 1.0, rtol=1e-12)
    listed = replace(s, protocol=gs.Protocol((gs.GiantStep(n=400, eta=[1.0, 2.0]),)))
    with pytest.raises(gs.InputError, match="one step size"):
        gs.simulate.evolution(listed)


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
@pytest.mark.parametrize("update", ["gradient", "rank1"])
def test_products_in_single_precision_change_the_evolution_by_rounding_alone(batch, update):
    first = gs.GiantStep(n=400, eta=6.0, update=update)
    later = gs.GiantStep(400, 6.0) if batch == "fresh" else gs.GiantStep(None, 6.0, batch="reuse")
    s = gs.Setting(gs.Gaussian(300), "x1 + x1*x2", gs.Network(4, "tanh", scale="1/p"), gs.Protocol((first, later)))
    exact, rounded = (gs.simulate.evolution(s, seed=3, dtype=dtype) for dtype in ("float64", "float32"))
    for one, other in ((exact.Q, rounded.Q), (exact.M, rounded.M)):
        assert other.dtype == np.float64
        assert 1e-12 < np.max(np.abs(one - other)) < 1e-5 * np.max(np.abs(one))
    with pytest.raises(gs.InputError, match="dtype must be one of 'float64', 'float32'"):
        gs.simulate.evolution(s, dtype="float16")


def test_evolutions_are_drawn_simulated_and_predicted():
    step = gs.GiantStep(n=4000, eta=6.0)
    for target in ("x1 + x1*x2", "x1"):
        s = gs.Setting(gs.Gaussian(2000), target, gs.Network(4, "relu", scale="1/p"), gs.Protocol((step, step)))
        paths = [gs.simulate.evolution(s), gs.theory.evolution(s)]
        (ax,) = gs.plot(paths, "shares").axes
        assert [np.asarray(line.get_xdata()).tolist() for line in ax.lines if line.get_linestyle() == "-"][-1] == [
            0,
            1,
            2,
        ]
        (plane,) = gs.plot(paths[0], "neurons").axes
        assert len(plane.lines) == 1 + 2 * 4
    with pytest.raises(gs.InputError, match="neurons"):
        gs.plot(paths, "spectrum")
