"""Ctrl-C during a long run: the first lets the running trials finish, the second ends the program."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from giantstep.lab.work.executor import Executor


@contextmanager
def stopping(where: "Executor") -> Iterator[None]:
    """Inside, the first Ctrl-C stops the executor after the running trials."""

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)  # before the words: whoever reads them may press at once
        where.stop()
        os.write(2, b"\nStopping after the running trials. Press Ctrl-C again to stop at once.\n")

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def leave(left: str) -> NoReturn:
    """Print what is left and the command that continues, and exit with 130."""
    again = shlex.join(["giantstep", *sys.argv[1:]])
    typer.echo(f"Stopped with {left} left; to go on: {again}", err=True)
    raise typer.Exit(130)
