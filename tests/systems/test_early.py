"""The early stage of training: the network, the outputs followed without it, the laws of the classes and of the partition."""

import json
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import giantstep as gs
from giantstep.cli import run as cli
from giantstep.lab.compare._systems import compare_system as beside
from giantstep.systems.early import classwise, living_neurons, path, samples
from giantstep.systems.early.frozen_patterns import follow
from giantstep.systems.early.samples import LOSSES
from giantstep.systems.early.simulate import run

SMALL = {"n": 24, "d": 12, "width": 14, "rate": 0.01, "steps": 40}


def system(**how):
    return gs.Early(**{**SMALL, **how})


@pytest.mark.parametrize("name", LOSSES)
def test_the_pull_is_minus_the_slope_of_the_loss(name):
    z, h, loss = np.linspace(-3, 3, 25), 1e-5, LOSSES[name]
    np.testing.assert_allclose(-(loss.value(z + h) - loss.value(z - h)) / (2 * h), loss.pull(z), rtol=1e-7, atol=1e-10)
    assert (loss.pull(np.array([-h])) - loss.pull(np.array([h])))[0] / (2 * h) == pytest.approx(loss.bend, rel=1e-6)


@pytest.mark.parametrize("how", [{}, {"layers": "both", "bias": "trained", "loss": "logistic"}])
def test_a_step_is_along_the_numerical_gradient(how):
    here = system(n=6, d=3, width=4, init=0.3, steps=1, **how)
    (X, y), (B, a) = samples.inputs(here), samples.start(here, 0)

    def total(flat):
        B, a = flat[:-4].reshape(4, 4), flat[-4:]
        return np.mean(LOSSES[here.loss].value(y * (np.maximum(X @ B[:, :-1].T + B[:, -1], 0.0) @ a)))

    flat = np.append(B, a)
    slope = np.array([(total(flat + h) - total(flat - h)) / 2e-6 for h in 1e-6 * np.eye(len(flat))])
    slope[3:-4:4] *= here.bias == "trained"
    slope[-4:] *= here.layers == "both"
    found = run(here, 0)
    assert found.loss[0] == pytest.approx(total(flat)) and found.loss[1] == pytest.approx(
        total(flat - here.rate * slope)
    )
    assert found.ratio[0] == pytest.approx(slope @ slope / total(flat), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("how", [{}, {"share": 0.3, "bias": "none"}, {"bias": "trained", "norm": 2.5, "cosine": 0.9}])
def test_outputs_followed_without_the_network_are_its_own(loss, batch, how):
    here = system(loss=loss, batch=batch, init=1e-9, **how)
    assert living_neurons.separable(here)
    found, said = run(here, 1), follow(here, 1)
    np.testing.assert_array_equal(found.first, said.first)
    np.testing.assert_array_equal(found.last, said.last)
    np.testing.assert_allclose(said.counts, found.counts)
    np.testing.assert_allclose(said.loss, found.loss, rtol=1e-6)
    np.testing.assert_allclose(said.ratio, found.ratio, rtol=1e-6)
    sorted_ = path.ordered(found.last, samples.inputs(here)[1], found.a)
    np.testing.assert_array_equal(sorted_, np.any(found.first, axis=0))  # whoever was alive, and nobody else


def test_the_distance_is_of_the_order_of_the_start():
    gaps = [np.max(np.abs(follow(s, 0).loss / run(s, 0).loss - 1)) for s in (system(init=k) for k in (1e-5, 1e-7))]
    assert 30 < gaps[0] / gaps[1] < 300


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 20))
def test_the_partition_counts_every_neuron_once(seed, m, n):
    draw = np.random.default_rng(seed)
    active, a = draw.random((n, m)) < 0.5, np.where(draw.random(m) < 0.5, -1.0, 1.0)
    y = np.where(np.arange(n) < n / 2, 1.0, -1.0)
    counts = gs.measure.partition(active, y, a)
    np.testing.assert_allclose(counts.sum(axis=1), m)
    np.testing.assert_allclose(counts[:, 0] + counts[:, 2], [np.sum(a > 0), np.sum(a < 0)])
    np.testing.assert_allclose(gs.measure.partition(active, -y, -a), counts[::-1])


def test_cones_are_orthogonally_separable():
    X, y = samples.inputs(system(cosine=0.75))
    assert np.min(np.outer(y, y) * (X @ X.T)) > 2 * 0.75**2 - 1
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    assert not living_neurons.separable(system(cosine=0.1)) and not living_neurons.separable(system(bias="trained"))


