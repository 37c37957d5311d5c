"""change(setting, changes): the same setting with some fields changed, by the short names that sweeps use."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from giantstep.errors import InputError, hint
from giantstep.experiment.protocol import Power

if TYPE_CHECKING:
    from giantstep.experiment.setting import Setting

_PARTS = ("data", "target", "network", "protocol")
_OTHER_NAMES = {"p": "width"}


def change(setting: "Setting", changes: Mapping[str, Any]) -> "Setting":
    """A name changes every field that is called so: ``n`` is the batch of every step and of the readout, ``p`` the width."""
    wanted = {_OTHER_NAMES.get(name, name): value for name, value in changes.items()}
    if len(wanted) < len(changes):
        raise InputError("p and width are the same field: give one of them")
    whole = {name: wanted.pop(name) for name in _PARTS if name in wanted}
    base = replace(setting, **whole)
    known = dict.fromkeys(name for noun in _nouns(base) for name in _names(noun))
    if any(isinstance(wanted.get("eta", step.eta), Power) for step in base.protocol.steps):
        known["alpha"] = None  # the exponent of a step size that is a power
    elif "alpha" in wanted:
        raise InputError("alpha is the exponent of a step size that is a power, as in eta=gs.power(0.3)")
    for name in wanted:
        if name not in known:
            raise InputError(f"the setting has no field {name!r}{hint(name, [*known, *_PARTS])}")
    protocol = replace(
        base.protocol,
        steps=tuple(_changed(step, wanted) for step in base.protocol.steps),
        readout=_changed(base.protocol.readout, wanted),
    )
    parts = {name: _changed(getattr(base, name), wanted) for name in ("data", "target", "network")}
    return replace(base, **parts, protocol=protocol)


def _nouns(setting: "Setting") -> tuple[Any, ...]:
    return (setting.data, setting.target, setting.network, *setting.protocol.steps, setting.protocol.readout)


def _names(noun: Any) -> list[str]:
    return [each.name for each in fields(noun) if each.init] if is_dataclass(noun) else []


def _changed(noun: Any, wanted: Mapping[str, Any]) -> Any:
    own = {name: wanted[name] for name in _names(noun) if name in wanted}
    eta = own.get("eta", getattr(noun, "eta", None))
    if isinstance(eta, Power) and "alpha" in wanted:
        own["eta"] = replace(eta, alpha=wanted["alpha"])
    return replace(noun, **own) if own else noun
