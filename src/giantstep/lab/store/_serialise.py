"""Turn plain data with arrays into bytes and back. There is no pickle, so a file of unknown origin cannot run code."""

import base64
import json
import zlib
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.lab.store._packed import from_npy, inflated, to_npy

MOST = 2**28  # bytes of a record as text
_ARRAY = "\u0000array"  # a key that no other table has


def dumps(value: Any) -> bytes:
    """Encode text, numbers, true and false, None, NumPy arrays, and lists and tables of these; tuples become lists."""
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")).encode()
    if len(text) > MOST:
        raise InputError(f"a record may have at most {MOST} bytes, not {len(text)}")
    return zlib.compress(text, 1)


def loads(data: bytes) -> Any:
    """Decode what ``dumps`` encoded; bytes that were changed raise ``zlib.error`` or ``ValueError``."""
    return _back(json.loads(inflated(data, MOST)))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return {_ARRAY: base64.b64encode(to_npy(value)).decode()}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise InputError(f"a record can hold plain data and arrays, not {type(value).__name__}")


def _back(value: Any) -> Any:
    if isinstance(value, list):
        return [_back(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_ARRAY}:
        return from_npy(base64.b64decode(value[_ARRAY]))
    return {key: _back(item) for key, item in value.items()}
