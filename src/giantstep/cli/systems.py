"""predict, simulate and compare for a file that describes a system."""

from collections.abc import Iterable
from pathlib import Path

from giantstep.cli.options import draw, show, trust
from giantstep.errors import InputError
from giantstep.results.system import System


def need_none(system: System, **given: bool) -> None:
    """Refuse options that are for settings."""
    for name, is_given in given.items():
        if is_given:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for a setting: a system of kind {system.kind!r} does not take it.")


def predict(system: System, plot: Path | None, as_json: bool) -> None:
    from giantstep.theory import theory

    found = theory(system)
    draw(plot, found)
    show(found.to_dict() if as_json else str(found))
    trust(found.status)


def simulate(system: System, seeds: int | Iterable[int], plot: Path | None, as_json: bool) -> None:
    from giantstep.simulate import simulate as measure

    found = measure(system, seeds)
    draw(plot, found)
    show(found.to_dict() if as_json else str(found))
    trust(found.status)


def compare(system: System, seeds: int | Iterable[int], plot: Path | None, as_json: bool) -> None:
    from giantstep.lab.compare.systems import beside

    found = beside(system, seeds)
    draw(plot, found)
    show(found.to_dict() if as_json else str(found))
    for finding in found:
        trust(finding.status)
