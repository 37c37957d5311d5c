"""The command line: parse, call one function, print.

Numerical packages are imported inside the commands, so that ``--help``, ``explain`` and ``cite`` answer at once. With ``--json``
standard output holds exactly one JSON object; messages and progress go to standard error.
"""

import os
import signal
import sys
from typing import Annotated

import typer

from giantstep import __version__
from giantstep.cli import explorer, literature, results, routes, sweep
from giantstep.cli.options import parse_seeds
from giantstep.errors import InputError

__all__ = ["app", "main", "parse_seeds", "run"]

app = typer.Typer(
    name="giantstep",
    help="Predict and simulate two-layer networks after a few giant gradient steps, and check what the papers say about them.",
    epilog="Exit codes: 0 success; 1 a claim fails or breaks, or numbers cannot be trusted; 2 bad input; 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the program and exit with its code."""
    signal.signal(signal.SIGINT, _leave)
    sys.exit(run())


def _leave(number: int, frame: object) -> None:
    """Ctrl-C ends the program at once: an exception could be lost in a callback, and XLA's threads may still compute."""
    sys.stdout.flush()
    os.write(2, b"\x1b[?25hInterrupted.\n" if os.isatty(2) else b"Interrupted.\n")  # a progress bar hides the cursor
    os._exit(130)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; bad input or an interruption prints one sentence on standard error."""
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


for _command in (
    routes.explain,
    routes.predict,
    routes.simulate,
    routes.compare,
    sweep.sweep,
    literature.check,
    literature.cite,
    explorer.explore,
):
    app.command()(_command)
app.add_typer(results.app, name="results")


def _complain(sentence: str, code: int) -> int:
    typer.echo(sentence, err=True)
    return code
