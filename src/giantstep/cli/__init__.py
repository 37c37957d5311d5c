"""The command line: parse, call one function, print.

Numerical packages are imported inside the commands, so that ``--help``, ``explain`` and ``cite`` answer at once. With ``--json``
standard output holds exactly one JSON object; messages and progress go to standard error.
"""

import sys
import traceback
from io import TextIOWrapper
from typing import Annotated

import typer

from giantstep import __version__
from giantstep._machine.interrupt import leave_on_interrupt
from giantstep.cli import _claim as claim
from giantstep.cli import _explorer as explorer
from giantstep.cli import _literature as literature
from giantstep.cli import _mean_field as mean_field
from giantstep.cli import _own_network as own_network
from giantstep.cli import _results as results
from giantstep.cli import _routes as routes
from giantstep.cli import _stretch as stretch
from giantstep.cli import _sweep as sweep
from giantstep.cli._options import parse_seeds
from giantstep.errors import InputError

__all__ = ["app", "main", "parse_seeds", "run"]

app = typer.Typer(
    name="giantstep",
    help="Predict and simulate two-layer networks after a few giant gradient steps, and check what the papers say about them.",
    epilog="Exit codes: 0 success; 1 a claim is contradicted or breaks, or numbers cannot be trusted; 2 bad input; "
    "70 an error of giantstep itself; 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


CRASHED = 70  # the exit code of an error that is not the user's; 1 means that a claim fails


def main() -> None:
    """Run the program and exit with its code."""
    leave_on_interrupt()
    for stream in (sys.stdout, sys.stderr):  # an old console, or a file on Windows, does not have every letter
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run())


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
    except Exception as problem:
        if "nitialize backend" in str(problem):  # JAX, about a platform that it does not have
            return _complain(
                f"JAX cannot start: {str(problem).splitlines()[0]} (JAX_PLATFORMS chooses the platform)", 2
            )
        traceback.print_exc(file=sys.stderr)
        return _complain(
            "This is an error of giantstep, not of your input. Please report it with the lines above.", CRASHED
        )


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
    own_network.bounds,
    own_network.attack,
    mean_field.fit,
    stretch.stretch,
    sweep.sweep,
    literature.check,
    literature.cite,
    explorer.explore,
):
    app.command()(_command)
app.add_typer(claim.app, name="claim")
app.add_typer(results.app, name="results")
app.add_typer(results.app, name="store", hidden=True)  # by the name of the file


def _complain(sentence: str, code: int) -> int:
    typer.echo(sentence, err=True)
    return code
