"""What theory refuses, the nearest setting that it names, and the table of the documentation."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.theory import ROUTES
from giantstep.theory._coverage import check_theory, refusals, route
from giantstep.theory._refusal import nearest
from giantstep.theory.narrow.evolution import REFUSALS as OF_OVERLAPS
from giantstep.theory.two_steps.predict import REFUSALS as OF_SECOND_STEP

MIXTURE = gs.Mixture(60, (gs.Component(1.0, (gs.Spike(5.0),)),))


def settings(count: int, seed: int = 0):
    """Settings of options drawn at random, most of them not covered."""
    rng = np.random.default_rng(seed)
    pick = lambda *options: options[rng.integers(len(options))]  # noqa: E731
    for _ in range(count):
        steps = [
            gs.GiantStep(
                100, 1.0, batch="fresh" if t == 0 else pick("fresh", "fresh", "reuse"), residual=pick("target", "full"),
                update=pick("gradient", "rank1") if t == 0 else "gradient", deflate=pick(0, 0, 1) if t else pick(0, 0, 2),
            )
            for t in range(rng.integers(4))
        ]  # fmt: skip
        data = pick(gs.Gaussian(60), gs.Gaussian(600), MIXTURE)
        if data is MIXTURE:
            steps = [replace(step, deflate=min(step.deflate, 1)) for step in steps]
        again = pick("fresh", "reuse") if steps else "fresh"
        readout = pick(
            gs.Ridge(100, 0.1, batch=again), gs.Ridge(100, "gcv", batch=again), gs.Ridge(100, 0.1, deflate=1),
            gs.SGD(100, 0.1, batch=again, passes=pick(1, 2)), None,
        )  # fmt: skip
        own: dict[str, Any] = {"symmetric": pick(False, True), "second_layer": pick("gaussian", "constant")}
        if rng.uniform() < 0.1:
            own = {"weights": (np.ones((20, data.d)), np.ones(20))}
        network = gs.Network(20, "relu", **own)
        yield gs.Setting(data, gs.target(pick("x1", "x1 + x1*x2")), network, gs.Protocol(tuple(steps), readout))


def test_the_nearest_setting_is_covered_and_named():
    refused = 0
    for setting in settings(400):
        near, met = nearest(setting, refusals())
        check_theory(near)
        assert route(near) in ROUTES
        if not met:
            check_theory(setting)
            continue
        refused += 1
        with pytest.raises(gs.InputError, match="; the nearest setting that theory covers has ") as raised:
            check_theory(setting)
        assert all(each.named in str(raised.value) for each in met) and "{" not in str(raised.value)
    assert 200 < refused < 400  # both kinds are there


@pytest.mark.parametrize("spectrum, regime", [(True, "finite"), (False, "limit")])
def test_every_other_prediction_names_its_nearest_setting_too(spectrum, regime):
    for setting in settings(150, 1):
        try:
            check_theory(setting, regime, spectrum=spectrum)
        except gs.InputError as error:
            assert "the nearest setting that " in str(error)


@pytest.mark.parametrize("of", [OF_OVERLAPS, OF_SECOND_STEP])
def test_the_refusals_of_other_theories(of):
    for setting in settings(150, 2):
        near, _ = nearest(setting, of)
        assert not any(each.applies(near) for each in of)


def test_a_change_that_does_not_help_is_noticed():
    wrong = replace(refusals()[0], change=lambda setting: setting)
    bare = next(s for s in settings(50) if s.protocol.readout is None)
    with pytest.raises(AssertionError, match="does not lift"):
        nearest(bare, (wrong,))


def test_settings_that_are_near_are_predicted():
    """Not only checked: the theory that is named answers."""
    answered = set()
    for setting in settings(60, 3):
        near, met = nearest(setting, refusals())
        if met and route(near) not in answered:
            answered.add(route(near))
            assert np.isfinite(gs.theory(near).test_error)
    assert len(answered) >= 4


def test_every_option_alone_has_a_sentence():
    base = gs.Setting(
        gs.Gaussian(60), "x1", gs.Network(50, "relu"), gs.Protocol((gs.GiantStep(100, 1.0),), gs.Ridge(100, 0.1))
    )
    check_theory(base)
    steps = (gs.GiantStep(100, 1.0),)
    for changes, words in (
        ({"protocol": gs.Protocol(steps)}, "has a ridge readout, gs.Ridge(n, penalty)"),
        ({"protocol": gs.Protocol(steps, gs.SGD(100, 0.1, batch="reuse"))}, "has batch='fresh' in the readout"),
        ({"data": MIXTURE, "protocol": gs.Protocol(steps, gs.SGD(100, 0.1))}, "has data=gs.Gaussian(d)"),
        ({"protocol": gs.Protocol(steps, gs.Ridge(100, "gcv", batch="reuse"))}, "has batch='fresh' in the readout"),
        ({"protocol": gs.Protocol(steps * 2, gs.Ridge(100, 0.1, batch="reuse"))}, "has batch='fresh' in the readout"),
    ):
        with pytest.raises(gs.InputError) as raised:
            gs.theory(replace(base, **changes))
        assert str(raised.value).endswith(words)
