"""An array as bytes: a .npy file in a zlib stream, whose checksum tells whether the bytes are those that were written.

Measured digits do not shrink, and a compressor takes longer to start than to copy a small array. So the stream of a small array
is written by hand: one stored block (RFC 1951) in the frame of RFC 1950. Every reader of zlib reads it.
"""

import io
import math
import struct
import zlib
from functools import lru_cache
from typing import Literal

import numpy as np

from giantstep._machine.memory import GIB, budget

SMALL = 16_384  # bytes up to which nothing is compressed; one stored block holds 65535
_FRAME = 10  # bytes before the text of a .npy file's head: magic, version and the length of the text
_WHOLE = 2 * SMALL  # bytes of a stream that are read before its head is; small arrays are whole
_COPIES = 3  # of the bytes of a large array: the stream's, these joined, and the array
SAMPLE = 1024  # bytes that tell whether a larger array shrinks


def packed(array: np.ndarray) -> bytes:
    """The array as bytes; a large one is compressed quickly if that is of use."""
    if array.nbytes <= SMALL:
        head, checksum = _head(array.dtype, array.shape)
        body = array.tobytes()
        return head + body + zlib.adler32(body, checksum).to_bytes(4, "big")
    data = to_npy(array)
    return zlib.compress(data, 1 if len(zlib.compress(data[:SAMPLE], 1)) < 0.8 * SAMPLE else 0)


def unpacked(data: bytes) -> np.ndarray:
    """The array of ``packed``; bytes that were changed raise ``zlib.error`` or ``ValueError``.

    A stream may promise little and hold much: no more is read than the shape and the type in its head
    need.
    """
    stream = zlib.decompressobj()
    first = stream.decompress(data, _WHOLE)
    if stream.eof:
        return from_npy(first)
    start, shape, dtype, _ = _described(first)
    size = start + dtype.itemsize * math.prod(shape)
    if _COPIES * size > (allowed := budget(None)):
        needed, there = (f"{number / GIB:.3g} GiB" for number in (_COPIES * size, allowed))
        raise ValueError(f"it needs {needed} of memory and {there} may be used")
    rest = stream.decompress(stream.unconsumed_tail, max(size - len(first), 0) + 1)
    if not stream.eof or len(first) + len(rest) != size:
        raise ValueError("its stream has another length than its head says")
    return from_npy(first + rest)


def inflated(data: bytes, most: int) -> bytes:
    """The bytes of a zlib stream, of which there may be ``most``."""
    stream = zlib.decompressobj()
    found = stream.decompress(data, most + 1)
    if len(found) > most or not stream.eof:
        raise ValueError(f"its stream is cut short, or has more than {most} bytes")
    return found


def to_npy(array: np.ndarray) -> bytes:
    """The bytes of a .npy file of version 1.0."""
    return _header(array.dtype, array.shape) + array.tobytes()


def from_npy(data: bytes) -> np.ndarray:
    """The array of a .npy file of version 1.0."""
    start, shape, dtype, order = _described(data)
    if len(data) != start + dtype.itemsize * math.prod(shape):
        raise ValueError("it has another length than its head says")
    return np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape, order=order).copy()


def _described(data: bytes) -> tuple[int, tuple[int, ...], np.dtype, Literal["C", "F"]]:
    """Where the numbers begin, their shape and type, and the order of their axes."""
    start = _FRAME + int.from_bytes(data[_FRAME - 2 : _FRAME], "little")
    return (start, *_kind(data[:start]))


@lru_cache(maxsize=256)
def _kind(head: bytes) -> tuple[tuple[int, ...], np.dtype, Literal["C", "F"]]:
    """What a head says. NumPy reads it as Python, which takes longer than to copy a small array."""
    file = io.BytesIO(head)
    try:
        np.lib.format.read_magic(file)
        shape, columns_first, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as problem:  # the head may be any bytes, and is read by Python's own tokenizer
        raise ValueError(f"its head cannot be read ({type(problem).__name__})") from None
    if dtype.hasobject or any(n < 0 for n in shape):
        raise ValueError("its head describes no array of numbers")
    return shape, dtype, "F" if columns_first else "C"


@lru_cache(maxsize=256)
def _header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The head of a .npy file of version 1.0, rows first."""
    if dtype.hasobject:
        raise ValueError("an array of Python objects cannot be stored")
    buffer, descr = io.BytesIO(), np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@lru_cache(maxsize=256)
def _head(dtype: np.dtype, shape: tuple[int, ...]) -> tuple[bytes, int]:
    """What comes before the numbers of a small array: the heads of the stream, of its only block and of the file; the checksum
    of the last as well. It is the same in all trials of a sweep."""
    header = _header(dtype, shape)
    length = len(header) + dtype.itemsize * math.prod(shape)
    return b"\x78\x01" + struct.pack("<BHH", 1, length, length ^ 0xFFFF) + header, zlib.adler32(header)
