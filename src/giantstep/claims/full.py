"""The verdicts at full size that come with the package: what ``giantstep check --size full`` found on a large machine."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["full"]


@cache
def full() -> dict[str, Any]:
    """``date``, ``provenance``, ``device``, and under ``results`` the verdicts, each with the name of its claim."""
    return json.loads(files("giantstep.claims").joinpath("verdicts.json").read_text(encoding="utf-8"))
