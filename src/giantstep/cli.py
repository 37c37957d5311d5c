"""The command line: parse, call one function, print.

Numerical packages are imported inside the commands, so that ``--help``, ``explain`` and ``cite`` answer at once. With ``--json``
standard output holds exactly one JSON object; messages and progress go to standard error.
"""

import json
import math
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giantstep import __version__
from giantstep._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from giantstep.outcome import Outcome, Status
    from giantstep.setting import Setting

__all__ = ["app", "main", "parse_seeds", "run"]

_FIGURES = (".pdf", ".png", ".svg")

app = typer.Typer(
    name="giantstep",
    help="Two-layer networks after a few giant gradient steps: predict them, simulate them, and check what the papers say.",
    epilog="Exit codes: 0 success, 1 a claim fails or numbers cannot be trusted, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

SettingFile = Annotated[Path, typer.Argument(metavar="SETTING", help="A file with the setting, .toml or .json.")]
PlotFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the outcome: .svg, .png or .pdf.")]
Precision = Annotated[Literal["float64", "float32"], typer.Option(help="Precision.")]
Memory = Annotated[float | None, typer.Option(metavar="GIB", help="Memory to stay within, in GiB.")]
TestSamples = Annotated[int, typer.Option(metavar="N", help="Size of the test set.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def main() -> None:
    """The program: run, and leave with the exit code."""
    signal.signal(signal.SIGINT, _leave)
    sys.exit(run())


def _leave(number: int, frame: object) -> None:
    """Ctrl-C ends the program at once: an exception could be lost in a callback, and XLA's threads may still compute."""
    sys.stdout.flush()
    os.write(2, b"Interrupted.\n")
    os._exit(130)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; bad input and an interruption are one sentence on standard error."""
    try:
        code = app(args=arguments, prog_name="giantstep", standalone_mode=False) or 0
        return _complain("Interrupted.", 130) if code == 130 else code
    except InputError as problem:
        return _complain(str(problem), 2)
    except typer.TyperException as problem:
        return _complain(problem.format_message().replace("Value error, ", ""), 2)
    except OSError as problem:
        named = f"{problem.filename}: " if problem.filename else ""
        return _complain(f"{named}{problem.strerror or problem}", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("Interrupted.", 130)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"giantstep {__version__}")
        raise typer.Exit


@app.callback()
def _giantstep(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def explain(
    formula: Annotated[str, typer.Argument(metavar="EXPR", help="The target, such as 'x1 + H2(x1)*x2'.")],
    batch: Annotated[str, typer.Option(metavar="POWER", help="Size of a batch: d, d^2, d^1.5, ...")] = "d",
    width: Annotated[str, typer.Option(metavar="POWER", help="Width of the network: 1, d, d^2, ...")] = "d",
    steps: Annotated[int | None, typer.Option(metavar="T", help="Number of steps; by default until it stops.")] = None,
    reuse: Annotated[bool, typer.Option("--reuse", help="All steps go over one batch.")] = False,
    activation: Annotated[str | None, typer.Option(metavar="NAME", help="Also what this activation climbs.")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain what giant steps can learn of a target.

    Prints the directions found step by step, why, which terms can then be fitted, and the error that stays.
    """
    from giantstep.explain import explain as explained

    found = explained(formula, batch, width, steps, reuse, activation)
    _print(found.to_dict() if as_json else str(found))


@app.command()
def predict(
    setting: SettingFile,
    regime: Annotated[
        Literal["finite", "limit"],
        typer.Option(help="At the setting's own sizes, or the published limit of its step size's regime."),
    ] = "finite",
    optimal: Annotated[
        bool, typer.Option("--optimal", help="The step size and the penalty with the least test error instead.")
    ] = False,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also the spectrum of the features: its bulk's edge and the outliers.")
    ] = False,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Predict a setting by theory, without simulating.

    Covers one giant step or none on a target of one direction, and any steps on fresh batches where the width is far below d.
    """
    _check_options(plot)
    if optimal and (spectrum or plot is not None or regime != "finite"):
        raise InputError(
            "--optimal finds two numbers: it goes with --json alone, not with --regime, --spectrum or --plot."
        )
    read = _read(setting)
    if optimal:
        from giantstep.theory import optimal as minimise  # after reading: bad input is told before JAX is imported

        best = minimise(read)
        status = {"ok": best.status.ok, "notes": list(best.status.notes)}
        found = {k: getattr(best, k) for k in ("eta", "penalty", "test_error", "random_features")}
        _print({**found, "status": status, "setting": best.setting.to_plain()} if as_json else str(best))
        return _trust(best.status)
    from giantstep.lab.compare import predict as predicted

    found = predicted(read, regime, spectrum=spectrum, fine=plot is not None and not spectrum)
    _draw(plot, found, spectrum)
    _print(found.theory.to_dict() if as_json else str(found))
    _trust(found.theory.status)


@app.command()
def simulate(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds: 3, 0-9 or 0,2,5.")] = "0",
    plot: PlotFile = None,
    method: Annotated[
        Literal["auto", "dense", "overlap"], typer.Option(help="In d dimensions, or by overlaps.")
    ] = "auto",
    dtype: Precision = "float64",
    memory: Memory = None,
    spectrum: Annotated[bool, typer.Option("--spectrum", help="Also the singular values of the features.")] = False,
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Simulate a setting and measure.

    Runs its giant steps and its ridge readout on every seed, and prints the errors and what was learned.
    """
    chosen = parse_seeds(seeds)
    _check_options(plot, memory, test_samples)
    read = _read(setting)
    from giantstep.simulate import simulate as measure  # after reading: bad input is told before JAX is imported

    work: Any = {"method": method, "n_test": test_samples, "dtype": dtype, "memory": memory, "spectrum": spectrum}
    outcome = measure(read, seed=chosen, **work)
    _draw(plot, outcome, spectrum)
    _print(outcome.to_dict() if as_json else str(outcome))
    _trust(outcome.status)


@app.command()
def compare(
    setting: SettingFile,
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds of the simulation: 3, 0-9 or 0,2,5.")] = "0-9",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw dots over the theory's line: .svg, .png or .pdf.")
    ] = None,
    equivalent: Annotated[
        Literal["gaussian", "spiked", "conditional"] | None,
        typer.Option(help="Also run an equivalent model of the features on the same draws."),
    ] = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Also the spectrum of the features, which is then what --plot draws.")
    ] = False,
    dtype: Precision = "float64",
    memory: Memory = None,
    test_samples: TestSamples = 10_000,
    as_json: AsJson = False,
) -> None:
    """Lay theory and simulation side by side.

    Prints, for every step size and penalty, what was measured, what is predicted, and the gap in percent and in standard
    errors. The prediction comes first: a setting that the theory does not cover is refused before anything is simulated.
    """
    chosen = parse_seeds(seeds)
    _check_options(plot, memory, test_samples)
    read = _read(setting)
    from giantstep.lab.compare import compare as lay_side_by_side

    found = lay_side_by_side(
        read, chosen, equivalent=equivalent, spectrum=spectrum, n_test=test_samples, dtype=dtype, memory=memory
    )
    _draw(plot, found, spectrum)
    _print(found.to_dict() if as_json else str(found))
    for outcome in (found.theory, found.simulation, found.equivalent):
        if outcome is not None:
            _trust(outcome.status)


