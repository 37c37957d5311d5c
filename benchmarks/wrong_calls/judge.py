"""Make wrong calls in a child process, each with a limit of time, and judge the answers."""

import itertools
import multiprocessing
import os
import random
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

from giantstep.errors import InputError

LONGEST = 600  # letters of a refusal
LIMIT = 30.0  # seconds of a call; the first of some compile
START = 300.0  # seconds until a child is ready
ALL = {  # right, and takes minutes
    *(("check", "claims", value) for value in ("empty list", "empty tuple", "empty array")),
    ("check", "", "lacking"),
}
CALLED = ("lacking", "one too many", "mistyped", "twice")  # wrong without a wrong value


@dataclass(frozen=True)
class WrongCall:
    """A right call with a wrong value for one argument, or one that does not fit the signature."""

    place: str
    argument: str
    value: str


@dataclass(frozen=True)
class JudgedCall:
    """What came: "refused" or "accepted"; "raw", "long" (a refusal that is none) or "endless"."""

    call: WrongCall
    kind: str
    said: str
    seconds: float

    @property
    def failed(self) -> bool:
        return self.kind in ("raw", "long", "endless")


def every() -> list[WrongCall]:
    """All wrong calls; it leaves the current folder, where files are written."""
    from benchmarks.wrong_calls.places import arguments, places
    from benchmarks.wrong_calls.values import VALUES

    os.chdir(tempfile.mkdtemp())
    found = []
    for place, (call, right) in places().items():
        names = arguments(call, right)
        found += [WrongCall(place, *pair) for pair in itertools.product(names, VALUES)]
        misfits = () if place.endswith("[]") else CALLED
        found += [WrongCall(place, "", how) for how in misfits if names]
    return [each for each in found if (each.place, each.argument, each.value) not in ALL]


def judged(count: int, seed: int, only: str = "", limit: float = LIMIT) -> Iterator[JudgedCall]:
    """So many wrong calls at random, in a child, which is replaced when a call does not end."""
    child = _Child()
    calls = [each for each in child.calls if only in each.place]
    some = random.Random(seed).sample(calls, min(count, len(calls)))
    for call in sorted(some, key=lambda each: each.place):
        answer = child.ask(call, limit)
        yield answer
        if answer.kind == "endless":
            child.end()
            child = _Child()
    child.end()


class _Child:
    """A process that makes calls; ``calls`` are those that it can make."""

    def __init__(self) -> None:
        spawned = multiprocessing.get_context("spawn")
        self.ours, theirs = spawned.Pipe()
        self.process = spawned.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        if not self.ours.poll(START):
            raise RuntimeError("the child that makes the calls does not begin")
        self.calls: list[WrongCall] = self.ours.recv()

    def ask(self, call: WrongCall, limit: float) -> JudgedCall:
        start = time.perf_counter()
        self.ours.send(call)
        try:
            answered = self.ours.poll(limit)
            kind, said = self.ours.recv() if answered else ("endless", f"no answer in {limit:g} s")
        except EOFError:
            kind, said = "endless", "the process ended"
        return JudgedCall(call, kind, said, time.perf_counter() - start)

    def end(self) -> None:
        self.ours.close()
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    pipe.send(every())
    while True:
        try:
            call = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(call))


def answer(call: WrongCall) -> tuple[str, str]:
    """Make the call; the kind of the answer, and what was said."""
    from benchmarks.wrong_calls.places import places
    from benchmarks.wrong_calls.values import VALUES

    verb, right = places()[call.place]
    try:
        if call.argument:
            result = verb(**{**right, call.argument: VALUES[call.value]()})
        elif call.value == "lacking":
            result = verb(**dict(list(right.items())[1:]))
        elif call.value == "one too many":
            result = verb(*[None] * 60)
        elif call.value == "mistyped":
            result = verb(**right, widht=3)
        else:
            result = verb(next(iter(right.values())), **right)
    except InputError as error:
        said = str(error)
        formula = said.endswith("^")  # it is shown below, with a mark where it is wrong
        good = 0 < len(said) <= LONGEST and (formula or "\n" not in said)
        return ("refused" if good else "long"), said[: 2 * LONGEST]
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "raw", f"{type(error).__name__}: {str(error)[:200]} ({place.filename}:{place.lineno})"
    return "accepted", type(result).__name__