def test_the_chance_to_be_dead_on_two_samples():
    here = system()
    alone, pairs = living_neurons.dead(here)
    X, _ = samples.inputs(here)
    for i, j in ((0, 1), (0, 20)):
        covariance = [[1.0, X[i] @ X[j]], [X[i] @ X[j], 1.0]]
        assert pairs[i, j] == pytest.approx(multivariate_normal.cdf([-1, -1], cov=covariance), rel=1e-4)  # type: ignore[arg-type]
    np.testing.assert_allclose(np.diag(pairs), alone)


@pytest.mark.parametrize("bias", ["fixed", "none"])
def test_bounds_on_bare_samples(bias):
    here = system(width=7, bias=bias)
    X, (_, y) = samples.extended(here), samples.inputs(here)
    starts = [samples.start(here, seed) for seed in range(1500)]
    share = np.mean([not np.all(np.any((X @ B.T > 0) & (np.outer(y, a) > 0), axis=1)) for B, a in starts])
    least, most = living_neurons.uncovered(here)
    assert least - 0.04 < share < most + 0.04 and most < 4 * least
    assert living_neurons.uncovered(here, living_neurons.width_for(here, 0.01)).most <= 0.01
    widths = [living_neurons.width_for(system(n=n, bias=bias), 0.01) for n in (20, 200, 2000)]
    # log(n/delta) / -log((1 + q)/2)
    assert widths[2] - widths[1] == pytest.approx(np.log(10) / -np.log1p(-living_neurons.active(here)[0] / 2), abs=1.1)


def test_alive_by_another_route():
    """P(no sample is active), an orthant probability, in two dimensions where neurons do die."""
    here = system(n=2, d=2, bias="none", cosine=0.8)
    X, _ = samples.inputs(here)
    dead = np.arccos(-X[0] @ X[1]) / (2 * np.pi)  # the angle of the cone X z < 0
    assert 1 - living_neurons.alive(here) == pytest.approx(dead, abs=4 * np.sqrt(dead / living_neurons.DRAWS))


def test_the_square_loss_in_closed_form():
    """(I - rate m K/n)^(t-1) by powers of a matrix against the recursion."""
    here = system()
    own = classwise.classes(here, 1.0)[0]
    m, n, t = 6, here.n, 25
    r = 1 - here.rate * m / n * own.first.sum(axis=1)
    r = np.linalg.matrix_power(np.eye(len(r)) - here.rate * m / n * own.gram, t - 1) @ r
    assert classwise.descent(here, own, np.array([m])).loss[0, t] == pytest.approx(r @ r / (2 * n), rel=1e-10)


def test_minibatches_by_all_their_draws():
    """The mean over every sequence of three batches of two of five samples."""
    here = system(n=5, share=0.6, batch=2, steps=3)
    own, m = classwise.classes(here, 1.0)[0], 7.0
    draws, losses = list(combinations(range(5), 2)), []
    for several in product(draws, repeat=3):
        r = 1 - here.rate / 2 * m * own.first[:, several[0]].sum(axis=1)
        for rows in several[1:]:
            mine = [i for i in rows if i < here.plus]
            r = r - here.rate / 2 * m * own.gram[:, mine] @ r[mine]
        losses.append(r @ r / (2 * here.n))
    assert classwise.minibatches(here, own, m)[3] == pytest.approx(np.mean(losses), rel=1e-12)


def test_both_layers_of_neurons_that_are_alike():
    """The recursion of outputs and second layer against m equal neurons with weights of their own."""
    here, m = system(layers="both", loss="exponential", rate=0.2), 3
    own, (X, y) = classwise.classes(here, 1.0)[0], samples.inputs(here)
    b, a, losses = here.rate / here.n * (y * living_neurons.active(here)) @ X, 1.0, []
    mine, n = X[y > 0], here.n
    for _ in range(here.steps):
        pull = np.exp(-m * a * mine @ b) / n
        losses.append(pull.sum())
        b, a = b + here.rate * a * pull @ mine, a + here.rate * pull @ (mine @ b)
    np.testing.assert_allclose(classwise.descent(here, own, np.array([m])).loss[0, 1:], losses, rtol=1e-10)
    assert a > 1.1


def test_the_gradient_at_the_start():
    wide = system(width=30000, steps=1)
    assert classwise.first_ratio(wide) == pytest.approx(follow(wide, 0).ratio[0], rel=0.02)


