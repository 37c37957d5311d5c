"""A hundred settings of every kind, in a fixed order, and their ids with what a file of them says.

Arrays and parameters are such that their sums and powers are the same on every processor.
"""

import json
from itertools import chain
from typing import Any

import numpy as np

import giantstep as gs
from tests.frozen import written

GAUSSIAN = gs.Gaussian(12)
TARGET = gs.target("x1 + H2(x1)*x2", noise=0.25)
NETWORK = gs.Network(8, "relu")
STEP = gs.GiantStep(40, 2.0)
RIDGE = gs.Ridge(30, 0.125)
PROTOCOL = gs.Protocol((STEP,), RIDGE)
ROWS = np.arange(24.0).reshape(8, 3) / 4
Named = tuple[str, gs.Setting]


def settings() -> dict[str, gs.Setting]:
    """The settings by name."""
    parts = (presets(), laws(), targets(), networks(), protocols(), together())
    found = list(chain.from_iterable(parts))
    assert len(dict(found)) == len(found), "a name stands twice"
    return dict(found)


def varied(kind: str, part: str, values: dict[str, Any]) -> list[Named]:
    """The plain setting with another part, once for each value."""
    plain = gs.Setting(GAUSSIAN, TARGET, NETWORK, PROTOCOL)
    parts = {name: getattr(plain, name) for name in ("data", "target", "network", "protocol")}
    made = {name: gs.Setting(**{**parts, part: value}) for name, value in values.items()}
    return [(f"{kind}: {name}", setting) for name, setting in made.items()]


def presets() -> list[Named]:
    """Every preset, as it is and with its options."""
    of = gs.presets
    found = {
        "moniri": of.moniri(n=80, d=40, N=60, alpha=0.25, penalty=0.5),
        "moniri, several": of.moniri(
            n=80, d=40, N=60, alpha=[0.0, 0.25], penalty=[0.5, 1.0], C=2.0, noise=0.5
        ),
        "moniri, target": of.moniri(
            80, 40, 60, 0.25, "gcv", rows="gaussian", residual="target", activation="erf"
        ),
        "ba": of.ba(n=80, d=40, N=64, eta=1.0, penalty=0.5),
        "ba, rank one": of.ba(
            n=80, d=40, N=64, eta=[0.0, 1.0], penalty=0.5, update="rank1", noise=0.5
        ),
        "moniri_hassani": of.moniri_hassani(n=80, d=40, N=64, alpha1=0.25, alpha2=0.5),
        "moniri_hassani, reuse": of.moniri_hassani(
            80, 40, 64, 0.25, 0.5, batch="reuse", penalty=0.5
        ),
        "dandi": of.dandi(n=80, d=40, p=32, eta=2.0, penalty=0.5),
        "dandi, steps": of.dandi(80, 40, 32, eta=2.0, penalty=0.5, steps=3, half=True, deflate=1),
        "cui": of.cui(n0=80, n=64, d=40, p=32, eta=1.0, penalty=0.5),
        "cui, target": of.cui(
            80, 64, 40, 32, 1.0, [0.25, 0.5], target="sign(x1)", noise=0.5, activation="erf"
        ),
        "demir": of.demir(n=64, m=80, k=32, eta=1.0),
        "demir, two spikes": of.demir(
            64,
            80,
            32,
            1.0,
            alpha=0.5,
            beta=1.0,
            rho=0.25,
            strengths=(1.0, 2.0),
            counts="drawn",
            seed=3,
        ),
        "demir, aligned": of.demir(
            64, 80, 32, alpha=0.5, beta=1.0, alignment=1.0, target="tanh(x1)", spiked_target=True
        ),
        "fashion": of.fashion(m=80, k=32),
        "fashion, others": of.fashion(
            80, 32, (3, 7), 2.0, centre="all", signal=None, counts="drawn"
        ),
        "mei_montanari": of.mei_montanari(n=80, d=40, N=64, penalty=0.5),
        "mei_montanari, several": of.mei_montanari(
            80, 40, 64, [0.25, 0.5], target="x1 + x2", noise=0.5
        ),
    }
    return [(f"preset: {name}", setting) for name, setting in found.items()]


