"""An array as bytes: a .npy file in a zlib stream, whose checksum tells whether the bytes are those that were written.

Measured digits do not shrink, and a compressor takes longer to start than to copy a small array. So the stream of a small array
is written by hand: one stored block (RFC 1951) in the frame of RFC 1950. Every reader of zlib reads it.
"""

import io
import math
import struct
import zlib
from functools import lru_cache

import numpy as np

SMALL = 16_384  # bytes up to which nothing is compressed; one stored block holds 65535
_FRAME = 10  # bytes before the text of a .npy file's head: magic, version and the length of the text
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
    """The array of ``packed``; bytes that were changed raise ``zlib.error`` or ``ValueError``."""
    return from_npy(zlib.decompress(data))


def to_npy(array: np.ndarray) -> bytes:
    """The bytes of a .npy file of version 1.0."""
    return _header(array.dtype, array.shape) + array.tobytes()


def from_npy(data: bytes) -> np.ndarray:
    """The array of a .npy file. NumPy reads the head as Python, which takes longer than to copy a small array: once is enough."""
    start = _FRAME + int.from_bytes(data[_FRAME - 2 : _FRAME], "little")
    if (kind := _kind(data[:start])) is None:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    shape, dtype = kind
    return np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape).copy()


@lru_cache(maxsize=256)
def _kind(head: bytes) -> tuple[tuple[int, ...], np.dtype] | None:
    """Shape and type of the numbers behind a head of version 1.0 with rows first; None for any other."""
    file = io.BytesIO(head)
    if np.lib.format.read_magic(file) != (1, 0):
        return None
    shape, columns_first, dtype = np.lib.format.read_array_header_1_0(file)
    return None if columns_first or dtype.hasobject else (shape, dtype)


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
