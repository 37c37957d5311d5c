"""Load in the background what the views need first, so that the first slider answers at once."""

import threading
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer._state import GiantSteps, OneStep
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.processes._jobs import JobPart
from giantstep.explorer.processes._queue import Replaced
from giantstep.explorer.views.giant_steps import _numbers as giant_steps
from giantstep.explorer.views.one_step import _tasks as one_step

PAGE = "warm-up"
LIMIT = 300.0  # seconds: everything is loaded for the first time


def warm_up(backend: Backend) -> None:
    """Load the libraries in every process; the page answers meanwhile, a little slower."""
    for work in (lambda: _theory(backend), lambda: _jobs(backend)):
        threading.Thread(target=work, daemon=True).start()


def _quietly(work: Any) -> None:
    try:
        work()
    except (InputError, Replaced):  # a page asks for the same, or the explorer is closing
        pass


def _theory(backend: Backend) -> None:
    """This process first: it draws the line that follows a slider."""
    _quietly(lambda: backend.queue.ask(PAGE, lambda: one_step.few(OneStep())))
    _quietly(lambda: backend.theory.ask(PAGE, _reader, limit=LIMIT))


def _reader() -> None:
    one_step.curves_of(OneStep())
    one_step.law_of(OneStep())
    giant_steps.theory_of(GiantSteps(steps=1))


def _jobs(backend: Backend) -> None:
    task = JobPart("warm-up", giant_steps.chain_of, (GiantSteps(steps=1),))
    backend.jobs.start([task], PAGE)
