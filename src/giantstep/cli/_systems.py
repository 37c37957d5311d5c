"""predict, simulate and compare a system."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from giantstep.cli._options import draw, show, trust
from giantstep.errors import InputError
from giantstep.results.system import Finding, System


def need_none(system: System, **given: bool) -> None:
    """Refuse options that are for settings."""
    for name, is_given in given.items():
        if is_given:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for a setting: a system of kind {system.kind!r} does not take it.")


def predict(system: System, plot: Path | None, as_json: bool) -> None:
    from giantstep.theory import theory

    result = theory(system)
    _print(result, [result], plot, as_json)


def simulate(system: System, seeds: int | Iterable[int], plot: Path | None, as_json: bool) -> None:
    from giantstep.simulate import simulate as measure

    result = measure(system, seeds)
    _print(result, [result], plot, as_json)


def compare(system: System, seeds: int | Iterable[int], plot: Path | None, as_json: bool) -> None:
    from giantstep.lab.compare._systems import compare_system

    result = compare_system(system, seeds)
    _print(result, result, plot, as_json)


def _print(result: Any, findings: Iterable[Finding], plot: Path | None, as_json: bool) -> None:
    draw(plot, result)
    show(result.to_dict() if as_json else str(result))
    for finding in findings:
        trust(finding.status)
