"""Where Python looks for modules. The current folder may be someone else's: opening it must not run what lies there."""

import os
import sys
from pathlib import Path


def leave_current_folder() -> None:
    """Look for modules no longer in the current folder, which ``python -m giantstep`` has put first."""
    if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]


def searched() -> list[str]:
    """The folders in which this process looks for modules, for a child that is to find the user's own ones.

    The current folder is among them only if a module of this process is from there: a script, a notebook, a checkout.
    """
    try:
        here = Path().resolve()
    except OSError:  # it is deleted
        return [each for each in sys.path if os.path.isabs(each)]
    kept = _holds(here)
    return [os.path.abspath(each) for each in sys.path if kept or Path(each).resolve() != here]


def _holds(folder: Path) -> bool:
    """Whether a module of this process is from a folder."""
    for name, module in list(sys.modules.items()):
        known = getattr(module, "__dict__", {})
        places = [*known.get("__path__", ()), known.get("__file__")]
        if "." not in name and any(isinstance(each, str) and Path(each).resolve().parent == folder for each in places):
            return True
    return False