def laws() -> list[Named]:
    """Every law of the inputs."""
    two = (gs.Component(0.5, (gs.Spike(2.0, "x1"),)), gs.Component(0.5, mean={"u": 2.0}))
    three = (
        gs.Component(0.25, (gs.Spike(3.0, "u"), gs.Spike(1.0, {"u": 0.0, "v": 1.0}))),
        gs.Component(0.25, (4.0, 2.0), bulk=0.5),
        gs.Component(0.5, mean="u"),
    )
    axis = [1.0, *[0.0] * 11]
    whole = [0, 1, 0, 1, 0, 2, 2, 1]
    found = {
        "one dimension": gs.Setting(gs.Gaussian(1), "x1", NETWORK, PROTOCOL),
        "many dimensions": gs.Setting(gs.Gaussian(10**6), TARGET, NETWORK, PROTOCOL),
        "one component": _on(gs.Mixture(12, (gs.Component(),))),
        "two components": _on(gs.Mixture(12, two)),
        "three components": _on(gs.Mixture(12, three, seed=4)),
        "exact counts": _on(gs.Mixture(12, two, counts="exact")),
        "given directions": _on(
            gs.Mixture(12, gs.Component(spikes=(gs.Spike(2.0, axis),), mean=axis))
        ),
        "a target for each": gs.Setting(gs.Mixture(12, two), "x1 | x1^2", NETWORK, PROTOCOL),
        "classes": _rows(gs.Dataset((ROWS, whole))),
        "three classes": _rows(
            gs.Dataset((ROWS, whole), (0, 1, 2), centre="none", signal=2.0, counts="exact")
        ),
        "one target": _rows(gs.Dataset((ROWS, whole), centre="all"), "x1 + x2"),
        "real labels": _rows(gs.Dataset((ROWS, np.arange(8) / 2)), "x1*x2"),
        "whole numbers as labels": _rows(gs.Dataset((ROWS, whole), None, centre="all"), "x1"),
        "images": gs.Setting(
            gs.Dataset("fashion-mnist", path="sample"), "-1 | 1", NETWORK, PROTOCOL
        ),
        "three kinds of images": gs.Setting(
            gs.Dataset("fashion-mnist", (9, 0, 4)), "x1", NETWORK, PROTOCOL
        ),
    }
    return [(f"data: {name}", setting) for name, setting in found.items()]


def _on(data: Any) -> gs.Setting:
    return gs.Setting(data, TARGET, gs.Network(8, "relu", rows="trace"), PROTOCOL)


def _rows(data: gs.Dataset, target: str | None = None) -> gs.Setting:
    formula = target or " | ".join(str(c) for c in range(len(data.classes)))
    return gs.Setting(
        data, formula, gs.Network(8, "tanh"), gs.Protocol((gs.GiantStep(3, 1.0),), gs.Ridge(3, 0.5))
    )


def targets() -> list[Named]:
    """Every word of a formula, and what a target has besides."""
    formulas = (
        "1",
        "x1",
        "x3",
        "-x1 + 2*x2 - x3/4",
        "H3(x1)/2 + H4(x2)",
        "x1*x2*x3",
        "(x1 + x2)^3",
        "1e-3*x1 + 2.5E2*x2",
        "sqrt(2)*x1^2 - sqrt(3)",
        "relu(x1) + tanh(x2)",
        "erf(x1) - sin(2*x2)",
        "sign(x1)*x2",
        "sign(x1*x2 + 0.5)",
        "x1 + x1*x2 + x1*x2*x3*x4",
    )
    rotated = [[0.6, 0.8, *[0.0] * 10], [*[0.0] * 11, 1.0]]
    more = {
        "higher rank": gs.target("x1", rank=3),
        "noise": gs.target("x1", noise=2.0),
        "directions": gs.target("x1*x2", directions=rotated),
        "scale": gs.target("x1", scale="1/sqrt(spread)"),
        "spaces": gs.target("  x1 +   x2*x1 "),
        "another order": gs.target("x1*x2 + x1"),
    }
    plain = {formula: gs.target(formula) for formula in formulas}
    return varied("target", "target", {**plain, **more})


