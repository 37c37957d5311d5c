"""stretch: a giant step as a change of the inputs, from a file to a file."""

from pathlib import Path
from typing import Annotated

import typer

from giantstep.cli._options import AsJson, SettingFile, read_setting, show
from giantstep.errors import InputError


def stretch(
    setting: SettingFile,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the stretched setting to a .toml or .json file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a giant step into a change of the inputs.

    Prints the setting without the step whose inputs are stretched as the step would have stretched the features. Its errors are
    those of the setting, so that predict, simulate and compare take either.
    """
    read = read_setting(setting)
    from giantstep.experiment.setting import Setting

    if not isinstance(read, Setting):
        raise InputError(f"stretch takes a setting: a system of kind {read.kind!r} has no giant step to turn.")
    from giantstep.theory.equivalent_inputs import equivalent_inputs

    found = equivalent_inputs(read)
    if out is not None:
        found.save(out)
        typer.echo(f"Wrote {out}.", err=True)
    show(found.to_plain() if as_json else found.to_toml() if out is None else repr(found))
