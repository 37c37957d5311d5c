"""Subjects: which outcomes are about the same setting, and a name for each setting that says how it differs from the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from giantstep.errors import InputError
from giantstep.experiment._header import header, one_n
from giantstep.experiment.setting import Setting
from giantstep.plot.formula import formula
from giantstep.results.outcome import Outcome

MOST = 3  # differences that a name lists


@dataclass(frozen=True)
class Subjects:
    """The names, and for every outcome the place of its name.

    ``marks`` are the labels of the outcomes, if they say what the marks of a setting are and not what its colour is.
    """

    names: tuple[str, ...]
    of: tuple[int, ...]
    marks: tuple[str, ...] | None = None

    def label(self, i: int, penalty: float | None) -> str:
        """The label of one curve of an outcome."""
        name = self.marks[i] if self.marks else self.names[self.of[i]]
        return name if penalty is None else f"{name}, λ = {penalty:.3g}"


def subjects(
    outcomes: Sequence[Outcome], labels: Sequence[str] | None = None, kinds: Sequence[str] | None = None
) -> Subjects:
    """Group outcomes by their settings, the lists along the x axis and of the penalties aside; or by the labels given.

    Labels that differ between the ``kinds`` of outcome of one setting name its marks: theory has the colour of its dots.
    """
    bases = [_base(o) for o in outcomes]
    different = _distinct(bases)
    of = tuple(next(i for i, each in enumerate(different) if each == base) for base in bases)
    if labels is None:
        return Subjects(_names(different), of)
    if kinds is not None and len(labels) == len(outcomes) > len(different):
        alone = len(set(zip(of, kinds, strict=True)))  # one outcome of every kind for a setting
        if alone == len(set(labels)) == len(outcomes):
            return Subjects(_names(different), of, tuple(labels))
    if len(labels) == len(outcomes):
        names = tuple(dict.fromkeys(labels))
        return Subjects(names, tuple(names.index(each) for each in labels))
    if len(labels) != len(different):
        raise InputError(f"labels needs {len(outcomes)} names, one for each outcome, not {len(labels)}")
    return Subjects(tuple(labels), of)


def _base(o: Outcome) -> Setting:
    """The setting with one step size and one penalty in the place of lists."""
    protocol = o.setting.protocol
    steps = tuple(replace(step, eta=0.0) if step.listed else step for step in protocol.steps)
    readout = protocol.readout
    if readout is not None and isinstance(readout.path, tuple):
        readout = replace(readout, **{readout.axis: 1.0})
    return replace(o.setting, protocol=replace(protocol, steps=steps, readout=readout))


def _distinct(bases: Sequence[Setting]) -> list[Setting]:
    found: list[Setting] = []
    for base in bases:
        if base not in found:
            found.append(base)
    return found


def _names(settings: Sequence[Setting]) -> tuple[str, ...]:
    if len(settings) == 1:
        return ("",)
    numbered = tuple(f"setting {i + 1}" for i in range(len(settings)))
    try:
        tables = [dict(_leaves(s.to_plain())) for s in settings]
    except InputError:  # a callable cannot be written down
        return numbered
    paths = list(dict.fromkeys(path for table in tables for path in table))
    moving = [path for path in paths if len({str(table.get(path)) for table in tables}) > 1]
    batches = [path for path in moving if path.rpartition(".")[2] in ("n", "batch")]
    others = [path for path in moving if path not in batches]
    if len(others) + bool(batches) > MOST:
        return numbered
    named = _batches(settings, batches)
    names = tuple(
        ", ".join([*said, *(_difference(path.rpartition(".")[2], table.get(path)) for path in others)])
        for said, table in zip(named, tables, strict=True)
    )
    return names if len(set(names)) == len(names) else numbered


def _batches(settings: Sequence[Setting], moving: Sequence[str]) -> list[list[str]]:
    """For each setting what its batches are, as far as they differ."""
    if not moving:
        return [[] for _ in settings]
    if all(one_n(s.protocol) for s in settings):
        return [[f"n = {s.protocol.readout_size}"] for s in settings]
    parts = [header(s, alike=True) for s in settings]
    differing = [name for name in ("steps", "readout") if len({each[name] for each in parts}) > 1]
    return [[each[name] for name in differing] for each in parts]


def _difference(name: str, value: Any) -> str:
    shown = "default" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return formula(shown) if name in ("activation", "formula") else f"{name} = {shown}"


def _leaves(plain: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from _leaves(value, f"{path}.{key}")
    elif isinstance(plain, list) and any(isinstance(each, dict) for each in plain):
        for i, each in enumerate(plain):
            yield from _leaves(each, f"{path}.{i}")
    else:
        yield path, plain
