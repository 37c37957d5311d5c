"""Open the file of a store safely, and turn every failure of SQLite into one sentence."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from giantstep.errors import InputError
from giantstep.lab.store._damage import Damage, DamagedStore
from giantstep.lab.store._schema import APPLICATION, READABLE, VERSION, migrate, unseal

TIMEOUT = 30.0  # seconds to wait for another process's transaction

_DAMAGED = "{path} is damaged: {error}. Restore a copy, or save what can be read: giantstep results repair."
_SENTENCES = {
    sqlite3.SQLITE_NOTADB: "{path} is not a store: it is not an SQLite file. Nothing was changed.",
    sqlite3.SQLITE_FULL: "{path} cannot grow: the disk is full ({error}); nothing of this batch was written.",
    sqlite3.SQLITE_BUSY: "{path} is locked by another process for longer than {timeout:g} s; try again when it has ended.",
    sqlite3.SQLITE_LOCKED: "{path} is locked by another process for longer than {timeout:g} s; try again when it has ended.",
    sqlite3.SQLITE_READONLY: "{path} cannot be written: it or its folder is read-only.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened: {error}; its folder must exist and be writable.",
    sqlite3.SQLITE_IOERR: "{path} cannot be read or written: {error}.",
}


@contextmanager
def explain_errors(path: Path, timeout: float = TIMEOUT) -> Iterator[None]:
    """Turn an error of SQLite into an InputError, one sentence with the name of the file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None and not str(error).startswith("Could not decode"):
            raise  # of Python: the store is closed, and the like
        sentence = None if code is None else _SENTENCES.get(code & 0xFF)
        if sentence is None:
            raise DamagedStore(_DAMAGED.format(path=path, error=error)) from None
        raise InputError(sentence.format(path=path, error=error, timeout=timeout)) from None
    except (Damage, json.JSONDecodeError) as error:
        raise DamagedStore(_DAMAGED.format(path=path, error=error)) from None


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Run a transaction, which happens completely or not at all; a "DEFERRED" one inside another is part of that one."""
    if kind == "DEFERRED" and connection.in_transaction:
        yield
        return
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def connect(path: Path, mode: str, timeout: float) -> tuple[sqlite3.Connection, str]:
    """Connect to a store and upgrade it to the newest version; return the connection and its address."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: a store is one file, such as {path / 'results.db'}.")
    if mode == "read" and not path.is_file():
        raise InputError(f"There is no store {path}.")
    with explain_errors(path, timeout):
        return _writing(path, timeout) if mode == "write" else _reading(path, timeout)


def _writing(path: Path, timeout: float) -> tuple[sqlite3.Connection, str]:
    if path.is_file() and not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InputError(f"{path} cannot be written: it is read-only.")
    connection, address, version = _opened(path, _address(path, "rwc"), timeout)
    try:
        if version < VERSION:
            migrate(connection)
        _write_ahead(connection, timeout)
    except BaseException:
        connection.close()
        raise
    return connection, address


def _reading(path: Path, timeout: float) -> tuple[sqlite3.Connection, str]:
    try:  # not "ro", which would leave the files of the write-ahead log behind
        connection, address, version = _opened(path, _address(path, "rw"), timeout)
    except sqlite3.OperationalError as error:
        # WAL cannot create its files here: open the store as it is, unless transactions wait in a log.
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        if _log(path):
            raise InputError(
                f"{path} has rows that are still in {path}-wal: copy both files to a writable folder."
            ) from None
        connection, address, version = _opened(path, _address(path, "ro&immutable=1"), timeout)
    if version == VERSION:
        return connection, address
    try:
        if version == 0:
            raise InputError(f"{path} is empty: nothing has been stored in it yet.")
        if not _upgraded(path, timeout):
            if version != READABLE:
                raise InputError(
                    f"{path} has schema version {version}: "
                    f"it must be writable once, for an upgrade to version {VERSION}."
                )
            unseal(connection)
            return connection, address
    except BaseException:
        connection.close()
        raise
    connection.close()
    return _reading(path, timeout)


def _upgraded(path: Path, timeout: float) -> bool:
    """Whether a store could be upgraded to the newest version."""
    try:
        _writing(path, timeout)[0].close()
    except (InputError, sqlite3.OperationalError):
        return False
    return True


def _opened(path: Path, address: str, timeout: float) -> tuple[sqlite3.Connection, str, int]:
    connection = sqlite3.connect(address, timeout=timeout, isolation_level=None, uri=True)
    try:
        for setting in ("synchronous = NORMAL", "temp_store = MEMORY", "cache_size = -65536"):
            connection.execute(f"PRAGMA {setting}")
        return connection, address, _version(connection, path)
    except BaseException:
        connection.close()
        raise


def _address(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


def _log(path: Path) -> bool:
    """Whether transactions wait in the write-ahead log."""
    log = Path(f"{path}-wal")
    return log.is_file() and log.stat().st_size > 0


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version, 0 for an empty file; a file that is not a store of giantstep is refused."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not version and not application:
        return 0
    if application != APPLICATION or version < 1:
        raise InputError(f"{path} is not a store of giantstep: it is some other SQLite file. Nothing was changed.")
    if version > VERSION:
        raise InputError(
            f"{path} was written by a newer giantstep (schema version {version}, known here is {VERSION}): upgrade giantstep."
        )
    (size,), (pages,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_size", "page_count"))
    if not _log(path) and path.stat().st_size < size * pages:
        raise DamagedStore(f"{path} is damaged: it is shorter than its header says. Restore it from a copy.")
    return version


def _write_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Let others read during a write. Without shared memory SQLite uses its rollback journal, which is safe as well."""
    end = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)  # another process is switching it on: SQLite does not wait for that by itself
