"""Explanations: rotations, masses, floors and tensors, against other routes to the same numbers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_explain import EX2, spans

import giantstep as gs
from giantstep.functions import _tensors as tensors
from giantstep.functions import staircase
from giantstep.functions.hermite import gauss_hermite


@st.composite
def polynomials(draw):
    """A polynomial of rank 2 or 3 as a dictionary from Hermite orders to small whole coefficients."""
    rank = draw(st.integers(2, 3))
    index = st.tuples(*[st.integers(0, 2)] * rank)
    coefficient = st.integers(-3, 3).filter(bool)
    return draw(st.dictionaries(index, coefficient, min_size=1, max_size=5))


def formula(terms, forms=None) -> str:
    """The formula of Hermite terms in x1, x2, ... or in given linear forms."""
    rank = len(next(iter(terms)))
    forms = forms or [f"x{i + 1}" for i in range(rank)]
    return " + ".join(
        f"({c})*" + "*".join(f"H{k}({x})" for k, x in zip(b, forms, strict=True)) for b, c in terms.items()
    )


def rotation(seed: int, rank: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((rank, rank)))[0]


@settings(max_examples=25, deadline=None)
@given(polynomials(), st.integers(0, 1000), st.sampled_from(["d", "d^2"]))
def test_a_rotation_of_the_target_changes_nothing_but_the_coordinates(terms, seed, batch):
    rank = len(next(iter(terms)))
    axes = rotation(seed, rank)
    forms = ["(" + " + ".join(f"({c!r})*x{i + 1}" for i, c in enumerate(row.tolist())) + ")" for row in axes]
    plain = gs.explain(gs.target(formula(terms), rank=rank), batch=batch)
    turned = gs.explain(gs.target(formula(terms, forms), rank=rank), batch=batch)
    assert turned.leaps == plain.leaps and turned.generative_leaps == plain.generative_leaps
    for a, b in zip(turned.staircase, plain.staircase, strict=True):
        assert spans(a, *(np.array(b).reshape(len(b), rank) @ axes))
    for name, value in plain.floor.items():
        assert turned.floor[name] == pytest.approx(value, abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(polynomials(), st.sampled_from(["d^0.5", "d", "d^2", "d^3"]), st.sampled_from(["1", "d", "d^2"]))
def test_masses_and_floors(terms, batch, width):
    target = gs.target(formula(terms), rank=len(next(iter(terms))))
    found = [gs.explain(target, batch=batch, width=width, steps=t) for t in range(4)]
    for each in found:
        assert sum(t["mass"] for t in each.terms) == pytest.approx(target.power)
        lost = sum(t["mass"] * (1 - t["share"]) for t in each.terms)
        assert lost == pytest.approx(each.floor["network"], abs=1e-8)
        assert 0 <= each.floor["network"] <= each.floor["narrow"] + 1e-9
        assert each.floor["network"] <= each.floor["random_features"] + 1e-9
    for before, after in zip(found, found[1:], strict=False):
        assert len(after.staircase) == len(before.staircase) + 1
        assert after.staircase[:-1] == before.staircase
        for name in ("narrow", "network"):
            assert after.floor[name] <= before.floor[name] + 1e-9
    assert found[0].floor["network"] == pytest.approx(found[0].floor["random_features"])


def conditional_variance(target, basis) -> float:
    """E Var(f | P_U x) by Gauss-Hermite on coordinates (u, v), v perpendicular to U: no Hermite coefficients involved."""
    rank = target.rank
    rows = np.array(basis).reshape(len(basis), rank)
    axes = np.linalg.svd(rows, full_matrices=True)[2][len(rows) :] if len(rows) else np.eye(rank)
    frame = np.concatenate([rows, axes])
    z, w = gauss_hermite(12)
    grid = np.array(list(product(z, repeat=rank))).T
    weights = np.prod(np.array(list(product(w, repeat=rank))), axis=1)
    values = np.asarray(target(frame.T @ grid)).reshape(12 ** len(rows), -1)
    weights = weights.reshape(values.shape)
    outer = weights.sum(axis=1)
    mean = (weights * values).sum(axis=1) / outer
    return float((weights * values**2).sum() - outer @ mean**2)


@settings(max_examples=15, deadline=None)
@given(polynomials(), st.sampled_from(["d", "d^2"]), st.integers(0, 2))
def test_the_narrow_floor_is_the_conditional_variance(terms, batch, steps):
    target = gs.target(formula(terms), rank=len(next(iter(terms))))
    found = gs.explain(target, batch=batch, width="1", steps=steps)
    assert found.floor["narrow"] == found.floor["network"]
    assert found.floor["narrow"] == pytest.approx(conditional_variance(target, found.staircase[-1]), abs=1e-8)


@pytest.mark.parametrize("steps", [0, 1])
def test_the_narrow_floor_where_the_directions_are_not_axes(steps):
    target = gs.target(EX2)
    found = gs.explain(target, steps=steps)
    assert found.floor["narrow"] == pytest.approx([6, 2][steps])
    assert found.floor["narrow"] == pytest.approx(conditional_variance(target, found.staircase[-1]))


def dense_slopes(target, basis, order) -> np.ndarray:
    """G_l(U) from the dense tensors: sum_k A^T A / (k! l!), A the unfolding of C_{k+l}(P_U^k, P_perp^l)."""
    from math import factorial

    rank = target.rank
    inside = np.array(basis).reshape(len(basis), rank)
    inside = inside.T @ inside
    outside, total = np.eye(rank) - inside, np.zeros((rank, rank))
    for k in range(target.hermite.degree - order + 1):
        tensor = target.hermite.tensor(k + order)
        for slot in range(k + order):
            projector = inside if slot < k else outside
            tensor = np.moveaxis(np.tensordot(tensor, projector, axes=([slot], [0])), -1, slot)
        unfolded = tensor.reshape(-1, rank)
        total += unfolded.T @ unfolded / (factorial(k) * factorial(order))
    return total


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_slopes_agree_with_the_dense_tensors(order, size):
    target = gs.target("x1 + x1*x2 - 2*H2(x2)*x3 + H3(x1)*H2(x3) + x1*x2*x3 + H4(x3)")
    axes = tensors.frame(rotation(3, 3)[:size])
    slopes = tensors.slopes(tensors.rotated(tensors.series(target.hermite), axes), size, order)
    rest = axes[size:]
    np.testing.assert_allclose(rest.T @ slopes @ slopes.T @ rest, dense_slopes(target, axes[:size], order), atol=1e-10)


def test_a_rotated_series_is_the_same_function():
    target, axes = gs.target("x1*x2 + H3(x1)*x3 + x2^4 - x1^2*x3^2"), rotation(0, 3)
    turned = tensors.rotated(tensors.series(target.hermite), axes)
    x = np.random.default_rng(0).standard_normal((3, 7))
    from giantstep.functions.hermite import hermite_table

    table = hermite_table(5, axes @ x)
    value = sum(
        c * table[b[0], 0] * table[b[1], 1] * table[b[2], 2]
        for k, a in turned.orders.items()
        for b, c in zip(tensors.index_table(3, k), a, strict=True)
    )
    np.testing.assert_allclose(value, target(x), rtol=1e-12, atol=1e-12)


def test_strengths_are_the_eigenvalues_of_g():
    found = gs.explain("(4*x1 + x1^2 + x2)/2")
    assert found.strengths == [[pytest.approx(4.25)], [pytest.approx(0.0553633, rel=1e-5)]]
    climbed = staircase.climb([tensors.series(gs.target(EX2).hermite)], 1e-12)
    assert [[v.order for v in new] for new in climbed] == [[1], [2]]


def test_rank_six_degree_ten():  # benchmarks.explain says how fast
    forms = "+".join(f"x{i}" for i in range(1, 7))
    found = gs.explain(f"({forms})^10 + x1*x2*x3*x4*x5*x6 + x1")
    assert found.leaps == [1, 1, 2] and len(found.terms) > 4000


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_generative_exponents_where_the_symmetry_is_not_that_of_the_grid(rank):
    axes = rotation(1, rank)
    target = gs.target(lambda z: np.tanh((axes @ z)[0] + (axes @ z)[1] ** 2), rank=rank)
    assert gs.explain(target).generative_leaps == [1, 2]