def networks() -> list[Named]:
    """Every activation, start and scale."""
    names = "tanh erf sigmoid softplus elu gelu silu leaky_relu sin cos abs".split()
    formulas = ("relu(x) - 0.5", "x + x^2/2", "tanh(x+0.75)", "H2(x) + H3(x)/6")
    plain = {name: gs.Network(8, name) for name in (*names, *formulas)}
    W = np.arange(24.0).reshape(2, 12) / 8
    more = {
        "gaussian rows": gs.Network(8, "relu", rows="gaussian"),
        "rademacher": gs.Network(8, "relu", second_layer="rademacher", scale="1/p"),
        "constant": gs.Network(8, "relu", second_layer="constant", scale="1"),
        "symmetric": gs.Network(8, "relu", symmetric=True),
        "centred": gs.Network(8, "relu", centred=True),
        "all of it": gs.Network(8, "relu", "gaussian", "rademacher", "1/p", True, True),
        "own weights": gs.Network(2, "tanh", weights=(W, [1.0, -0.5])),
        "one neuron": gs.Network(1, "relu"),
    }
    return varied("network", "network", {**plain, **more})


def protocols() -> list[Named]:
    """Steps, batches and readouts."""
    again = gs.GiantStep(None, 1.0, "reuse")
    return varied(
        "protocol",
        "protocol",
        {
            "nothing": gs.Protocol(),
            "no step": gs.Protocol((), RIDGE),
            "no readout": gs.Protocol((STEP,)),
            "several eta": gs.Protocol(gs.GiantStep(40, [0.0, 0.5, 4.0]), RIDGE),
            "power of n": gs.Protocol(gs.GiantStep(40, gs.power(0.5)), RIDGE),
            "power of d": gs.Protocol(gs.GiantStep(40, gs.power(0.5, of="d", times=3.0)), RIDGE),
            "powers of p": gs.Protocol(gs.GiantStep(40, gs.power([0.0, 1.0], "p")), RIDGE),
            "full residual": gs.Protocol(gs.GiantStep(40, 2.0, residual="full"), RIDGE),
            "rank one": gs.Protocol(gs.GiantStep(40, 2.0, update="rank1"), RIDGE),
            "deflate 1": gs.Protocol(
                gs.GiantStep(40, 2.0, deflate=1), gs.Ridge(30, 0.125, deflate=1)
            ),
            "deflate 2": gs.Protocol(
                gs.GiantStep(40, 2.0, deflate=2), gs.Ridge(30, 0.125, deflate=2)
            ),
            "two steps": gs.Protocol((STEP, gs.GiantStep(20, 1.0, residual="full")), RIDGE),
            "two steps, one batch": gs.Protocol((STEP, again), RIDGE),
            "three steps": gs.Protocol((STEP, again, gs.GiantStep(10, [0.5, 1.0])), RIDGE),
            "batch reused": gs.Protocol((STEP,), gs.Ridge(None, 0.125, "reuse")),
            "batch reused by SGD": gs.Protocol((STEP,), gs.SGD(None, 0.5, batch="reuse")),
            "gcv": gs.Protocol((STEP,), gs.Ridge(30, "gcv")),
            "least norm": gs.Protocol((STEP,), gs.Ridge(30, 0)),
            "path": gs.Protocol((STEP,), gs.Ridge(30, [0.125, 1.0, 8.0])),
            "SGD": gs.Protocol((STEP,), gs.SGD(30, 0.5)),
            "SGD, rates": gs.Protocol(
                (STEP,), gs.SGD(30, [0.25, 0.5], decay=0.5, average=False, passes=3)
            ),
            "grid": gs.Protocol(gs.GiantStep(40, [0.0, 1.0]), gs.Ridge(30, [0.125, 1.0])),
        },
    )


def together() -> list[Named]:
    """Several options at once."""
    network = gs.Network(8, "tanh(x+0.75)", scale="1/p", second_layer="rademacher", symmetric=True)
    steps = (gs.GiantStep(40, gs.power(0.5), deflate=1), gs.GiantStep(None, 0.5, "reuse"))
    spiked = gs.Mixture(
        12, (gs.Component(0.75, (gs.Spike(2.0, "x1"),)), gs.Component(0.25)), 1, "exact"
    )
    found = {
        "Gaussian": gs.Setting(
            GAUSSIAN, TARGET, network, gs.Protocol(steps, gs.Ridge(None, "gcv", "reuse"))
        ),
        "mixture": gs.Setting(spiked, "x1 | -x1", network, gs.Protocol(steps, gs.SGD(30, 0.5))),
    }
    return [(f"together: {name}", setting) for name, setting in found.items()]


def content() -> dict[str, Any]:
    """Of every setting its id and its JSON."""
    made = settings().items()
    return {name: {"id": each.id, "json": json.loads(each.to_json())} for name, each in made}


def write() -> None:
    """Freeze the ids and files."""
    written.write("settings", content())
