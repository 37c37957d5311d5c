"""Sweeps whose numbers the device draws: their keys say so, and a block is one program of many seeds."""

import numpy as np
import pytest
from experiments import base

import giantstep as gs
from giantstep.lab.store.trial import Route
from giantstep.lab.sweep.run import planned
from giantstep.lab.sweep.sweep import make
from giantstep.lab.sweep.toml import from_plain

ROUTE = "simulate(n_test=50)"


def test_the_key_of_a_trial_says_who_drew():
    routes = [ROUTE, "equivalent(random=host)", "theory"]
    keys = {
        r: [route.key for route in make(base(), {}, routes=routes, random=r).routes] for r in ("auto", "host", "device")
    }
    assert keys["auto"] == keys["host"] == ["simulate(n_test=50)", "equivalent", "theory"]  # this is a CPU
    assert keys["device"][0] == "simulate(n_test=50, random=device)" and keys["device"][2] == "theory"
    sweep = from_plain({"setting": base().to_plain(), "random": "device", "routes": ROUTE})
    assert sweep.routes[0].key == keys["device"][0] and sweep.id != make(base(), {}, routes=ROUTE).id


@pytest.mark.parametrize("random", ["auto", "gpu", 3])
def test_a_stored_route_is_of_the_host_or_of_the_device(random):
    with pytest.raises(gs.InputError, match="must be one of 'host', 'device'"):
        Route("simulate", {"random": random})
    if random != "auto":
        with pytest.raises(gs.InputError, match="random must be one of 'auto', 'host', 'device'"):
            make(base(), {}, random=random)  # type: ignore[arg-type]


def test_a_block_has_hundreds_of_seeds():
    many = planned(make(base(), {"eta": [0.5, 1.0]}, seeds=range(600), routes=ROUTE, random="device"))
    assert [len(block.seeds) for block in many] == [600] and len(many[0].trials) == 1200


@pytest.mark.slow
def test_the_numbers_are_those_of_simulate(tmp_path):
    axes, store = {"eta": [0.5, 1.0], "penalty": [0.1, 1.0]}, tmp_path / "trials.sqlite"
    found = gs.sweep(base(), axes, seeds=range(3), routes=ROUTE, random="device", store=store)
    s = base(eta=(0.5, 1.0), penalty=(0.1, 1.0))
    direct = gs.simulate(s, range(3), n_test=50, random="device")
    np.testing.assert_allclose(found.test_error[0], direct.test_error, rtol=1e-9)
    again = gs.sweep(base(), axes, seeds=range(3), routes=ROUTE, random="device", store=store)
    np.testing.assert_array_equal(found.test_error, again.test_error)
