"""Provenance: which versions and what kind of device made a number. It names no host, no path and no user."""

import platform
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from giantstep import __version__

__all__ = ["Provenance"]


@dataclass(frozen=True)
class Provenance:
    """Versions of the package and of what it computes with, the kind of processor, and "cpu" or "gpu"."""

    version: str
    python: str
    jax: str
    numpy: str
    machine: str
    device: str

    @staticmethod
    def here() -> "Provenance":
        """The provenance of this process; JAX is asked for the device only if it is in use."""
        return _here("giantstep._machine.backend" in sys.modules)


@cache
def _here(running: bool) -> Provenance:
    device = "cpu"
    if running:
        from giantstep._machine.backend import jax

        device = jax.default_backend()
    return Provenance(
        __version__, platform.python_version(), _version("jax"), _version("numpy"), platform.machine(), device
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
