"""Write a file completely or not at all: a reader sees the old file or the new one, never half of one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from giantstep.errors import InputError


@contextmanager
def atomic(place: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder; it is renamed to ``place`` at the end, and removed after an error."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.stem}-", suffix=place.suffix)
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from None
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        os.replace(unfinished, place)
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)
