"""What comes with the package: verdicts from a large machine, and how long claims take."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal


@cache
def full() -> dict[str, Any]:
    """``date``, ``size``, ``provenance``, ``device``, and under ``results`` the verdicts, each with the name of its claim."""
    return json.loads(files("giantstep_papers").joinpath("verdicts.json").read_text(encoding="utf-8"))


@cache
def seconds(size: Literal["quick", "full"] = "quick") -> dict[str, float]:
    """Seconds that the claims took on one core, by their names: what is long, beside what is short."""
    name = "seconds.json" if size == "quick" else "seconds-full.json"
    return json.loads(files("giantstep_papers").joinpath(name).read_text(encoding="utf-8"))


def last_full_verdict(name: str) -> str:
    """The verdict of a claim at full size in words, or nothing."""
    for each in full()["results"]:
        if each["claim"] == name and full()["size"] == "full":
            return f"Its verdict at full size ({full()['date'][:10]}) is: {each['outcome']}. {each['sentence']}"
    return ""