def test_one_sample_a_class_leaves_no_room_between_the_bounds():
    least, most = living_neurons.uncovered(system(n=2, width=6))
    assert least == pytest.approx(most, rel=1e-12)


def test_all_samples_are_a_batch():
    """The second moments with B = n are the squares of gradient descent."""
    here = system(batch=24)
    own = classwise.classes(here, 1.0)[1]
    np.testing.assert_allclose(
        classwise.minibatches(here, own, 5.0), classwise.descent(here, own, np.array([5])).loss[0]
    )


@pytest.mark.parametrize("how", [{}, {"loss": "exponential", "layers": "both", "width": 6}, {"batch": 6, "rate": 0.04}])
def test_the_law_is_the_mean_over_starts(how):
    found = beside(system(**{"width": 20, **how}), range(40))
    assert found.theory.status.ok and found.simulation.numbers.keys() == found.theory.numbers.keys()
    for name in ("sorted_plus", "sorted_minus", "drop_time", "last_loss"):
        gap = found.gaps[name]
        assert abs(gap.measured - gap.predicted) < max(4 * (gap.se or 0), 0.005 * gap.predicted), name
    for name in found.curves:
        for _, gap in found.along(name)[::7]:
            assert abs(gap.measured - gap.predicted) < max(4 * (gap.se or 0), 0.005 * gap.predicted + 1e-9), name


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_the_loss_is_below_the_bound(loss, rate):
    here = system(loss=loss, rate=rate, steps=300, init=1e-9)
    said = follow(here, 3)
    into = path.ordered(said.last, samples.inputs(here)[1], said.a)
    bound = classwise.bound(here, int(np.sum(into & (said.a > 0))), int(np.sum(into & (said.a < 0))))
    assert np.all(run(here, 3).loss <= bound + 1e-8) and bound[-1] < 6 * said.loss[-1]


def test_the_time_of_a_drop():
    assert path.crossing(np.arange(4.0), np.array([1.0, 0.9, 0.7, 0.1]), 0.2) == pytest.approx(1.5)
    assert np.isnan(path.crossing(np.arange(2.0), np.ones(2), 0.2))
    assert not gs.simulate(system(steps=1), 0).status.ok


def test_other_data_say_what_predicts_them():
    found = gs.theory(system(data="gaussian", cosine=0.3, bias="trained"))
    assert (
        found.status.ok and "such patterns change" in found.status.notes[0] and "512 neurons" in found.status.notes[1]
    )
    assert gs.simulate(system(data="gaussian", cosine=0.3, bias="trained"), 0).status.ok


def test_images_of_ones_own(tmp_path):
    draw = np.random.default_rng(0)
    X, labels = draw.standard_normal((60, 12)), np.arange(60) % 3
    here = system(data=gs.Dataset((X, labels), (2, 0), centre="none", signal=None))
    inputs, y = samples.inputs(here)
    rows = X[labels == 2] / np.linalg.norm(X[labels == 2], axis=1, keepdims=True)
    assert all(np.min(np.abs(rows - x).sum(axis=1)) < 1e-12 for x in inputs[y > 0])
    (tmp_path / "e.toml").write_text(here.to_toml())
    assert gs.system.read(tmp_path / "e.toml") == here


def test_a_rate_too_large_is_a_status():
    assert not gs.simulate(system(rate=1e4, steps=200), 0).status.ok


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"batch": 25}, "batch must be at most n = 24"),
        ({"share": 0.0}, "leaves a class without samples"),
        ({"cosine": 1.5}, "cosine must be between 0 and 1"),
        ({"drop": 1.0}, "drop must be a share"),
        ({"rate": 0}, "rate must be greater than 0"),
        ({"data": gs.Dataset((np.eye(4), [0, 1, 0, 1]), signal=None)}, "the inputs of data have d = 4, not 12"),
        ({"data": gs.Dataset((np.eye(4), [0, 1, 0, 1]))}, "signal=None"),
    ],
)
def test_bad_fields_are_one_sentence(how, sentence):
    with pytest.raises(gs.InputError, match=sentence):
        system(**how)


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "e.toml").write_text(system().to_toml())
    assert (
        cli(["compare", str(tmp_path / "e.toml"), "--seeds", "0-3", "--json", "--plot", str(tmp_path / "e.svg")]) == 0
    )
    assert "drop_time" in json.loads(capsys.readouterr().out)["numbers"]
