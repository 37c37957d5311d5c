"""Setting: data + target + network + protocol, described once; frozen, hashable, saved as TOML or JSON."""

import json
import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from giantstep._given import unwritten
from giantstep._given.declared import a_path, given, text
from giantstep._given.plain import build, choice, identifier
from giantstep._shown import html
from giantstep.errors import InputError
from giantstep.experiment import _fit_target as fit_target
from giantstep.experiment import _words as words
from giantstep.experiment import network as _network
from giantstep.experiment._change import change
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.network import Network
from giantstep.experiment.protocol import Protocol
from giantstep.experiment.target import Target, target


@given()
@dataclass(frozen=True, repr=False)
class Setting:
    """One experiment: what ``simulate`` takes. ``target`` may be given as a formula.

    Examples:
        >>> s = gs.Setting(
        ...     data=gs.Gaussian(d=40),
        ...     target="x1 + H2(x1)",
        ...     network=gs.Network(width=60, activation="relu"),
        ...     protocol=gs.Protocol((gs.GiantStep(n=80, eta=2.0),), gs.Ridge(n=80, penalty=0.1)),
        ... )
        >>> s.d, s.p, s.target.rank
        (40, 60, 1)
        >>> gs.Setting.from_toml(s.to_toml()) == s
        True
    """

    data: Gaussian | Mixture | Dataset
    target: Target
    network: Network
    protocol: Protocol

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self, data: Gaussian | Mixture | Dataset, target: Target | str, network: Network, protocol: Protocol
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.target, str):
            object.__setattr__(self, "target", target(self.target))
        if not isinstance(self.data, Gaussian | Mixture | Dataset):
            raise InputError(f"data must be a Gaussian, a Mixture or a Dataset, not {type(self.data).__name__}")
        for name, kind in (("target", Target), ("network", Network), ("protocol", Protocol)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} must be a {kind.__name__}, not {type(getattr(self, name)).__name__}")
        if self.target.of_data:
            object.__setattr__(self, "target", _with_direction(self.target, self.data))
        self.target.check_dimension(self.data.d)
        self._check_mixture()
        own = self.network.weights
        if own is not None and own.W.shape[1] != self.data.d:
            raise InputError(f"the network's weights have {own.W.shape[1]} inputs but the data d = {self.data.d}")
        if self.protocol.steps and self.network.activation.jumps:
            name = self.network.activation.name
            raise InputError(f"a giant step on {name!r} is refused: sign and step have no useful gradient")

    def _check_mixture(self) -> None:
        mixed, formulas = not isinstance(self.data, Gaussian), self.target.components
        count = 1 if isinstance(self.data, Gaussian) else len(self.data.components)
        if formulas > 1 and formulas != count:
            raise InputError(f"the target has formulas for {formulas} components but the data {count}")
        readout = self.protocol.readout
        if mixed and max([s.deflate for s in self.protocol.steps] + [readout.deflate if readout else 0]) > 1:
            raise InputError(
                "deflate = 2 takes X^T y / n for the linear part of the labels, which is so for Gaussian data only"
            )
        if self.network.rows == "trace" and not mixed:
            raise InputError(
                "rows='trace' is for a Mixture or a Dataset; for Gaussian data it would be rows='gaussian'"
            )

    @cached_property
    def length(self) -> float:
        """The factor on the target's directions: the value of its scale."""
        return 1.0 if self.target.scale == "1" else self.data.spread**-0.5

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.data.d

    @property
    def p(self) -> int:
        """Width."""
        return self.network.width

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits that depend on the content alone."""
        target = self.target.to_plain()  # a callable refuses here, in its own sentence, or has a name for a while
        formula = {**target, "formula": self.target.canonical or target["formula"]}
        data = {key: value for key, value in self.data.to_plain().items() if key != "path"}
        return identifier(
            {**self.to_plain(), "data": data, "target": formula, "network": _network.canonical(self.network)}
        )

    @given()
    def with_(self, **changes: Any) -> "Setting":
        """The same setting with some fields changed: ``s.with_(eta=30.0, n=2000, activation="tanh")``.

        A name changes every field that is called so, as in a sweep: ``n`` is the batch of every step and of the readout,
        ``eta`` the size of every step, ``p`` the width. ``data``, ``target``, ``network`` and ``protocol`` change whole parts.
        """
        return change(self, changes)

    def __repr__(self) -> str:
        inside = "\n".join(f"  {name + ':':<9}{text}" for name, text in words.lines(self))
        return f"Setting(\n{inside}\n)"

    def _repr_html_(self) -> str:
        return html.block("Setting", html.table((), words.lines(self), "left"))

    def to_plain(self) -> dict[str, Any]:
        return {
            "data": self.data.to_plain(),
            "target": self.target.to_plain(),
            "network": self.network.to_plain(),
            "protocol": self.protocol.to_plain(),
        }

    @staticmethod
    @given()
    def from_plain(data: Any) -> "Setting":
        """A Setting from plain data, as read from TOML or JSON."""
        inner = {
            "data": _data_from_plain,
            "target": _target_from_plain,
            "network": Network.from_plain,
            "protocol": Protocol.from_plain,
        }
        return build(Setting, data, "setting", inner)

    def to_json(self) -> str:
        return json.dumps(self.to_plain(), indent=2, allow_nan=False)

    @staticmethod
    @given(text=text)
    def from_json(text: str) -> "Setting":
        return Setting.from_plain(_loads_json(text))

    def to_toml(self) -> str:
        return tomli_w.dumps(without_none(self.to_plain()))

    @staticmethod
    @given(text=text)
    def from_toml(text: str) -> "Setting":
        return Setting.from_plain(_loads_toml(text))

    @given(path=a_path)
    def save(self, path: str | Path) -> None:
        """Write to a .toml or .json file."""
        text = self.to_json() if _suffix(path) == ".json" else self.to_toml()
        Path(path).write_text(text, encoding="utf-8")

    @staticmethod
    @given(path=a_path)
    def read(path: str | Path) -> "Setting":
        """Read from a .toml or .json file."""
        data = read_plain(path)
        try:
            return Setting.from_plain(data)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def read_plain(path: str | Path, what: str = "a setting") -> Any:
    """Read the plain data of a .toml or .json file; ``what`` names it in the sentence that refuses other files."""
    suffix = _suffix(path, what)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
    try:
        return _loads_json(text) if suffix == ".json" else _loads_toml(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _loads_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        raise InputError(f"not valid JSON: {_one_line(error)}") from None


def _loads_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid TOML: {_one_line(error)}") from None


def _suffix(path: str | Path, what: str = "a setting") -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise InputError(f"{what} is a .toml or .json file, not {str(path)!r}")
    return suffix


def _with_direction(target: Target, data: Any) -> Target:
    """The target "y" with the direction of least squares, unless it has one."""
    if not isinstance(data, Dataset) or not data.regression:
        raise InputError("the target 'y' is the labels of the data: it needs data=gs.Dataset((X, y)) with real labels")
    if target.directions is not None:
        return target
    direction = fit_target.direction(data.split()[0], data.source.values)
    return replace(target, directions=(tuple(direction.tolist()),))


def need_gaussian(setting: Setting, who: str) -> None:
    """Refuse data that are not N(0, I)."""
    if not isinstance(setting.data, Gaussian):
        raise InputError(f"{who} covers isotropic Gaussian data only: simulate(setting, method='dense') takes others")


def _data_from_plain(data: Any, where: str) -> Gaussian | Mixture | Dataset:
    law = "gaussian"
    if isinstance(data, dict):
        law = choice(data.get("law", law), ("gaussian", "mixture", "dataset"), f"{where}.law")
        data = {k: v for k, v in data.items() if k != "law"}
    if law == "gaussian":
        return build(Gaussian, data, where)
    return (Mixture if law == "mixture" else Dataset).from_plain(data, where)


def _target_from_plain(data: Any, where: str) -> Target:
    if isinstance(data, str):
        data = {"formula": data}
    if isinstance(data, dict) and "function" in data:
        raise InputError(f"{where}.function cannot be read from a file; give a formula")
    function = unwritten.meant(data.get("formula")) if isinstance(data, dict) else None
    return build(Target, data if function is None else {**data, "formula": None, "function": function}, where)


def without_none(value: Any) -> Any:
    """TOML has no null: a field that is None is left out."""
    if isinstance(value, dict):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    return [without_none(v) for v in value] if isinstance(value, list) else value


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
