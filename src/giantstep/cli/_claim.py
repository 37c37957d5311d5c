"""claim new: begin a claim of your own."""

from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from giantstep.cli._options import AsJson, show
from giantstep.errors import InputError

TEMPLATES, PAPER = "giantstep.claims", "__init__.py"

app = typer.Typer(help="Begin a claim of your own.", no_args_is_help=True)


@app.callback()
def _claim() -> None:
    pass


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="FOLDER/NAME", help="Where the claim is to be: my_claims/my-claim.")],
    as_json: AsJson = False,
) -> None:
    """Begin a claim of your own.

    Writes FOLDER/NAME.py, which holds a small claim that runs as it is, and the folder's __init__.py with the paper, if it is
    not there. Change them to say what you claim. Then "giantstep check FOLDER" measures and judges it and writes a report.
    """
    path = Path(name)
    folder, stem = path.parent, path.name.removesuffix(".py").replace("-", "_")
    if not folder.name.isidentifier() or not stem.isidentifier():
        raise InputError(
            f"{name} is no place for a claim: give a folder and a name of letters, digits and hyphens, "
            "such as my_claims/my-claim"
        )
    target = folder / f"{stem}.py"
    if target.exists():
        raise InputError(f"{target} exists already: choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    others = [each for each in folder.glob("*.py") if each.name != PAPER]
    written = [_write(target, "claim.txt", order=len(others) + 1)]
    if not (folder / PAPER).exists():
        written += [_write(folder / PAPER, "paper.txt", folder=folder.name, year=date.today().year)]
    command = f"giantstep check {folder}/"
    if as_json:
        show({"written": written, "check": command})
    else:
        typer.echo(f"{' and '.join(written)} written. What follows: {command}")


def _write(path: Path, template: str, **words: object) -> str:
    text = files(TEMPLATES).joinpath("new", template).read_text(encoding="utf-8")
    path.write_text(text.format(**words), encoding="utf-8")
    return str(path)
