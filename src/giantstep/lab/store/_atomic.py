"""Write a file completely or not at all: a reader sees the old file or the new one, never half of one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from giantstep.errors import InputError


@contextmanager
def atomic(place: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder; it is renamed to ``place`` at the end, and removed after an error."""
    unfinished = place.with_name(f".{place.stem}-{secrets.token_hex(8)}{place.suffix}")
    try:
        # The system takes the mask of the process off these permissions, those of any new file.
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from None
    try:
        yield unfinished
        os.replace(unfinished, place)
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)
