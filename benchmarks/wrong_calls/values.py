"""What people give by mistake, and worse; each is made anew for every call."""

import datetime
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import giantstep as gs


class Mute:
    """It cannot show itself."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoArray:
    """It says that it is an array, and is none."""

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise RuntimeError("no array")


class NoEntries:
    """It cannot be gone through."""

    def __iter__(self) -> Any:
        raise RuntimeError("no entries")


def ragged() -> list[list[float]]:
    return [[1.0], [2.0, 3.0]]


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "empty text": str,
    "text": lambda: "x",
    "text False": lambda: "False",
    "text no": lambda: "no",
    "text 3": lambda: "3",
    "long text": lambda: "x" * 100_000,
    "long number": lambda: "1" * 5_000,
    "null character": lambda: "a\0b",
    "bytes": lambda: b"x",
    "True": lambda: True,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "-1": lambda: -1,
    "0": lambda: 0,
    "-3.5": lambda: -3.5,
    "2.5": lambda: 2.5,
    "2**63": lambda: 2**63,
    "10**400": lambda: 10**400,
    "1e308": lambda: 1e308,
    "complex": lambda: 1j,
    "decimal nan": lambda: Decimal("nan"),
    "fraction": lambda: Fraction(1, 3),
    "uint64": lambda: np.uint64(2**64 - 1),
    "float32 nan": lambda: np.float32("nan"),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(3, "D"),
    "date": lambda: datetime.date(2020, 1, 1),
    "empty list": list,
    "empty tuple": tuple,
    "empty table": dict,
    "table": lambda: {"a": 1},
    "table of numbers": lambda: {1: 2},
    "set": lambda: {1, "a"},
    "lists": lambda: [[1, 2], [3, 4]],
    "ragged lists": ragged,
    "list with None": lambda: [1.0, None],
    "list with text": lambda: [1.0, "a"],
    "list with nan": lambda: [1.0, math.nan],
    "huge list": lambda: [10**400, 1],
    "list twice": lambda: [1, 1],
    "object": object,
    "class": lambda: int,
    "class of arrays": lambda: np.ndarray,
    "module": lambda: math,
    "function": lambda: len,
    "lambda": lambda: lambda *a, **k: (_ for _ in ()).throw(RuntimeError("from the user")),
    "exception": lambda: ValueError("x"),
    "ellipsis": lambda: ...,
    "slice": lambda: slice(3),
    "path": lambda: Path("/nonexistent/folder/file"),
    "generator": lambda: (x for x in (1, 2)),
    "endless": itertools.count,
    "endless texts": lambda: itertools.repeat("a"),
    "map": lambda: map(str, (1, 2)),
    "masked": lambda: np.ma.masked,
    "masked number": lambda: np.ma.array(3, mask=True),
    "masked entries": lambda: np.ma.array([1.0, 2.0], mask=[False, True]),
    "array of texts": lambda: np.array(["a", "b"]),
    "array of no axes": lambda: np.array(3),
    "array of objects": lambda: np.array([object(), None]),
    "array of dates": lambda: np.array(["2020-01-01"], dtype="M8[D]"),
    "array of complex": lambda: np.array([1j, 2.0]),
    "empty array": lambda: np.array([]),
    "array": lambda: np.array([1.0, 2.0]),
    "array with nan": lambda: np.array([1.0, math.nan]),
    "array with inf": lambda: np.array([[1.0, math.inf], [0.0, 1.0]]),
    "cube": lambda: np.zeros((2, 2, 2)),
    "zeros": lambda: np.zeros((3, 3)),
    "records": lambda: np.zeros(2, dtype=[("a", float)]),
    "mute": Mute,
    "list of mute": lambda: [Mute()],
    "no array": NoArray,
    "no entries": NoEntries,
    "a setting": lambda: gs.presets.mei_montanari(n=20, d=10, N=8, penalty=0.1),
    "a network": lambda: gs.Network(8, "relu"),
    "a Gaussian": lambda: gs.Gaussian(5),
    "a target": lambda: gs.target("x1"),
    "a step": lambda: gs.GiantStep(20, 1.0),
    "a system": lambda: gs.Attack(d=5, width=8, networks=2),
    "a verb": lambda: gs.simulate,
}
