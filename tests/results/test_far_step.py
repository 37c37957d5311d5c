"""Step sizes far outside what is usual are told, by simulations, equivalent models and predictions."""

import numpy as np
import pytest

import giantstep as gs

USUAL = gs.Setting(
    gs.Gaussian(30),
    gs.target("x1 + H2(x1)/2", noise=0.5),
    gs.Network(40, "relu"),
    gs.Protocol((gs.GiantStep(60, 30.0),), gs.Ridge(60, 0.1)),
)
FAR = "far outside what is usual"


@pytest.mark.parametrize("ask", [gs.simulate, gs.theory, gs.equivalent], ids=["simulate", "theory", "equivalent"])
def test_a_step_that_leaves_nothing_is_told(ask):
    assert FAR not in str(ask(USUAL).status)
    assert FAR in str(ask(USUAL.with_(eta=1e5)).status)


def test_a_prediction_of_such_a_step_is_not_ok():
    near, far = (gs.theory(USUAL.with_(activation="tanh", eta=eta)).status for eta in (3.0, 1e5))
    assert near.ok and not far.ok


def test_the_step_size_is_named_in_a_list():
    told = str(gs.simulate(USUAL.with_(eta=[1.0, 2e5, 30.0]), seed=range(2), n_test=50).status)
    assert f"The step size 2e+05 is {FAR}. Neurons become " in told
    power = gs.GiantStep(60, gs.power(3.0))
    again = gs.simulate(USUAL.with_(protocol=gs.Protocol((power,), gs.Ridge(60, 0.1))), n_test=50)
    assert f"The step size 2.16e+05 is {FAR}" in str(again.status)


def test_neurons_are_compared_with_their_own_start():
    rng = np.random.default_rng(0)
    W = 1e4 * rng.standard_normal((40, 30))
    own = gs.Network(40, "relu", weights=(W, rng.standard_normal(40)))
    assert FAR not in str(gs.simulate(USUAL.with_(network=own), n_test=50).status)
    assert FAR not in str(gs.simulate(USUAL.with_(protocol=gs.Protocol((), gs.Ridge(60, 0.1))), n_test=50).status)


def test_predictions_of_several_steps_and_of_an_sgd_readout():
    two = gs.Protocol((gs.GiantStep(60, 1e5), gs.GiantStep(60, 1.0)), gs.Ridge(60, 0.1))
    assert FAR in str(gs.theory(USUAL.with_(protocol=two)).status)
    sgd = gs.Protocol((gs.GiantStep(60, 1e5),), gs.SGD(60, 1e-12))
    assert FAR in str(gs.theory(USUAL.with_(protocol=sgd)).status)
