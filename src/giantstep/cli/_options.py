"""Options that several commands share, and the functions that handle them."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giantstep._shown.json_data import json_data
from giantstep.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from giantstep.experiment.setting import Setting
    from giantstep.explain.explanation import Explanation
    from giantstep.results.outcome import Outcome, Status
    from giantstep.results.system import Finding, System

_FIGURES = (".pdf", ".png", ".svg")

SettingFile = Annotated[Path, typer.Argument(metavar="SETTING", help="File with the setting, .toml or .json.")]
PlotFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the result into a .svg, .png or .pdf file.")]
Precision = Annotated[Literal["float64", "float32"], typer.Option(help="Floating-point precision.")]
Memory = Annotated[float | None, typer.Option(metavar="GIB", help="Limit on the memory, in GiB.")]
TestSamples = Annotated[int, typer.Option(metavar="N", help="Number of test samples.")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="Number of processes on this machine.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Address of a Dask scheduler whose workers run the trials, such as tcp://host:8786."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def parse_seeds(text: str) -> int | range | tuple[int, ...]:
    """Parse the option --seeds."""
    from giantstep._given.seeds import parse

    return parse(text, "--seeds")


def check_options(plot: Path | None, memory: float | None = None, test_samples: int = 2) -> None:
    if plot is not None and (plot.suffix.lower() not in _FIGURES or not plot.parent.is_dir()):
        raise InputError(
            f"--plot needs a file in an existing folder ending in {', '.join(_FIGURES)}, not {str(plot)!r}."
        )
    if memory is not None and not (math.isfinite(memory) and memory > 0):
        raise InputError(f"--memory needs a positive number of GiB, not {memory}.")
    if test_samples < 2:
        raise InputError(f"--test-samples needs a whole number of at least 2, not {test_samples}.")


def read_setting(path: Path) -> "Setting | System":
    from giantstep.systems import read

    return read(path)


def draw(path: Path | None, result: "Outcome | Finding | Explanation | Iterable[Any]", spectrum: bool = False) -> None:
    if path is None:
        return
    from giantstep.plot import plot

    save(plot(result, "spectrum" if spectrum else "test_error"), path)
    typer.echo(f"Wrote {path}.", err=True)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure; SVG has the same bytes every time."""
    from giantstep.plot.style import svg

    if path.suffix.lower() == ".svg":
        path.write_text(svg(figure), encoding="utf-8")
    else:
        figure.savefig(path)


def trust(status: "Status") -> None:
    """Exit with 1 and a sentence if the numbers cannot be trusted."""
    if not status.ok:
        typer.echo(str(status), err=True)
        raise typer.Exit(1)


def show(answer: str | dict) -> None:
    typer.echo(
        answer if isinstance(answer, str) else json.dumps(json_data(answer), ensure_ascii=False, allow_nan=False)
    )
