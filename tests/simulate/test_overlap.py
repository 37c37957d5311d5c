"""The overlap route has the law of the dense one: the same statistics over many seeds, and a perturbed chain does not."""

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import giantstep as gs
from giantstep._machine import random
from giantstep._machine.backend import jnp
from giantstep.experiment import draw
from giantstep.simulate import _cost as cost
from giantstep.simulate import _overlap as overlap
from giantstep.simulate import _projections as projections
from giantstep.simulate import _reuse as reuse

LEVEL = 1e-3  # of every Kolmogorov-Smirnov test; seeds are fixed, so a test that passes always does
RUNS = 256  # whole groups of seeds, and few different sizes below: less to compile


def setting(
    steps, *, d=30, p=6, readout=None, target="x1 + x2 + x1^2 - x2^2", directions=None, activation="relu", **network
):
    made = gs.target(target, noise=0.3, directions=directions)
    return gs.Setting(gs.Gaussian(d), made, gs.Network(p, activation, **network), gs.Protocol(steps, readout))


def step(n, eta, **options):
    return gs.GiantStep(n, eta, **options)


def again(eta, **options):
    return gs.GiantStep(None, eta, batch="reuse", **options)


def statistics(outcome):
    """One number a seed: size of the overlaps, share captured, squared length, risk, error on the readout's samples."""
    found = {
        "overlaps": np.abs(outcome.overlaps).mean(axis=(1, 2)),
        "first": outcome.overlaps[:, 0, 0],
        "captured": outcome.captured[:, 0],
        "length": np.mean(outcome.overlaps**2, axis=(1, 2)) / outcome.captured.mean(axis=1),
        "risk": outcome.risk,
    }
    return found if outcome.train_error is None else {**found, "train error": outcome.train_error}


@lru_cache(maxsize=2)
def dense(s):
    return statistics(gs.simulate(s, range(RUNS), method="dense", n_test=20))


def p_values(s, seeds=range(10**4, 10**4 + RUNS)):
    """Of equal laws, dense against overlap on other seeds."""
    found = statistics(gs.simulate(s, seeds, method="overlap", n_test=20))
    tests: dict[str, Any] = {name: stats.ks_2samp(values, found[name]) for name, values in dense(s).items()}
    return {name: test.pvalue for name, test in tests.items()}


@pytest.fixture
def short_blocks(monkeypatch):
    """Blocks of 4096 numbers: their heads, all that is used here, are the same, and a block of noise is drawn whole."""
    monkeypatch.setattr(random, "BLOCK", 2**12)


rng = np.random.default_rng(0)
FULL = {"residual": "full"}
CASES = {
    "one step": setting((step(40, 4.0),)),
    "two steps, symmetric": setting(
        (step(40, 4.0, **FULL), step(40, 3.0, **FULL)), symmetric=True, second_layer="rademacher", scale="1/p"
    ),
    "p > n, p > d - k": setting((step(12, 9.0, deflate=1), step(12, 9.0)), p=40, activation="tanh", rows="gaussian"),
    "reused": setting((step(40, 4.0), again(3.0, **FULL), again(2.0))),
    "reused, p > n, ranks that differ": setting((step(3, 4.0), again(3.0, **FULL))),
    "reused, no room left": setting((step(40, 3.0, **FULL), again(2.0)), d=11, centred=True, scale="1"),
    "mixture": setting((step(40, 4.0), again(3.0), step(40, 2.0, **FULL), again(2.0, deflate=2))),
    "rank one, linear part removed": setting((step(40, 8.0, update="rank1", deflate=2, **FULL),)),
    "own weights, slanted directions": setting(
        (step(40, 4.0),),
        weights=(rng.standard_normal((6, 30)) / 5, np.ones(6)),
        directions=rng.standard_normal((2, 30)) / 5,
        readout=gs.Ridge(25, 0.1),
    ),
    "readout without the linear part": setting((step(40, 4.0),), readout=gs.Ridge(25, 0.1, deflate=2)),
    "reused readout without the linear part": setting(
        (step(40, 4.0, deflate=2),), readout=gs.Ridge(None, 0.1, batch="reuse", deflate=2)
    ),
    "reused readout": setting((step(40, 4.0, **FULL), again(3.0)), readout=gs.Ridge(None, 0.1, batch="reuse")),
}  # fmt: skip


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("case", CASES)
def test_the_law_is_that_of_the_dense_route(case):
    found = p_values(CASES[case])
    assert min(found.values()) > LEVEL, found


