"""The figure of a scene as plain data: two axes, marks in every frame, and a sentence that says what the frame shows.

A mark is a line, a band, dots with error bars, bars, wedges on the axis, a level, an upright line, or the trails of neurons. The
page's script draws them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Mark = dict[str, Any]
DIGITS = 4


def figure(x: Mark, y: Mark, frames: Sequence[Mark]) -> Mark:
    """The axes and the frames; an end of an axis that is not given is where the marks of all frames end."""
    marks = [mark for each in frames for mark in each["marks"]]
    return {"x": _filled(x, marks, ("x",)), "y": _filled(y, marks, ("y", "high")), "frames": list(frames)}


def _filled(one: Mark, marks: Sequence[Mark], keys: Sequence[str]) -> Mark:
    values = [v for mark in marks for key in keys for v in mark.get(key, ()) if v is not None]
    if "y" in keys:  # error bars stay inside
        measured = [pair for mark in marks if "error" in mark for pair in zip(mark["y"], mark["error"], strict=True)]
        values += [y + side * error for y, error in measured if None not in (y, error) for side in (-1, 1)]
    room = 0.05 * (max(values) - min(values)) if values else 0.0
    ends = {"min": one["min"], "max": one["max"]}
    ends |= {"min": float(f"{min(values) - room:.2g}")} if one["min"] is None else {}
    ends |= {"max": float(f"{max(values) + room:.3g}")} if one["max"] is None else {}
    return {**one, **ends}


def axis(
    label: str, least: float | None = None, most: float | None = None, *, log: bool = False, names: Sequence[str] = ()
) -> Mark:
    """An axis; ``names`` stand at 0, 1, 2, ... in the place of numbers."""
    return {"label": label, "min": least, "max": most, "log": log, "names": list(names)}


def frame(marks: Iterable[Mark], words: str) -> Mark:
    """What is drawn, and what it says in words."""
    return {"marks": list(marks), "words": words}


def line(x: Any, y: Any, name: str, ink: int = 0, *, dashed: Any = None) -> list[Mark]:
    """A predicted curve; it is dashed where ``dashed`` holds at either end of a piece."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if dashed is None or not np.any(dashed):
        return [_mark("line", name, ink, x=x, y=y)]
    solid = ~np.asarray(dashed)
    last = int(np.max(np.flatnonzero(solid), initial=0))  # trust ends once, at large steps
    marks = [_mark("line", name, ink, x=x[: last + 1], y=y[: last + 1])] if last else []
    return [*marks, _mark("line", f"{name}, less sure", ink, x=x[last:], y=y[last:], dashed=True)]


def band(x: Any, low: Any, high: Any, ink: int = 0) -> Mark:
    """Where a prediction may be."""
    return _mark("band", "", ink, x=x, y=low, high=high)


def dots(x: Any, y: Any, error: Any, name: str, ink: int = 0, *, hollow: bool = False) -> Mark:
    """Measured values with their standard errors."""
    return _mark("dots", name, ink, x=x, y=y, error=error, hollow=hollow)


def bars(edges: Any, heights: Any, name: str, ink: int = 0) -> Mark:
    """A histogram: the ends of its bins and their heights."""
    return _mark("bars", name, ink, x=edges, y=heights)


def wedges(x: Any, name: str, ink: int = 1) -> Mark:
    """Triangles on the x axis."""
    return _mark("wedges", name, ink, x=x)


def level(y: float, name: str, ink: int = 2) -> Mark:
    """A dashed line across."""
    return _mark("level", name, ink, y=[y])


def upright(x: Any, name: str, ink: int = 1) -> Mark:
    """Dashed lines upwards."""
    return _mark("upright", name, ink, x=x)


def trails(paths: Any, name: str, ink: int = 0) -> Mark:
    """Paths of neurons, (neurons, steps, 2), with a dot at the end of each."""
    return _mark("trails", name, ink, paths=np.asarray(paths))


def _mark(kind: str, name: str, ink: int, **values: Any) -> Mark:
    plain = {key: value if isinstance(value, bool) else _rounded(value) for key, value in values.items()}
    return {
        "kind": kind,
        "name": name,
        "ink": ink,
        **{key: value for key, value in plain.items() if value is not False},
    }


def _rounded(values: Any) -> Any:
    """Plain numbers with as many digits as a picture shows."""
    if isinstance(values, np.ndarray | list | tuple):
        return [_rounded(each) for each in values]
    return None if values is None or not np.isfinite(values) else float(f"{float(values):.{DIGITS}g}")
