"""Ridge by conjugate gradients against the factorisation, and what it says when it does not converge."""

import dataclasses

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.backend import jnp
from giantstep._training.plan import make_plan
from giantstep.ridge import _conjugate_gradients as conjugate_gradients
from giantstep.ridge import ridge


def spiked(n: int, p: int, spikes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """White noise and a few directions of far larger variance; y is half a function of F."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((p, spikes)))[0]
    F = rng.standard_normal((n, p)) + (rng.standard_normal((n, spikes)) * np.geomspace(300, 10, spikes)) @ directions.T
    return F, F @ rng.standard_normal(p) / np.sqrt(p) + rng.standard_normal(n)


def pieces(F: np.ndarray, y: np.ndarray, rows: int) -> conjugate_gradients.Pieces:
    cuts = range(0, F.shape[1], rows)
    return lambda: [(jnp.asarray(F[:, i : i + rows]), jnp.asarray(y[:, i : i + rows])) for i in cuts]


@pytest.mark.parametrize(("n", "p"), [(300, 200), (200, 300)])
def test_coefficients_and_errors_are_those_of_the_factorisation(n, p, seed, monkeypatch):
    """Two seeds, in pieces of unequal rows, penalties down to 1e-6 of an eigenvalue of order one."""
    monkeypatch.setattr(conjugate_gradients, "RANK", 40)
    F, y = (np.stack(each) for each in zip(*(spiked(n, p, 5, 2 * seed + i) for i in range(2)), strict=True))
    penalties = np.array([1e-6, 1e-3, 1.0, 100.0])
    found = conjugate_gradients.solve(pieces(F, y, 128), F.shape, penalties)
    assert np.max(found.residual) < 1e-12 and found.coefficients.shape == (2, 4, p)
    for s in range(2):
        exact = ridge(F[s], y[s], penalties)
        scale = np.linalg.norm(exact.coefficients, axis=1, keepdims=True)
        np.testing.assert_allclose(found.coefficients[s] / scale, exact.coefficients / scale, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.error[s], exact.train_error, rtol=1e-8, atol=1e-15 * np.mean(y[s] ** 2))
        objective = found.error[s] + penalties * np.sum(found.coefficients[s] ** 2, axis=1)
        np.testing.assert_allclose(objective, exact.train_objective, rtol=1e-10)


def test_the_preconditioner_takes_the_spikes_off_the_spectrum(seed):
    """Thirty spikes: 786 iterations without it, 70 with rank 40, where the bulk alone takes 103."""
    F, y = (each[None] for each in spiked(300, 200, 30, seed))
    without, with_it = (
        conjugate_gradients.solve(pieces(F, y, 300), F.shape, np.array([1e-3]), rank=rank).iterations.max()
        for rank in (0, 40)
    )
    bulk = np.random.default_rng(seed).standard_normal((1, 300, 200))
    alone = conjugate_gradients.solve(pieces(bulk, y, 300), F.shape, np.array([1e-3]), rank=0).iterations.max()
    assert without > 8 * with_it and with_it < 1.25 * alone


def test_the_approximation_is_exact_on_a_matrix_of_small_rank(seed):
    rng = np.random.default_rng(seed)
    F = (rng.standard_normal((90, 7)) @ rng.standard_normal((7, 50)))[None]
    U, s = conjugate_gradients.nystrom(pieces(F, np.zeros((1, 90)), 90), F.shape, 20, jnp.asarray)
    A = F[0].T @ F[0] / 90
    np.testing.assert_allclose((U[0] * s[0]) @ U[0].T, A, atol=1e-10 * float(np.linalg.norm(A)))


FIELDS = ("risk", "risk_se", "train_error", "train_objective", "overlaps")


@pytest.fixture
def several(small):
    """Two seeds and penalties, one of them small, and two step sizes."""
    steps = (gs.GiantStep(90, (0.0, 20.0)),)
    return dataclasses.replace(small, protocol=gs.Protocol(steps, gs.Ridge(70, (1e-6, 1e-2), deflate=1)))


@pytest.mark.parametrize("width", [40, 150])
def test_simulate_gives_the_same_numbers_by_either_solver(several, width, monkeypatch):
    monkeypatch.setattr(conjugate_gradients, "RANK", 10)
    setting = dataclasses.replace(several, network=gs.Network(width, "relu"))
    direct, cg = (gs.simulate(setting, range(2), n_test=150, solver=each) for each in ("direct", "cg"))
    for name in FIELDS:
        np.testing.assert_allclose(getattr(cg, name), getattr(direct, name), rtol=1e-7, err_msg=name)
    assert (
        cg.status.ok
        and "Conjugate gradients solved the ridge fit to a relative residual" in str(cg.status)
        and str(direct.status) == "ok"
    )
    if width == 40:  # features made again in every iteration
        monkeypatch.setattr(
            "giantstep.simulate.make_plan", lambda *a, **k: dataclasses.replace(make_plan(*a, **k), features=False)
        )
        again = gs.simulate(setting, range(2), n_test=150, method="dense", solver="cg")
        np.testing.assert_allclose(again.risk, cg.risk, rtol=1e-10)


def test_the_overlap_route_takes_it_too(several):
    setting = dataclasses.replace(several, protocol=dataclasses.replace(several.protocol, steps=()))
    direct, cg = (gs.simulate(setting, 0, n_test=150, method="overlap", solver=each) for each in ("direct", "cg"))
    np.testing.assert_allclose(cg.risk, direct.risk, rtol=1e-8)


def test_too_few_iterations_are_a_status(several, monkeypatch):
    monkeypatch.setattr(conjugate_gradients, "RANK", 10)
    monkeypatch.setattr(conjugate_gradients, "LIMIT", 2)
    status = gs.simulate(several, range(2), n_test=150, solver="cg").status
    assert (
        not status.ok
        and "did not converge" in str(status)
        and "in 2 iterations" in str(status)
        and "1e-12" in str(status)
    )


def test_an_overflow_at_one_step_size_leaves_the_others(several):
    steps = (gs.GiantStep(90, (0.0, 1e200)),)
    setting = dataclasses.replace(
        several, network=gs.Network(40, "H3"), protocol=dataclasses.replace(several.protocol, steps=steps)
    )
    outcome = gs.simulate(setting, range(2), n_test=150, solver="cg")
    assert not outcome.status.ok and "not finite" in str(outcome.status)
    assert np.all(np.isfinite(outcome.risk[0])) and not np.any(np.isfinite(outcome.risk[1]))


def test_auto_takes_it_where_no_factorisation_fits(small):
    """p = 10^4: 4 GiB with the Gram matrix and its factor, or 0.4 GiB with vectors."""
    protocol = gs.Protocol((), gs.Ridge(2 * 10**4, 1.0))
    wide = dataclasses.replace(small, data=gs.Gaussian(500), network=gs.Network(10**4, "relu"), protocol=protocol)
    from giantstep.simulate._solver import planner

    plan = planner(make_plan, "auto", wide, False)
    assert plan(wide, 1, 100, 8, 8.0).solver == "direct"
    tight = plan(wide, 1, 100, 8, 1.0)
    assert tight.solver == "cg" and not tight.features and tight.bytes < 2**30
    assert plan(wide, 1, 100, 8, 4.05).features  # F takes 1.5 GiB, and as much stays free
    with pytest.raises(gs.InputError, match="would fit"):
        planner(make_plan, "auto", wide, True)(wide, 1, 100, 8, 1.0)  # the spectrum needs the factorisation
    with pytest.raises(gs.InputError, match="would fit"):
        plan(wide, 1, 100, 8, 0.01)


def test_auto_says_that_it_took_it(small):
    protocol = gs.Protocol((), gs.Ridge(1000, 0.1))
    setting = dataclasses.replace(small, data=gs.Gaussian(200), network=gs.Network(900, "relu"), protocol=protocol)
    outcome = gs.simulate(setting, n_test=150, memory=0.14)
    said = str(outcome.status)
    assert "does not fit into the memory allowed" in said and "Conjugate gradients solved" in said and outcome.ok
    assert outcome.risk == pytest.approx(gs.simulate(setting, n_test=150).risk, rel=1e-8)


@pytest.mark.parametrize(
    ("penalty", "options", "words"),
    [("gcv", {}, "'gcv' searches"), (0.0, {}, "positive penalties"), ((1.0, 0.0), {}, "positive penalties"),
     (1.0, {"spectrum": True}, "does not compute a spectrum"), (None, {}, "needs a readout"),
     (1.0, {"solver": "lu"}, "solver must be one of")],
)  # fmt: skip
def test_refusals(small, penalty, options, words):
    readout = None if penalty is None else gs.Ridge(70, penalty)
    setting = dataclasses.replace(small, protocol=gs.Protocol(small.protocol.steps, readout))
    with pytest.raises(gs.InputError, match=words):
        gs.simulate(setting, **{"solver": "cg", **options})
