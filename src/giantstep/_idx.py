"""Images and labels in the IDX format, and the places where Fashion-MNIST is looked for."""

import gzip
import os
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from giantstep._errors import InputError

DEBIAN = "/usr/share/datasets/fashion-mnist"  # where Debian's package dataset-fashion-mnist puts it
VARIABLE = "GIANTSTEP_FASHION_MNIST"
IMAGES, LABELS = 2051, 2049  # the magic numbers: unsigned bytes in three dimensions, or one
SPLITS = {"train": "train", "test": "t10k"}
TRAINING = 60_000  # of the 70 000 images, where they come in one piece
Split = tuple[np.ndarray, np.ndarray]  # images as rows of bytes, and labels


def read(path: Path, magic: int) -> np.ndarray:
    """The numbers of an IDX file, gzipped or not."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            raw = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {' '.join(str(error).split()) or type(error).__name__}") from None
    what, dims = ("images", 3) if magic == IMAGES else ("labels", 1)
    found = int.from_bytes(raw[:4], "big")
    if len(raw) < 4 or found != magic:
        raise InputError(f"{path} is not an IDX file of {what}: its magic number is {found}, not {magic}")
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


@lru_cache(maxsize=1)
def fashion_mnist(path: str | None) -> dict[str, Split]:
    """Images and labels for training and for the test: from that folder, else from the usual places, else from OpenML."""
    folder = path or os.environ.get(VARIABLE) or (DEBIAN if Path(DEBIAN).is_dir() else None)
    if folder is not None:
        return {name: _split(Path(folder), prefix) for name, prefix in SPLITS.items()}
    try:
        from sklearn.datasets import fetch_openml

        X, y = fetch_openml("Fashion-MNIST", version=1, return_X_y=True, as_frame=False, parser="liac-arff")
    except (ImportError, OSError, ValueError):
        raise InputError(
            f"Fashion-MNIST was not found: give path=, set {VARIABLE}, install Debian's dataset-fashion-mnist, or be on the "
            "network with scikit-learn installed"
        ) from None
    images, labels = np.asarray(X).astype(np.uint8), np.asarray(y).astype(np.uint8)
    return {"train": (images[:TRAINING], labels[:TRAINING]), "test": (images[TRAINING:], labels[TRAINING:])}
