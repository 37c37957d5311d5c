"""Samples shared between devices: the same numbers as on one, on eight virtual devices of the CPU."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine import memory
from giantstep._machine.backend import jax
from giantstep._training.plan import make_plan

# Sizes that do not divide by eight, two steps (fresh and reuse) with deflation, seeds, step sizes and penalties.
CASES = """
import dataclasses, json, os
import numpy as np
import giantstep as gs
from giantstep._machine.backend import jax

def setting(n, deflate=0):
    steps = gs.GiantStep(93, 2.0, residual="full"), gs.GiantStep(None, (0.5, 3.0), batch="reuse", residual="full", deflate=2)
    network, target = gs.Network(21, "sin(x + pi/4)"), gs.target("x1 + x1*x2", noise=0.3)
    return gs.Setting(gs.Gaussian(13), target, network, gs.Protocol(steps, gs.Ridge(n, (1e-2, 1.0), deflate=deflate)))

def difference(one, other):
    worst = {}
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            worst[field.name] = float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
        elif field.name not in ("seconds", "status"):
            assert a == b, field.name
    return worst

explicit = jax.make_mesh((3,), ("rows",), axis_types=(jax.sharding.AxisType.Explicit,), devices=jax.devices()[5:])
found = {"flags": os.environ["XLA_FLAGS"], "count": len(jax.devices())}
for name, made, devices, options in (
    ("n > p", setting(101, 2), 8, {"spectrum": True}),
    ("n <= p", setting(19), explicit, {}),
    ("fewer rows than devices", setting(5), jax.devices(), {}),
    ("conjugate gradients", setting(101, 2), 8, {"solver": "cg"}),
    ("n > p, drawn on the devices", setting(101, 2), 8, {"random": "device"}),
    ("n <= p, drawn on the devices", setting(19), 8, {"random": "device"}),
):
    runs = [gs.simulate(made, range(2), n_test=203, devices=each, **options) for each in (None, devices)]
    found[name] = difference(*runs)
    assert runs[0].status.ok and runs[1].status.ok and len(found[name]) > 10, runs[1].status
    assert all(("drawn on the device" in str(each.status)) == ("random" in options) for each in runs)
    for _ in range(5):  # what waits for each other hangs sooner or later
        gs.simulate(made, range(2), n_test=203, devices=devices, **options)
print(json.dumps(found))
"""


def test_the_same_numbers_on_eight_devices_as_on_one():
    flags = f"--xla_force_host_platform_device_count=8 {os.environ.get('XLA_FLAGS', '')}"
    run = subprocess.run(
        [sys.executable, "-P", "-c", CASES],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        timeout=1200,  # ends a hang, and times nothing
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found.pop("count") == 8 and "concurrency_optimized_scheduler=false" in found.pop("flags")
    for name, worst in found.items():
        assert max(worst.values()) < 1e-9, (name, worst)


@pytest.mark.parametrize(
    ("devices", "words"),
    [(0, "at least 1"), (-1, "at least 1"), (10**3, "at most 1, the number of cpu"), (1.5, "whole number"),
     (True, "whole number"), ("all", "whole number"), ([], "not \\[\\]"), ([0, 1], "JAX devices")],
)  # fmt: skip
def test_bad_devices(small, devices, words):
    with pytest.raises(gs.InputError, match=words):
        gs.simulate(small, devices=devices)


def test_more_refusals(small):
    with pytest.raises(gs.InputError, match="different JAX devices"):
        gs.simulate(small, devices=jax.devices()[:1] * 2)
    with pytest.raises(gs.InputError, match="an option of method=.dense."):
        gs.simulate(small, devices=1, method="overlap")


def test_a_mesh_needs_one_axis(small):
    with pytest.raises(gs.InputError, match="one axis, not one with 2 axes"):
        gs.simulate(small, devices=jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b")))


def fake(count: int, platform: str) -> SimpleNamespace:
    """A mesh as the plan sees it, 4 GiB free on each device."""
    stats = {"bytes_limit": 5 * 2**30, "bytes_in_use": 2**30}
    device = SimpleNamespace(platform=platform, memory_stats=lambda: stats)
    return SimpleNamespace(devices=np.array([device] * count, dtype=object))


def test_eight_devices_take_eight_times_the_rows(monkeypatch):
    monkeypatch.setattr("giantstep._training.plan.CHUNK_BYTES", 2.0**40)
    monkeypatch.setattr(memory, "available", lambda: 2.0**38)
    protocol = gs.Protocol((gs.GiantStep(10**8, 1.0),), gs.Ridge(10**8, 1.0))
    setting = gs.Setting(gs.Gaussian(512), "x1", gs.Network(1024, "relu"), protocol)
    plans = {k: make_plan(setting, 1, 100, 8, None, mesh=fake(k, "gpu")) for k in (1, 8)}  # type: ignore[arg-type]
    assert plans[8].rows == 8 * plans[1].rows and plans[8].bytes == plans[1].bytes <= 0.8 * 4 * 2**30
    monkeypatch.setattr(memory, "available", lambda: 2.0**30)  # of the host, which draws the rows
    assert make_plan(setting, 1, 100, 8, None, mesh=fake(8, "gpu")).rows < 2**30 / (8 * 512)  # type: ignore[arg-type]
    # Devices of the CPU share the host's memory: together they take no more rows than it has, less the copies of the weights.
    shared = make_plan(setting, 1, 100, 8, 4, mesh=fake(8, "cpu"))  # type: ignore[arg-type]
    assert shared.bytes <= 4 * 2**30 / 8 and shared.rows <= make_plan(setting, 1, 100, 8, 4).rows
    assert memory.on_each(2.0, fake(8, "gpu").devices) == 2 * 2**30
