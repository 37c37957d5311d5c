"""Makes the sample of Fashion-MNIST that comes with the package from the full set: ``python scripts/fashion_sample.py [FOLDER]``.

It writes src/giantstep/experiment/data/samples/fashion-mnist.xz and prints the checksum that
``giantstep.experiment.data._fashion`` must have. The pixels are always the same; so is the file,
unless another version of liblzma packs them into other bytes.
"""

import hashlib
import lzma
import sys
from pathlib import Path

import numpy as np

from giantstep.experiment.data import _fashion as fashion

PLACE = Path(__file__).parent.parent / "src/giantstep/experiment/data/samples" / fashion.FILE
# Literals depend on the four upper bits of the pixel before; the other numbers find the long runs in reasonable time
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 4, "lp": 0, "pb": 0, "nice_len": 273, "depth": 16}]


def pixels(folder: str) -> bytes:
    """The first images of every class of the sample: for training, then for the test."""
    full, parts = fashion.images(folder), []
    for c in fashion.CLASSES:
        for name, count in fashion.EACH.items():
            images, labels = full[name]
            own = images[labels == c][:count].reshape(count, 28, 28)
            parts.append(np.ascontiguousarray(own.transpose(0, 2, 1) if c in fashion.BY_COLUMNS else own).tobytes())
    return b"".join(parts)


def packed(raw: bytes) -> bytes:
    return lzma.compress(raw, check=lzma.CHECK_NONE, filters=FILTERS)


if __name__ == "__main__":
    made = packed(pixels(fashion.place(sys.argv[1] if len(sys.argv) > 1 else fashion.FULL)))
    PLACE.write_bytes(made)
    print(len(made), "bytes, sha256", hashlib.sha256(made).hexdigest())
