"""export(store, path) writes one tidy row for each trial to .csv, .parquet or .nc; to_dataset(rows) makes an xarray Dataset.

A row has the columns of the trial and the leaves of its setting that vary among the rows. The other leaves are attributes of
the dataset.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store._atomic import atomic
from giantstep.lab.store._damage import Damage
from giantstep.lab.store.stored_row import NUMBERS, StoredRow

__all__ = ["export", "to_dataset"]

HEAD = ("setting", "seed", "route", "ok", *NUMBERS, "seconds", "created", "notes")
BATCH = 10_000


def export(store: Store, path: str | Path, where: Sequence[str] = (), *, force: bool = False) -> int:
    """Write the rows that meet the conditions to a file, completely or not at all, and return their number.

    Args:
        store: an open store.
        path: a file that ends in .csv, .parquet (needs the extra ``giantstep[lab]``) or .nc (NetCDF).
        where: conditions as in ``Store.select``.
        force: overwrite an existing file.
    """
    place = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet, ".nc": _netcdf}
    writer = writers.get(place.suffix.lower())
    if writer is None:
        raise InputError(f"the file to export to must end in {', '.join(writers)}, not {str(path)!r}")
    if not place.parent.is_dir():
        raise InputError(f"there is no folder {place.parent} to export to")
    if place.is_dir() or (place.exists() and not force):
        raise InputError(f"{place} exists already: give another name{'' if place.is_dir() else ', or force (--force)'}")
    with store.reading():
        names = store.varying(where)
        with atomic(place) as unfinished:
            return writer(unfinished, _constant(store.select(where), names), names)


def _constant(rows: Iterator[StoredRow], varying: Mapping[str, str]) -> Iterator[StoredRow]:
    """The rows; a field that is said not to vary has no column, so that it must not."""
    known: dict[str, Any] = {}
    for row in rows:
        for path, value in row.leaves.items():
            if path not in varying and known.setdefault(path, value) != value:
                raise Damage(f"its table of leaves does not know that {path} varies")
        yield row


def to_dataset(rows: Iterable[StoredRow]) -> Any:
    """An xarray Dataset with the dimension trial; columns and varying leaves are variables, constant leaves attributes."""
    listed = list(rows)
    leaves = [row.leaves for row in listed]
    paths = list(dict.fromkeys(path for each in leaves for path in each))
    values = {path: [each.get(path) for each in leaves] for path in paths}
    varying = [path for path in paths if len(set(values[path])) > 1]
    return _dataset(listed, varying, {path: values[path][0] for path in paths if path not in varying})


def _dataset(rows: list[StoredRow], varying: Iterable[str], constant: dict[str, Any]) -> Any:
    import xarray as xr

    table = [row.to_dict() for row in rows]
    variables = {name: ("trial", _column([row.get(name) for row in table])) for name in (*HEAD, *varying)}
    return xr.Dataset(variables, attrs={name: value for name, value in constant.items() if value is not None})


def _column(values: list[Any]) -> np.ndarray:
    """Text, int32 for whole numbers (classic NetCDF has no larger ones), or float64 with NaN for None."""
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values], dtype=str)
    if values and all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=bool)
    whole = values and all(isinstance(value, int) and abs(value) < 2**31 for value in values)
    return np.array([np.nan if value is None else value for value in values], dtype=np.int32 if whole else np.float64)


def _csv(path: Path, rows: Iterator[StoredRow], varying: Mapping[str, str]) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*HEAD, *varying])
        for row in rows:
            count += 1
            known = row.to_dict()
            values = [known.get(name) for name in (*HEAD, *varying)]
            writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in values])
    return count


def _netcdf(path: Path, rows: Iterator[StoredRow], varying: Mapping[str, str]) -> int:
    listed = list(rows)
    constant = {name: value for name, value in (listed[0].leaves if listed else {}).items() if name not in varying}
    _dataset(listed, varying, constant).to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    return len(listed)


def _parquet(path: Path, rows: Iterator[StoredRow], varying: Mapping[str, str]) -> int:
    try:
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'giantstep[lab]', or export to .csv or .nc") from None
    kinds = {**dict.fromkeys(HEAD, "real"), **dict.fromkeys(("setting", "route", "notes"), "text"), **varying}
    types = {"text": pyarrow.string(), "real": pyarrow.float64(), "integer": pyarrow.int64(), "truth": pyarrow.bool_()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in {**kinds, "seed": "integer", "ok": "truth"}.items()])
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while batch := [row.to_dict() for row in islice(rows, BATCH)]:
            columns = {name: [_typed(row.get(name), kinds[name]) for row in batch] for name in schema.names}
            writer.write_table(pyarrow.table(columns, schema))
            count += len(batch)
    return count


def _typed(value: Any, kind: str) -> Any:
    return str(value) if kind == "text" and value is not None else value