def no_outside(rng, rows, dof):
    return np.zeros((rows, min(rows, dof)))


def half_the_freedom(rng, rows, dof):
    return projections.bartlett(rng, rows, max(dof // 2, 1))


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("wrong", [no_outside, half_the_freedom])
@pytest.mark.parametrize("case", ["one step", "reused"])
def test_a_perturbed_chain_fails_the_same_test(case, wrong, monkeypatch):
    for module in (overlap, reuse):
        monkeypatch.setattr(module, "bartlett", wrong)
    assert min(p_values(CASES[case]).values()) < LEVEL


@pytest.mark.usefixtures("short_blocks")
def test_a_linear_part_without_its_outside_fails_the_same_test(monkeypatch):
    monkeypatch.setattr(overlap, "_readout_batch", lambda *arguments: None)
    assert min(p_values(CASES["readout without the linear part"]).values()) < LEVEL


@pytest.mark.usefixtures("short_blocks")
def test_a_reused_batch_that_forgets_fails_the_same_test(monkeypatch):
    right = reuse.product
    monkeypatch.setattr(reuse, "product", lambda *arguments: forget(right, *arguments))
    assert min(p_values(CASES["reused"]).values()) < LEVEL


def forget(product, known, C, d, seed, key):
    """The new directions see independent data: what a fresh batch would do."""
    after, result = product(known, C, d, seed, key)
    fresh = np.random.default_rng(seed).standard_normal(after.X.shape)
    fresh[:, : known.X.shape[1]] = known.X
    return dataclasses.replace(after, X=fresh), result


def test_what_is_known_of_a_reused_batch_is_consistent():
    """In coordinates, C^T X computed later from the rows that are then known is what the step was given."""
    rng = np.random.default_rng(0)
    known = reuse.fresh_batch(rng.standard_normal((20, 4)), rng.standard_normal(20))
    for t in range(3):
        C = rng.standard_normal((20, 3)) if t < 2 else known.left @ rng.standard_normal((6, 3))
        known, product = reuse.product(known, C, 50, 0, (16 + t,))
        np.testing.assert_allclose(C.T @ known.X, product, atol=1e-12)
        np.testing.assert_allclose(known.left.T @ known.left, np.eye(known.left.shape[1]), atol=1e-12)
    assert known.X.shape == (20, 10) and known.left.shape == (20, 6)


@pytest.mark.parametrize("case", ["own weights, slanted directions", "p > n, p > d - k"])
def test_the_same_numbers_whatever_the_chunking(case, monkeypatch, seed):
    monkeypatch.setattr(random, "BLOCK", 64)
    whole = gs.simulate(CASES[case], seed, method="overlap", n_test=200)
    monkeypatch.setattr(cost, "CHUNK_BLOCKS", 1)
    pieces = gs.simulate(CASES[case], seed, method="overlap", n_test=200)
    for name in ("risk", "overlaps", "captured", "null_level"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-8)


@pytest.mark.parametrize("last", ["fresh", "reuse"])
def test_step_sizes_and_penalties_are_single_runs_side_by_side(last, seed):
    etas, penalties = (0.0, 1.0, 4.0), (1e-2, 0.1, 1.0, 10.0)

    def made(eta, penalty, both=True):
        second = again(eta, **FULL) if last == "reuse" else step(50, eta)
        steps = (step(40, eta if both else 2.0, **FULL), second)
        readout = gs.Ridge(None, penalty, batch="reuse") if last == "reuse" else gs.Ridge(30, penalty)
        return setting(steps, readout=readout)

    for both in (True, False):  # a list in the first step makes branches, one in the last shares all work
        together = gs.simulate(made(etas, penalties, both), range(seed, seed + 2), method="overlap", n_test=100)
        assert together.axes == ("eta", "penalty", "seed") and together.overlaps.shape == (3, 2, 6, 2)
        for i, eta in enumerate(etas):
            alone = gs.simulate(made(eta, 1.0, both), seed + 1, method="overlap", n_test=100)
            if both:  # else a run alone has fewer coordinates, and other draws in the readout
                assert together.train_objective[i, 2, 1] == pytest.approx(alone.train_objective, rel=1e-6)
            np.testing.assert_allclose(together.overlaps[i, 1], alone.overlaps, atol=1e-9)


def test_random_features_at_any_d_and_spectrum():
    s = setting((), p=60, d=10**8, readout=gs.Ridge(90, 0.1), target="x1")
    outcome = gs.simulate(s, 0, method="overlap", spectrum=True)
    assert outcome.singular_values.shape == (60,) and outcome.bulk_edge > 0 and outcome.status.ok
    assert outcome.null_level == pytest.approx(1e-8, rel=1e-6)


def test_large_d_has_a_limit_when_the_batch_grows_with_it():
    """n = 20 d: after one step the share captured depends on n / d alone, up to 1/sqrt(n)."""
    shares = [
        gs.simulate(setting((step(20 * d, 6.0),), d=d, target="x1", p=8, second_layer="rademacher"), range(8), method="overlap")
        for d in (1000, 10_000)
    ]  # fmt: skip
    low, high = (s.captured.mean() for s in shares)
    assert low == pytest.approx(high, abs=6 * shares[0].captured.std() / np.sqrt(8) + 0.01)


@pytest.mark.parametrize(("target", "learned"), [("H3(x1)/sqrt(6)", True), ("H2(x1)/sqrt(2)", False)])
def test_a_reused_batch_learns_what_fresh_ones_do_not(target, learned):
    """Two giant steps with n = 4 d: H3 has information exponent 3 and generative exponent 1 (Dandi et al. 2024, Damian et al.
    2024), H2 has 2 and 2. Noise captures a few times the null level in all; a learned direction, a share that d does not
    change."""
    d, ratio = 16_000, {}
    for name, second in (("fresh", step(4 * d, 2.0)), ("reuse", again(2.0))):
        s = setting((step(4 * d, 2.0), second), d=d, p=4, target=target, scale="1", second_layer="rademacher")
        outcome = gs.simulate(s, range(12), method="overlap", n_test=10)
        ratio[name] = float(np.mean(outcome.captured[:, 0] / outcome.null_level))
    assert ratio["fresh"] < 14 and (ratio["reuse"] > 20) == learned, ratio


def test_auto_takes_overlaps_where_dense_is_slow_or_too_large(small):
    assert gs.simulate(small).status.notes == ()
    huge = setting((step(10**4, 4.0),), d=10**9)
    outcome = gs.simulate(huge, n_test=100)
    assert outcome.status.ok and "method='overlap'" in str(outcome.status)
    slow = setting((step(10**5, 4.0),), d=10**5)
    assert cost.best(slow, 1, 100, 8, None).method == "overlap"
    assert cost.best(setting((step(10**5, 4.0),), d=100, p=90), 1, 100, 8, None).method == "dense"


def test_a_batch_to_be_held_that_does_not_fit_is_refused():
    large = setting((step(10**9, 4.0), again(1.0)), d=10**6)
    with pytest.raises(gs.InputError, match=r"GiB may be used; a batch of \d+ samples to be held would fit"):
        gs.simulate(large, method="overlap", memory=1)


def test_overflow_is_a_status(seed):
    for second in (step(30, 1e200), again(1e200)):
        s = setting((step(30, 1e200, residual="full"), second), activation="H3")
        with np.errstate(all="ignore"):
            outcome = gs.simulate(s, seed, method="overlap", n_test=50)
        assert not outcome.status.ok and "not finite" in str(outcome.status)


def test_the_wishart_factor():
    T = np.stack([projections.bartlett(np.random.default_rng(s), 4, 3) for s in range(4000)])
    np.testing.assert_allclose((T @ np.swapaxes(T, 1, 2)).mean(axis=0), 3 * np.eye(4), atol=0.2)
    assert T.shape == (4000, 4, 3)


def test_the_second_layer_is_that_of_the_dense_route(small):
    np.testing.assert_array_equal(draw.second_layer(small, 3), draw.weights(small, 3)[1])


@pytest.mark.parametrize("dead", [0, 3])
def test_the_device_takes_the_same_roots_as_the_host(dead):
    C = np.random.default_rng(0).standard_normal((40, 12))
    C[:, :dead] = 0.0  # neurons that no sample reaches: the matrix is singular
    A = C.T @ C
    for squares in (A[None], jnp.asarray(A)[None]):
        (L,) = overlap.rooted(squares, np.eye(12)[None])
        np.testing.assert_allclose(L @ L.T, A, atol=1e-12 * np.trace(A))
    B = C.T.reshape(2, 6, 40)
    np.testing.assert_allclose(projections.triangular(B, device=True), projections.triangular(B), atol=1e-12)
