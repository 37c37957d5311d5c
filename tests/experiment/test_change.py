"""Settings with some fields changed by their short names."""

import pytest

import giantstep as gs

BASE = gs.Setting(
    data=gs.Gaussian(d=30),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(20, "relu"),
    protocol=gs.Protocol((gs.GiantStep(40, 1.0), gs.GiantStep(40, 2.0)), gs.Ridge(60, 0.1)),
)


def test_a_name_changes_every_field_that_is_called_so():
    s = BASE.with_(n=80, eta=[0.0, 3.0], p=24, activation="tanh", d=50, noise=0.1, penalty=[0.1, 1.0])
    assert [step.n for step in s.protocol.steps] == [80, 80] and s.protocol.readout.n == 80  # type: ignore[union-attr]
    assert [step.eta for step in s.protocol.steps] == [(0.0, 3.0)] * 2
    assert (s.p, s.d, s.target.noise, s.network.activation.name) == (24, 50, 0.1, "tanh")
    assert s.protocol.readout.penalty == (0.1, 1.0)  # type: ignore[union-attr]


def test_parts_are_changed_whole_and_nothing_else_is():
    s = BASE.with_(target="x1")
    assert s.target.name == "x1" and (s.network, s.protocol, s.data) == (BASE.network, BASE.protocol, BASE.data)
    assert BASE.with_() == BASE and BASE.with_(n=40).id != BASE.id  # the readout had 60


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"etta": 1.0}, "no field 'etta'; did you mean 'eta'"),
        ({"p": 3, "width": 3}, "the same field"),
        ({"alpha": 0.3}, "a step size that is a power"),
        ({"n": -1}, "n must be a whole number"),
        ({"activation": "nobody"}, "nobody"),
    ],
)
def test_wrong_changes_are_one_sentence(changes, sentence):
    with pytest.raises(gs.InputError, match=sentence):
        BASE.with_(**changes)


def test_alpha_is_the_exponent_of_a_step_size_that_is_a_power():
    s = BASE.with_(eta=gs.power(0.2, times=2.0))
    assert (
        s.with_(alpha=0.3)
        == BASE.with_(eta=gs.power(0.3, times=2.0))
        == BASE.with_(eta=gs.power(0.1, times=2.0), alpha=0.3)
    )
