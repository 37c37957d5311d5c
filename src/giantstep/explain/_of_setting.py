"""The batch, width, steps, reuse and activation that a setting has, as an explanation names them."""

import math
from typing import Any

from giantstep.errors import InputError, quoted
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.setting import Setting
from giantstep.explain._case import MAX_EXPONENT, exponent
from giantstep.functions.activation import activation


def arguments(setting: Setting, given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments of an explanation of a setting, and notes on what it leaves out; ``given`` ones that say otherwise, and are
    not None, are refused."""
    if not isinstance(setting.data, Gaussian):
        raise InputError(
            "an explanation is for isotropic Gaussian data, and this setting has others: "
            "gs.explain(s.target) explains the target as if it had them"
        )
    if setting.d < 2:
        raise InputError("at d = 1 no batch is a power of d: gs.explain(s.target, batch='d') says which one is meant")
    batch, sizes = _batch(setting)
    reuse = _reuse(setting)
    sigma = setting.network.activation
    own: dict[str, Any] = {
        "batch": batch,
        "width": power(setting.p, setting.d),
        "steps": len(setting.protocol.steps),
        "reuse": reuse,
        "activation": sigma,
    }
    for name, value in given.items():
        if value is not None and not _same(name, value, own[name]):
            said = sigma.name if name == "activation" else own[name]
            raise InputError(
                f"the setting says {name} = {said!r}, not {quoted(value)}: leave {name} out, or explain s.target"
            )
    notes = [_sizes(setting, sizes, batch, own["width"]), *_readout(setting, batch)]
    if reuse:
        own["activation"] = None
        notes.append(f"The activation {sigma.name} is left out: there is no theory of an activation on a reused batch.")
    return own, notes


def power(size: int, d: int) -> str:
    """The nearest half power of d: ``d`` for 2d and for d/2 at d = 100, ``d^1.5`` for 1000."""
    e = min(round(2 * math.log(size) / math.log(d)) / 2, MAX_EXPONENT)
    return {0.0: "1", 1.0: "d"}.get(e, f"d^{e:g}")


def _batch(setting: Setting) -> tuple[str, list[int]]:
    """The batch of every step, or of the readout where there is no step, and its sizes."""
    protocol = setting.protocol
    sizes = [step.n for step in protocol.steps if step.n is not None]
    if not sizes and protocol.readout is not None and protocol.readout.n is not None:
        sizes = [protocol.readout.n]
    if not sizes:
        raise InputError("the setting has neither steps nor a readout: gs.explain(s.target) explains its target")
    powers = list(dict.fromkeys(power(n, setting.d) for n in sizes))
    if len(powers) > 1:
        raise InputError(
            f"the steps have batches of {' and '.join(powers)}, and an explanation has one: gs.explain(s.target, batch=...)"
        )
    return powers[0], list(dict.fromkeys(sizes))


def _reuse(setting: Setting) -> bool:
    later = {step.batch == "reuse" for step in setting.protocol.steps[1:]}
    if len(later) > 1:
        raise InputError(
            "some steps reuse a batch and others take a fresh one, and in an explanation all do or none does: "
            "gs.explain(s.target, reuse=...)"
        )
    return later == {True}


def _same(name: str, value: Any, own: Any) -> bool:
    if name in ("batch", "width"):
        return exponent(value, name) == exponent(own, name)
    return activation(value) == own if name == "activation" else value == own


def _sizes(setting: Setting, sizes: list[int], batch: str, width: str) -> str:
    n = " and ".join(map(str, sizes))
    return (
        f"At d = {setting.d}, n = {n} is read as {batch} and p = {setting.p} as {width}, the nearest half powers of d."
    )


def _readout(setting: Setting, batch: str) -> list[str]:
    readout = setting.protocol.readout
    if readout is None or readout.n is None or power(readout.n, setting.d) == batch:
        return []
    own = power(readout.n, setting.d)
    return [f"The readout has n = {readout.n}, which is {own}. The floors are those of a readout on {batch}."]
