"""check(claims, size, first_seed): measure, predict and judge. Everything is stored, so a second time it is instant.

The measurement, the prediction and the verdict of a claim are stored separately, each with the version of its code. So a change
in how verdicts are judged or plotted does not discard the measurements.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from giantstep.checks._expected import longest_first
from giantstep.checks._standing import Standing
from giantstep.checks.cache import Bench, Interrupted, on
from giantstep.checks.claim import Claim, Data, Size
from giantstep.checks.code import judging, measuring, recall
from giantstep.checks.statistics._decision import seeds_wanted
from giantstep.checks.verdict import Result, Ruling, Verdict, rule
from giantstep.errors import InputError, MissingData
from giantstep.lab.store import Store
from giantstep.lab.work._call import Call
from giantstep.lab.work.executor import Here
from giantstep.lab.work.pool import Pool

_FOLDERS = re.compile(r"(?<![\w.:/)~])(?:[A-Za-z]:)?[/\\](?:[\w.~+@-]+[/\\])+")  # folders, not shown in a report
TOO_NOISY = "Quick runs are too noisy for this test, so it runs at full size only."


@dataclass(frozen=True)
class NotRun:
    """The answer of a worker for a claim without a verdict: a sentence that says why, and the error if there was one."""

    sentence: str
    error: str | None
    seconds: float


def check(
    claims: Sequence[Claim],
    size: Size,
    bench: Bench | None = None,
    on_progress: Callable[[Standing], None] | None = None,
    task: Callable[[str, Size, str, int], Call] | None = None,
    expected: Mapping[str, float] | None = None,
    first_seed: int = 0,
) -> list[Result]:
    """Run the claims that have no stored verdict; results come in the order of the list.

    A claim whose data are not on this machine gets the verdict "not run". So does a claim that fails, and its result has the
    error. The other claims go on, and such a claim is run again the next time. Bad input and an interruption are raised.

    Args:
        claims: what to check, each name once.
        size: "quick" or "full".
        bench: the store and the executor; without a bench nothing is stored.
        on_progress: called once at the start and after every claim that ends.
        task: ``task(name, size, store, first_seed)`` makes whole claims run side by side, each in a process that
            writes to the same store. Without it one claim runs after the other.
        expected: seconds by the names of claims, as far as they are known; workers begin with the longest claims.
        first_seed: the seeds of every claim are this one and those that follow.
    """
    finished = {} if bench is None else _stored(claims, size, bench, first_seed)
    todo = [claim for claim in claims if claim.name not in finished]
    if task is not None:
        todo = longest_first(todo, expected or {})
    workers = bench.where.workers if bench is not None and task is not None and isinstance(bench.where, Pool) else 1
    known = len(finished)

    def tell(latest: Result | None) -> None:
        begun = len(finished) - known + workers  # claims begin in their order, this many at a time
        results = tuple(finished[claim.name] for claim in claims if claim.name in finished)
        running = tuple(claim for claim in todo[:begun] if claim.name not in finished)
        if on_progress is not None:
            on_progress(Standing(results, running, tuple(todo[begun:]), latest, workers, expected or {}))

    tell(None)
    if bench is None or task is None:
        ran = _in_turn(todo, size, bench, first_seed)
    else:
        ran = _side_by_side(todo, size, bench, task, first_seed)
    for result in ran:
        finished[result.claim.name] = result
        tell(result)
    if any(claim.name not in finished for claim in claims):
        raise Interrupted
    return [finished[claim.name] for claim in claims]


def verdict_of(store: Store, claim: Claim, size: Size, first_seed: int = 0) -> Verdict | None:
    """The stored verdict of a claim from this version of the code, or None."""
    record = store.get_record(_key(claim, size, first_seed, "verdict"))
    return None if record is None else _verdict(record[0])


def _stored(
    claims: Sequence[Claim], size: Size, bench: Bench, first_seed: int, fresh: bool = False
) -> dict[str, Result]:
    """The stored results by the names of their claims; ``fresh`` ones were made by this check."""
    recall(bench.store, map(_home, claims))
    records = ((claim, bench.store.get_record(_key(claim, size, first_seed, "verdict"))) for claim in claims)
    return {
        claim.name: Result(claim, _verdict(there[0]), there[1], size, stored=not fresh)
        for claim, there in records
        if there is not None
    }


def _in_turn(todo: Sequence[Claim], size: Size, bench: Bench | None, first_seed: int) -> Iterator[Result]:
    for claim in todo:
        if bench is not None and bench.where.stopping.is_set():
            return
        yield _run(claim, size, bench, first_seed)


def _side_by_side(
    todo: Sequence[Claim], size: Size, bench: Bench, task: Callable[..., Call], first_seed: int
) -> Iterator[Result]:
    """Workers write verdicts to the store; a worker without a verdict returns the reason."""
    tasks = {
        task(claim.file or claim.name, size, str(bench.store.path.absolute()), first_seed): claim for claim in todo
    }
    for done in bench.where.run(tasks):
        assert isinstance(done.task, Call)
        claim = tasks[done.task]
        if done.refused is not None and done.cause == "input":
            raise InputError(done.refused)
        if isinstance(done.value, NotRun):
            ended = done.value
            yield Result(claim, Verdict("not run", ended.sentence), ended.seconds, size, ended.error)
        elif done.refused is not None:
            yield _broken(claim, size, _plain(done.refused), done.seconds)
        else:
            yield _stored([claim], size, bench, first_seed, fresh=True)[claim.name]


def _run(claim: Claim, size: Size, bench: Bench | None, first_seed: int) -> Result:
    start = time.perf_counter()
    if size not in claim.seeds:
        return Result(claim, Verdict("not run", f"{TOO_NOISY} {claim.full_verdict}".strip()), 0.0, size)
    try:
        with nullcontext(bench) if bench is not None else lasting_for_now() as here:
            verdict, spent = _ruled(claim, size, here, first_seed)
            here.store.put_record(_key(claim, size, first_seed, "verdict"), asdict(verdict), spent)
    except MissingData as problem:
        return Result(claim, Verdict("not run", _plain(str(problem))), time.perf_counter() - start, size)
    except (InputError, Interrupted):
        raise
    except Exception as problem:  # the report shows the error
        text = _plain(str(problem))
        error = f"{type(problem).__name__}: {text}" if text else type(problem).__name__
        return _broken(claim, size, error, time.perf_counter() - start)
    return Result(claim, verdict, spent, size)


@contextmanager
def lasting_for_now() -> Iterator[Bench]:
    """A bench whose store lasts for one claim: what the pilot measured is not measured again."""
    with Store.at(None) as store:
        yield Bench(store, Here())


def _ruled(claim: Claim, size: Size, bench: Bench, first_seed: int) -> tuple[Verdict, float]:
    """The verdict on as many seeds as the noise asks for, and the seconds that it took."""
    spent = 0.0

    def part(name: str, make: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal spent
        value, seconds = _part(claim, size, bench, first_seed, name, make, *arguments)
        spent += seconds
        return value

    measured, predicted, seeds = gather(claim, size, first_seed, part)
    start = time.perf_counter()
    verdict = rule(claim, size, measured, predicted, f"{seeds[0]}-{seeds[-1]}")
    return verdict, spent + time.perf_counter() - start


def gather(
    claim: Claim,
    size: Size,
    first_seed: int,
    part: Callable[..., Any] = lambda name, make, *arguments: make(*arguments),
) -> tuple[Data, Data, range]:
    """Measure and predict on as many seeds as the noise asks for; ``part(name, make, *arguments)`` makes or reads each part."""
    predicted = part("predicted", claim.predict, size) if claim.predict else {}
    count, most = claim.seeds[size].pilot, claim.seeds[size].most
    while True:
        seeds = range(first_seed, first_seed + count)
        measured = part(f"measured on {count}", claim.measure, size, seeds)
        drawn = part(f"predicted on {count}", claim.predict_draws, size, seeds) if claim.predict_draws else {}
        ruling = Ruling.on(claim.compare(size, measured, {**predicted, **drawn}))
        wanted = min(max(seeds_wanted(ruling.decisions, count), count), most)
        if wanted == count:
            return measured, {**predicted, **drawn}, seeds
        count = wanted


def _broken(claim: Claim, size: Size, error: str, seconds: float) -> Result:
    return Result(claim, Verdict("not run", f"The claim could not be run: {error}"), seconds, size, error)


def _plain(text: str) -> str:
    """The first line, without the folders of this machine."""
    lines = _FOLDERS.sub("", text).strip().splitlines()
    return lines[0] if lines else ""


def _part(
    claim: Claim, size: Size, bench: Bench, first_seed: int, name: str, make: Callable[..., Any], *arguments: Any
) -> tuple[Any, float]:
    """A measurement or prediction, stored or made now, and the seconds that it took."""
    key = _key(claim, size, first_seed, name)
    record = bench.store.get_record(key)
    if record is not None:
        return record
    start = time.perf_counter()
    with on(bench):
        value = make(*arguments)
    bench.store.put_record(key, value, time.perf_counter() - start)
    record = bench.store.get_record(key)  # read again, because the store turns tuples into lists
    assert record is not None
    return record


def _key(claim: Claim, size: Size, first_seed: int, part: str) -> str:
    version = judging if part == "verdict" else measuring
    return f"{version(_home(claim))} {claim.name} {size} {first_seed if part != 'predicted' else 0} {part}"


def _home(claim: Claim) -> str:
    """The module of a claim."""
    return claim.module or claim.compare.__module__


def _verdict(record: dict[str, Any]) -> Verdict:
    tuples = {"rows": tuple(tuple(row) for row in record["rows"])}
    return Verdict(**{**record, **tuples, "header": tuple(record["header"]), "settings": tuple(record["settings"])})