@app.command()
def check(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Claims or groups of claims; all by default.")
    ] = None,
    size: Annotated[
        Literal["quick", "full"], typer.Option(help="Minutes on a laptop, or the papers' sizes.")
    ] = "quick",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")] = Path("report"),
    as_json: AsJson = False,
) -> None:
    """Check statements of the literature.

    Prints the verdicts and writes an HTML report with the numbers and the figures.
    """
    from giantstep.claims import select
    from giantstep.lab import report
    from giantstep.lab.verdict import run_claims, show

    chosen = select(claims or [])
    out.mkdir(parents=True, exist_ok=True)
    results = run_claims(
        chosen, size, lambda index, total, claim: typer.echo(f"[{index + 1}/{total}] {claim.name}", err=True)
    )
    page = report.write(results, out)
    if as_json:
        _print({"size": size, "report": str(page), "results": [result.to_dict() for result in results]})
    else:
        show(results)
        typer.echo(f"Report: {page}")
    if not all(result.passed for result in results):
        raise typer.Exit(1)


@app.command()
def cite(
    claim: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="A claim, a group or a paper; everything by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the BibTeX of what was used."""
    from giantstep.claims import cited

    papers = cited(claim)
    if not as_json:
        _print("\n\n".join(paper.bibtex for paper in papers))
        return
    keys = ("key", "title", "authors", "year", "venue", "arxiv", "bibtex")
    _print({"papers": [{key: getattr(paper, key) for key in keys} for paper in papers]})


def parse_seeds(text: str) -> int | range | tuple[int, ...]:
    """``"3"`` is one seed, ``"0-9"`` a range with both ends, ``"0,2,5"`` a list."""
    first, dash, last = text.partition("-")
    try:
        if not dash:
            numbers = tuple(_seed(part) for part in text.split(","))
            seeds = numbers[0] if len(numbers) == 1 else numbers
        else:
            seeds = range(_seed(first), _seed(last) + 1)
    except ValueError:
        seeds = ()
    if seeds == () or seeds == range(0) or (isinstance(seeds, tuple) and len(set(seeds)) < len(seeds)):
        raise InputError(f"--seeds needs different whole numbers such as 3, 0-9 or 0,2,5, not {text!r}.")
    return seeds


def _seed(text: str) -> int:
    """Digits only: ``int`` would also take signs, underscores and other alphabets' numerals."""
    if not (text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 10):
        raise ValueError(text)
    return int(text)


def _check_options(plot: Path | None, memory: float | None = None, test_samples: int = 2) -> None:
    if plot is not None and (plot.suffix.lower() not in _FIGURES or not plot.parent.is_dir()):
        raise InputError(
            f"--plot needs a file in an existing folder ending in {', '.join(_FIGURES)}, not {str(plot)!r}."
        )
    if memory is not None and not (math.isfinite(memory) and memory > 0):
        raise InputError(f"--memory needs a positive number of GiB, not {memory}.")
    if test_samples < 2:
        raise InputError(f"--test-samples needs a whole number of at least 2, not {test_samples}.")


def _read(path: Path) -> "Setting":
    from giantstep.setting import Setting

    return Setting.read(path)


def _draw(path: Path | None, found: "Outcome | Iterable[Outcome]", spectrum: bool) -> None:
    if path is None:
        return
    from giantstep.plot import plot, svg

    figure = plot(found, "spectrum" if spectrum else "test_error")
    if path.suffix.lower() == ".svg":
        path.write_text(svg(figure), encoding="utf-8")  # the same bytes every time
    else:
        figure.savefig(path)
    typer.echo(f"Wrote {path}.", err=True)


def _trust(status: "Status") -> None:
    """Numbers that cannot be trusted end the program with 1, and a sentence."""
    if not status.ok:
        typer.echo(str(status), err=True)
        raise typer.Exit(1)


def _print(answer: str | dict) -> None:
    typer.echo(answer if isinstance(answer, str) else json.dumps(_finite(answer), ensure_ascii=False, allow_nan=False))


def _finite(value: object) -> object:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _complain(sentence: str, code: int) -> int:
    typer.echo(sentence, err=True)
    return code


if __name__ == "__main__":
    main()
