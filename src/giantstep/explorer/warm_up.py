"""Warm-up: compile what the views need first, in the background, so that the first slider moves at once."""

import threading
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.processes.runs import Piece
from giantstep.explorer.state import GiantSteps, OneStep
from giantstep.explorer.views.giant_steps import numbers as giant_steps
from giantstep.explorer.views.one_step import numbers as one_step

__all__ = ["warm_up"]

PAGE = "warm-up"
LIMIT = 300.0  # seconds: everything is compiled for the first time


def warm_up(lab: Laboratory) -> None:
    """Start compiling in every process; the page can be used meanwhile, a little slower."""
    for work in (lambda: _lines(lab), lambda: lab.theory.ask(PAGE, _reader, limit=LIMIT), lambda: _runs(lab)):
        threading.Thread(target=_quietly, args=(work,), daemon=True).start()


def _quietly(work: Any) -> None:
    try:
        work()
    except (InputError, Replaced):  # a page wants the same and warms up by itself, or all is over
        pass


def _lines(lab: Laboratory) -> None:
    lab.line.ask(PAGE, lambda: one_step.few(OneStep()))


def _reader() -> None:
    one_step.everything(OneStep())
    giant_steps.theory_of(GiantSteps(steps=1))


def _runs(lab: Laboratory) -> None:
    piece = Piece("warm-up", giant_steps.chain_of, (GiantSteps(steps=1),))
    lab.runs.start([piece], PAGE)
