"""Arrays and tables of a user, from .npz and .csv files."""

from pathlib import Path
from typing import TYPE_CHECKING

from giantstep.errors import InputError

if TYPE_CHECKING:
    import numpy as np


def is_archive(path: Path) -> bool:
    """Whether a table is a .npz file; otherwise it is a .csv file."""
    if path.suffix.lower() not in (".npz", ".csv"):
        raise InputError(f"The table must be a .npz or a .csv file, not {str(path)!r}.")
    return path.suffix.lower() == ".npz"


def read_arrays(path: Path, needed: tuple[str, ...]) -> "dict[str, np.ndarray]":
    """The arrays of a .npz file by name; those needed must be there."""
    import zipfile

    import numpy as np

    try:
        file = np.load(path, allow_pickle=False)
        arrays = {} if isinstance(file, np.ndarray) else {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, EOFError):
        raise InputError(f"{path} is no .npz file of numbers: write it with numpy.savez.") from None
    if isinstance(file, np.ndarray):
        raise InputError(f"{path} holds one array: write {' and '.join(needed)} by name with numpy.savez.")
    file.close()
    for name in needed:
        if name not in arrays:
            raise InputError(f"{path} has no array {name!r}; it needs {' and '.join(needed)}.")
    return arrays


def read_numbers(path: Path) -> "np.ndarray":
    """The rows of a .csv file; a first line that is not numbers is a header."""
    import numpy as np

    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append([float(cell) for cell in line.split(",")])
        except ValueError:
            if number > 1:
                raise InputError(
                    f"Line {number} of {path} is not numbers separated by commas: {line[:60]!r}."
                ) from None
        if rows and len(rows[-1]) != len(rows[0]):
            raise InputError(f"Line {number} of {path} has {len(rows[-1])} columns, and the first has {len(rows[0])}.")
    if not rows:
        raise InputError(f"{path} has no rows of numbers.")
    return np.array(rows)
