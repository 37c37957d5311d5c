"""Statuses are sentences as a person would say them, and programs read values and not words."""

import re
from itertools import product

import numpy as np
import pytest

import giantstep as gs
from giantstep.equivalent import MODELS
from giantstep.results.outcome import Outcome, Status
from giantstep.results.system import Reading, System

NUMBER = re.compile(r"(?<![\w^*|(/])\d+(?:\.\d+)?(?:e[+-]?\d+)?")
FORMULAS = re.compile(r"alpha = 1/2|1 / E F\^2|x_?\d|relu\(x\) \+ 100")


def setting(*steps, d=40, p=60, activation="relu", target="x1 + H2(x1)", readout=None, **network):
    protocol = gs.Protocol(steps, readout or gs.Ridge(80, 0.1))
    return gs.Setting(gs.Gaussian(d), gs.target(target, noise=0.3), gs.Network(p, activation, **network), protocol)


STEP = gs.GiantStep(80, (0.0, 5.0, 1e3))
REUSED = gs.Ridge(None, 0.1, batch="reuse")
SETTINGS = {
    "no step": setting(),
    "one step": setting(STEP),
    "far": setting(gs.GiantStep(80, 1e6)),
    "power": setting(gs.GiantStep(400, gs.power((0.1, 0.8))), d=200, p=300),
    "overflow": setting(gs.GiantStep(80, 1e200)),
    "tails": setting(STEP, activation="H3"),
    "own batch": setting(gs.GiantStep(80, 60.0), readout=REUSED),
    "two steps": setting(gs.GiantStep(80, 5.0), gs.GiantStep(None, 5.0, batch="reuse")),
    "pairs": setting(STEP, symmetric=True),
    "narrow": setting(gs.GiantStep(800, 5.0), gs.GiantStep(800, 5.0), d=100, p=4, target="H2(x1)"),
    "no penalty": setting(STEP, readout=gs.Ridge(60, (0.0, 1e-18))),
    "gcv": setting(gs.GiantStep(80, 5.0), readout=gs.Ridge(80, "gcv")),
    "sgd": setting(gs.GiantStep(80, 30.0), readout=gs.SGD(80, (0.1, 5.0))),
    "deflated": setting(gs.GiantStep(5000, 50.0, deflate=2), readout=gs.Ridge(None, 0.1, "reuse", deflate=2)),
}
ROUTES = {
    "theory": gs.theory,
    "limit": lambda s: gs.theory(s, "limit"),
    "simulate": lambda s: gs.simulate(s, range(2), n_test=50),
    "overlap": lambda s: gs.simulate(s, n_test=50, method="overlap"),
    **{model: lambda s, model=model: gs.equivalent(s, model, n_test=50) for model in MODELS},
}


@pytest.mark.parametrize(("name", "route"), list(product(SETTINGS, ROUTES)))
def test_a_status_is_made_of_sentences_of_two_numbers_at_most(name, route):
    try:
        status = ROUTES[route](SETTINGS[name]).status
    except gs.InputError:  # the route does not take the setting
        return
    for note in status.notes:
        assert note.endswith(".") and ";" not in note
        for sentence in re.split(r"(?<=[a-z0-9)%])\. (?=[A-Z])", note):
            assert sentence[0].isupper(), sentence
            assert len(NUMBER.findall(FORMULAS.sub("", sentence))) <= 2, sentence


def size(name, status) -> float:
    found = re.search(rf"up to {name} = (\d+(\.\d+)?)", str(status))
    assert found is not None, status
    return float(found[1])


def test_the_line_is_to_be_trusted_up_to_a_step_size():
    eta = size("eta", gs.theory(SETTINGS["one step"]).status)
    near, far = (gs.theory(SETTINGS["one step"].with_(eta=x * eta)).status for x in (0.9, 1.2))
    assert "Trust the prediction" not in str(near) and "Trust the prediction" in str(far)
    power = gs.theory(SETTINGS["power"])
    assert 0.1 < size("alpha", power.status) < 0.8 and "Trust" in power.status.notes[0]


def test_programs_ask_for_values():
    long, short, lost = (gs.theory(setting(gs.GiantStep(80, eta))).status for eta in (150.0, 1.0, 1e200))
    assert "short step" in long.unmet and not short.unmet and "converged" in lost.unmet
    assert gs.simulate(SETTINGS["overflow"], n_test=50).status.unmet == ("finite",)
    assert gs.theory(SETTINGS["one step"]).regime == "finite" and gs.simulate(SETTINGS["gcv"], n_test=50).regime is None
    published = gs.theory(gs.presets.moniri(n=80, d=40, N=60, alpha=0.3, penalty=0.1, residual="target"), "limit")
    assert published.regime == "limit"


def test_an_outcome_says_whether_it_is_ok():
    good, bad = (Outcome(setting(), "simulate", status=Status(ok, ("so.",))) for ok in (True, False))
    assert good.ok and not bad.ok
    assert str(bad.status) == "Do not trust these numbers. so." and str(Status(True, ("No period",))) == "No period."
    assert str(Status()) == "ok"


def test_a_system_doubts_by_a_field_and_not_by_a_word():
    class DoubtfulWalk(System):
        kind = "walk of doubts"

        def measured(self, seed):
            return Reading({"length": 1.0}, notes=("not far from here.",))

        def predicted(self):
            return Reading({"length": 1.0}, doubts=("The walk is too long.",))

    assert gs.simulate(DoubtfulWalk()).ok and not gs.theory(DoubtfulWalk()).ok


def test_one_trial_of_a_sweep_that_overflows_leaves_the_others():
    s = setting(gs.GiantStep(80, 1.0), activation="H3")
    found = gs.sweep(s, {"eta": [1.0, 1e200]}, routes=["simulate(n_test=50)"])
    assert found.ok.values.ravel().tolist() == [True, False]
    assert np.isfinite(found.test_error.values[0, 0]).all()
