"""Fashion-MNIST: where it is looked for, and the sample of it that comes with the package.

The sample has the first 1400 training images of the classes 0, 1, 5 and 9, in the order of the full set, and all 1000 test images
of each. ``scripts/fashion_sample.py`` makes its file.
"""

import hashlib
import os
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from giantstep.errors import InputError, MissingData
from giantstep.experiment.data import _idx as idx

SAMPLE, FULL = "sample", "full"  # words that stand in the place of a folder
DEBIAN = "/usr/share/datasets/fashion-mnist"  # where Debian's package dataset-fashion-mnist puts it
VARIABLE = "GIANTSTEP_FASHION_MNIST"
WHOLE = {"train": 60_000, "test": 10_000}  # images of the full set

CLASSES = (0, 1, 5, 9)  # of the sample
EACH = {"train": 1400, "test": 1000}  # its images of every class
BY_COLUMNS = (0, 1)  # classes whose images are packed column by column, which makes the file smaller
FILE = "fashion-mnist.xz"
SHA256 = "d1a7e617e298f2f4fe4324f64261069e2d715eebd842628340ef4092e04d93ec"
NAME = "the sample of Fashion-MNIST that comes with giantstep"


def place(path: str | None) -> str:
    """The folder to read, or "sample": the path given, else the folder of the variable, else Debian's, else the sample."""
    if path == SAMPLE or path and path != FULL:
        return path
    folder = os.environ.get(VARIABLE) or (DEBIAN if Path(DEBIAN).is_dir() else SAMPLE)
    if path == FULL and folder == SAMPLE:
        raise missing("the full set of Fashion-MNIST is not here, only its sample")
    return folder


def missing(what: str) -> MissingData:
    """The error to raise for what only the full set has."""
    return MissingData(
        f"{what}; for the full set give path=, set {VARIABLE}, or install Debian's package dataset-fashion-mnist"
    )


@lru_cache(maxsize=2)
def images(where: str) -> dict[str, idx.Split]:
    """Images and labels for training and for the test, from a folder or the sample."""
    return _sample() if where == SAMPLE else idx.folder(Path(where))


def said(where: str) -> str:
    """Describe the source without naming a folder."""
    if where == SAMPLE:
        return NAME
    whole = all(len(labels) == WHOLE[name] for name, (_, labels) in images(where).items())
    return "the full set of Fashion-MNIST" if whole else "files in the form of Fashion-MNIST"


def _sample() -> dict[str, idx.Split]:
    """Read the sample. Its pixels are stored class by class, training images before test images."""
    try:
        from lzma import decompress

        raw = files("giantstep.experiment.data").joinpath("samples", FILE).read_bytes()
    except (ImportError, OSError) as problem:
        raise InputError(f"{NAME} cannot be read: {type(problem).__name__}") from None
    if hashlib.sha256(raw).hexdigest() != SHA256:
        raise InputError(f"{NAME} is damaged: its checksum is wrong, so install giantstep again")
    pixels = np.frombuffer(decompress(raw), np.uint8).reshape(len(CLASSES), -1, 28, 28)
    turned = [own.transpose(0, 2, 1) if c in BY_COLUMNS else own for c, own in zip(CLASSES, pixels, strict=True)]
    parts = {"train": slice(None, EACH["train"]), "test": slice(EACH["train"], None)}
    return {
        name: (
            np.concatenate([own[part].reshape(EACH[name], -1) for own in turned]),
            np.repeat(np.array(CLASSES, np.uint8), EACH[name]),
        )
        for name, part in parts.items()
    }
