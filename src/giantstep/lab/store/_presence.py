"""Whether the file of an open store is still the one that was opened.

On POSIX a file may be deleted or replaced while it is open. SQLite then goes on writing to a file
that has no name, and nobody sees those rows again. The file is looked at by its name or through
SQLite: to open and close it here would end SQLite's locks.
"""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from giantstep.errors import InputError

Identity = tuple[int, int]


def identity(path: Path) -> Identity | None:
    """The device and the number of a file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check(
    path: Path,
    address: str,
    opened: Identity | None,
    connection: sqlite3.Connection,
    last: int | None,
) -> None:
    """Raise an InputError if the file is gone or another, or lacks the row that was written last.

    The rows of the open store are saved first.
    """
    if identity(path) == opened and (last is None or _has(address, last, connection)):
        return
    new = path.with_name(f"{path.stem}-saved-{secrets.token_hex(2)}{path.suffix}")
    try:
        connection.execute("VACUUM INTO ?", (str(new),))
        where = f"its rows were saved in {new}"
    except sqlite3.Error as error:
        where = f"its rows could not be saved ({error})"
    raise InputError(f"{path} was deleted or replaced by another file while it was open; {where}.")


def _has(address: str, last: int, connection: sqlite3.Connection) -> bool:
    """Whether the file has a row: asked on another connection, because this one has pages in memory."""
    query = "SELECT checksum FROM main.trials WHERE key = ?"
    try:
        with closing(sqlite3.connect(address, uri=True)) as fresh:
            there, here = (one.execute(query, (last,)).fetchone() for one in (fresh, connection))
            return there == here
    except sqlite3.OperationalError as error:
        # Nothing is known of a file that is locked.
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    except sqlite3.DatabaseError:
        return False
