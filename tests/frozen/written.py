"""Frozen data as text, and where what is found now departs from it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MOST = 30  # lines that a failure shows


def read(name: str) -> Any:
    """The frozen data of this name."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write(name: str, data: Any) -> None:
    """Freeze data under a name."""
    (FOLDER / f"{name}.json").write_text(_text(data) + "\n", encoding="utf-8")


def _text(data: Any, margin: str = "") -> str:
    """JSON with a line for every key and every list of numbers, so that a change is one line."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if not isinstance(data, dict | list) or not data or len(margin) + len(line) <= 100:
        return line
    if isinstance(data, list) and not any(isinstance(each, dict | list) for each in data):
        return line
    inner = margin + " "
    if isinstance(data, list):
        parts = [_text(each, inner) for each in data]
    else:
        keys = [json.dumps(key, ensure_ascii=False) for key in data]
        values = [_text(each, inner) for each in data.values()]
        parts = [f"{key}: {value}" for key, value in zip(keys, values, strict=True)]
    left, right = "[]" if isinstance(data, list) else "{}"
    return f"{left}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{right}"


def assert_same(frozen: Any, found: Any, relative: float = 0.0) -> None:
    """Fail with the places where two JSON values differ."""
    lines = differences(frozen, found, relative)
    assert not lines, "\n".join(["what is frozen has changed:", *lines[:MOST]])


def differences(frozen: Any, found: Any, relative: float = 0.0, where: str = "") -> list[str]:
    """A line for every place where two JSON values differ.

    Keys, types and texts must be equal, and numbers up to a share ``relative`` of them, or of the
    largest one of their list.
    """
    return list(_differing(frozen, found, relative, where, 0.0))


def _differing(
    frozen: Any, found: Any, relative: float, where: str, largest: float
) -> Iterator[str]:
    if type(frozen) is not type(found):
        yield f"{where}: {_short(frozen)} was a {type(frozen).__name__}, now {_short(found)}"
    elif isinstance(frozen, dict):
        for key in frozen.keys() | found.keys():
            if key not in found or key not in frozen:
                yield f"{where}.{key} is {'gone' if key in frozen else 'new'}"
            else:
                yield from _differing(frozen[key], found[key], relative, f"{where}.{key}", 0.0)
    elif isinstance(frozen, list):
        if len(frozen) != len(found):
            yield f"{where} had {len(frozen)} entries, now {len(found)}"
            return
        largest = max([largest, *(abs(each) for each in frozen if isinstance(each, float))])
        for i, (one, other) in enumerate(zip(frozen, found, strict=True)):
            yield from _differing(one, other, relative, f"{where}[{i}]", largest)
    elif isinstance(frozen, float):
        if not math.isclose(frozen, found, rel_tol=relative, abs_tol=relative * largest):
            yield f"{where}: {frozen!r} is now {found!r}"
    elif frozen != found:
        yield f"{where}: {_short(frozen)} is now {_short(found)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}..."
