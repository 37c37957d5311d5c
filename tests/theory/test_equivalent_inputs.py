"""A step as a change of the inputs: untrained features on stretched inputs against a network that took the step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.systems.function_space.simulate import direction
from giantstep.theory.kernel import Reshaped


def setting(activation="tanh", eta: Any = 30.0, n=200, d=80, p=120, target="tanh(2*x1)", **network):
    own = gs.Network(p, activation, **{"rows": "gaussian", **network})
    protocol = gs.Protocol((gs.GiantStep(8 * d, eta),), gs.Ridge(n, 0.01))
    return gs.Setting(gs.Gaussian(d), gs.target(target, noise=0.2), own, protocol)


def law(given: gs.Setting) -> gs.Mixture:
    """The law of the stretched inputs."""
    assert isinstance(given.data, gs.Mixture)
    return given.data


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_errors_after_the_step_are_those_of_stretched_inputs(activation):
    """Test and training error within 3 standard errors and 5%; without the step the test error is far away."""
    s = setting(activation)
    stretched = gs.theory.equivalent_inputs(s)
    trained, seen = (gs.simulate(each, range(12), n_test=2000).mean() for each in (s, stretched))
    for name in ("test_error", "train_error"):
        a, b = getattr(trained, name), getattr(seen, name)
        se = np.hypot(getattr(trained, f"{name}_se"), getattr(seen, f"{name}_se"))
        assert abs(a - b) < 3 * se + 0.05 * a, name
    predicted = gs.theory(stretched).test_error
    assert predicted == pytest.approx(trained.test_error, rel=0.1)
    assert gs.theory(s.with_(eta=0.0)).test_error > 1.5 * predicted


def test_several_directions():
    """The step follows x1 + x2; errors are those of stretched inputs, and every direction is seen through S^(-1/2)."""
    s = setting("tanh(x + 0.8)", target="x1 + x2 + x1*x2", n=400)
    stretched = gs.theory.equivalent_inputs(s)
    trained, seen = (gs.simulate(each, range(16), n_test=2000).mean() for each in (s, stretched))
    assert abs(trained.test_error - seen.test_error) < 3 * np.hypot(trained.test_error_se, seen.test_error_se)
    assert gs.simulate(s.with_(eta=0.0), range(8), n_test=2000).mean().test_error > 1.3 * seen.test_error
    V = stretched.target.matrix(s.d)
    np.testing.assert_allclose(V @ law(stretched).covariance() @ V.T, np.eye(2), atol=1e-10)
    u = direction(s, seed=0)
    expected = gs.theory.kernel(s)
    assert isinstance(expected, Reshaped)
    assert np.linalg.norm(u[:2]) / np.linalg.norm(u) == pytest.approx(expected.cosine, abs=0.05)


@pytest.mark.parametrize("target", ["tanh(2*x1)", "x1 + x2 + x1*x2"])
def test_the_features_have_the_spectrum_of_untrained_ones_on_stretched_inputs(target):
    """More than the covariance of the rows: all of F/sqrt(n), within 5%; without the step there is one outlier less."""
    s = setting("tanh(x + 0.8)", target=target, n=300)
    runs = [
        gs.simulate(each, range(8), n_test=50, spectrum=True)
        for each in (s, gs.theory.equivalent_inputs(s), s.with_(eta=0.0))
    ]
    after, seen, before = (np.mean(np.reshape(run.singular_values, (8, -1)), axis=0) for run in runs)
    places = [0, 1, 10, 40, 80]
    assert np.allclose(seen[places], after[places], rtol=0.05)
    assert after[1] > 2.5 * before[1]


SPIKED = (gs.Component(0.5, (gs.Spike(3.0, "u"),), mean={"x2": 1.0}), gs.Component(0.5, mean={"x2": -1.0}, bulk=0.5))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["tanh(2*x1)", "1 | -1", "tanh(2*x1) | x1"])
def test_mixtures(target):
    """Errors after a step on a mixture are those on stretched components, and labels keep their law."""
    plain = replace(
        setting("tanh(x + 0.8)", eta=25.0, n=300), data=gs.Mixture(80, SPIKED), target=gs.target(target, noise=0.2)
    )
    stretched = gs.theory.equivalent_inputs(plain)
    trained, seen = (gs.simulate(each, range(12), n_test=2000).mean() for each in (plain, stretched))
    for name in ("test_error", "train_error"):
        a, b = getattr(trained, name), getattr(seen, name)
        assert abs(a - b) < 3 * np.hypot(getattr(trained, f"{name}_se"), getattr(seen, f"{name}_se")) + 0.03 * a, name
    assert gs.simulate(plain.with_(eta=0.0), range(6), n_test=2000).mean().test_error > 1.15 * trained.test_error
    assert gs.theory(stretched).test_error == pytest.approx(trained.test_error, rel=0.1)


def test_without_a_step_a_mixture_stays_as_it_is():
    plain = replace(setting(eta=0.0), data=gs.Mixture(80, SPIKED))
    still = law(gs.theory.equivalent_inputs(plain))
    for c in range(2):
        np.testing.assert_allclose(still.covariance(c), law(plain).covariance(c), atol=1e-8)
        np.testing.assert_allclose(still.mean(c), law(plain).mean(c), atol=1e-8)


def test_the_kernel_is_that_of_untrained_rows_on_stretched_inputs():
    """sigma(<g, S^(1/2) x>): the leading eigenvalues against those of the trained rows, which know nothing of S."""
    s = setting(p=600)
    own = law(gs.theory.equivalent_inputs(s)).components[0]
    trained, u = gs.simulate.train(s, seed=0), direction(s, seed=0)
    u = u / np.linalg.norm(u)
    root = own.bulk**0.5 * np.eye(s.d) + ((own.bulk + own.spikes[0].strength) ** 0.5 - own.bulk**0.5) * np.outer(u, u)
    after, moved = (gs.measure.kernel(W, s.network.activation, u) for W in (trained.final, trained.initial @ root))
    before = gs.measure.kernel(trained.initial, s.network.activation, u)
    assert moved.values[0] == pytest.approx(after.values[0], rel=0.08)
    assert moved.transverse == pytest.approx(after.transverse, rel=0.08)
    assert after.values[0] > 10 * before.values[before.aligned]


def test_the_target_is_the_same_function():
    """<v, x> = <S^(-1/2) v, S^(1/2) x>: labels keep their mean square, and without a step nothing is stretched."""
    s = setting(eta=20.0)
    stretched = gs.theory.equivalent_inputs(s)
    v = stretched.target.matrix(s.d)[0]
    assert v @ law(stretched).covariance() @ v == pytest.approx(1.0)
    still = gs.theory.equivalent_inputs(setting(eta=0.0))
    np.testing.assert_allclose(law(still).covariance(), np.eye(80), atol=1e-12)
    np.testing.assert_allclose(still.target.matrix(80)[0], np.eye(80)[0], atol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (setting(second_layer="rademacher"), "second_layer='gaussian'"),
        (setting(eta=[1.0, 2.0]), "one size"),
        (replace(setting(), protocol=gs.Protocol((gs.GiantStep(80, 1.0),))), "readout on fresh samples"),
        (setting(activation="H2(x)"), "c_1"),
    ],
)
def test_what_has_no_such_inputs_is_refused_in_a_sentence(given, words):
    with pytest.raises(gs.InputError, match=words):
        gs.theory.equivalent_inputs(given)
