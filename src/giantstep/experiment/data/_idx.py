"""Images and labels in the IDX format, as the four files of Fashion-MNIST have them."""

import gzip
import zlib
from pathlib import Path

import numpy as np

from giantstep.errors import InputError

IMAGES, LABELS = 2051, 2049  # the magic numbers: unsigned bytes in three dimensions, or one
SPLITS = {"train": "train", "test": "t10k"}
Split = tuple[np.ndarray, np.ndarray]  # images as rows of bytes, and labels


def read(path: Path, magic: int) -> np.ndarray:
    """The numbers of an IDX file, gzipped or not."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            raw = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {' '.join(str(error).split()) or type(error).__name__}") from None
    what, dims = ("images", 3) if magic == IMAGES else ("labels", 1)
    number = int.from_bytes(raw[:4], "big")
    if len(raw) < 4 or number != magic:
        raise InputError(f"{path} is not an IDX file of {what}: its magic number is {number}, not {magic}")
    head = 4 + 4 * dims
    shape = tuple(int.from_bytes(raw[k : k + 4], "big") for k in range(4, head, 4))
    if len(raw) < head or len(raw) - head != np.prod(shape, dtype=object):
        raise InputError(f"{path} is damaged: its header says {shape} but {max(len(raw) - head, 0)} bytes follow")
    return np.frombuffer(raw, np.uint8, offset=head).reshape(shape)


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise InputError(f"{folder} has no file {name} or {name}.gz")


def _split(folder: Path, prefix: str) -> Split:
    images = read(_file(folder, f"{prefix}-images-idx3-ubyte"), IMAGES)
    labels = read(_file(folder, f"{prefix}-labels-idx1-ubyte"), LABELS)
    if len(images) != len(labels):
        raise InputError(f"{folder} has {len(images)} images but {len(labels)} labels in its {prefix} files")
    if images.shape[1:] != (28, 28):
        raise InputError(f"{folder} has images of {images.shape[1:]} pixels, not of (28, 28)")
    return images.reshape(len(images), -1), labels


def folder(path: Path) -> dict[str, Split]:
    """Images and labels for training and for the test, from the four files in a folder."""
    return {name: _split(path, prefix) for name, prefix in SPLITS.items()}
