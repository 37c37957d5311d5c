"""Claims in wrong worlds: the simulator is altered, the prediction is not, and what held must be ``fails``.

A statement about a limit that our theory settles is tried in wrong theories instead: the prediction is altered.

``python -m tests.wrong_worlds [CLAIM ...] [--first-seed N] [--sets R] [--workers W] [--most S] [--keep]`` measures them at the
least size of each claim, on S seeds at most, and prints how often they failed; ``--keep`` keeps what was measured on the first
set, for the tests.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "claims")]

import kept  # noqa: E402

from giantstep.checks._check import gather, lasting_for_now  # noqa: E402
from giantstep.checks.cache import on  # noqa: E402
from giantstep.checks.claim import (  # noqa: E402
    Claim,
    Data,
    Seeds,  # noqa: E402
)
from giantstep.checks.verdict import Ruling  # noqa: E402
from giantstep.claims import select  # noqa: E402

FOLDER = Path(__file__).parent / "measured" / "worlds"
World = Callable[[pytest.MonkeyPatch], None]


def of(claim: Claim, kinds: tuple[str, ...] = ("WORLDS", "THEORIES")) -> dict[str, World]:
    """The wrong worlds and the wrong theories of a claim by their names."""
    every: dict[str, World] = {}
    for module in iter_modules([str(Path(__file__).parent / "claims" / "worlds")]):
        for kind in kinds:
            every |= getattr(import_module(f"worlds.{module.name}"), kind, {}).get(claim.name, {})
    return every


def measured(claim: Claim, world: str, first_seed: int, most: int | None = None) -> tuple[Data, Data]:
    """What is measured in a wrong world, on so many seeds at most, and what is predicted for the right one.

    For a wrong theory: what was measured and kept in the right world, and what is predicted for the wrong one.
    """
    size = kept.least(claim)
    if world in of(claim, ("THEORIES",)):
        assert claim.predict is not None
        with pytest.MonkeyPatch.context() as patch:
            of(claim)[world](patch)
            found, expected = kept.load(claim)
            return found, {**expected, **claim.predict(size)}
    if most is not None:
        seeds = claim.seeds[size]
        claim = replace(claim, seeds={size: Seeds(min(seeds.pilot, most), min(seeds.most, most))})
    predicted = claim.predict(size) if claim.predict else {}

    def part(name: str, make: Callable[..., Any], *arguments: Any) -> Any:
        return predicted if name == "predicted" else make(*arguments)

    with pytest.MonkeyPatch.context() as patch, lasting_for_now() as bench, on(bench):
        of(claim)[world](patch)
        data, expected, _ = gather(claim, size, first_seed, part)
    return data, expected


def failed(claim: Claim, data: Data, predicted: Data) -> bool:
    """Whether what holds in the right world fails in this one: as stated, in the limit or corrected.

    A limit by theory that does not agree with the simulations is no evidence: it is None there.
    """
    right, wrong = (
        Ruling.on(claim.compare(kept.least(claim), *each)) for each in (kept.load(claim), (data, predicted))
    )
    pairs = [(getattr(right, name), getattr(wrong, name)) for name in ("stated", "limit", "corrected")]
    return any(own and own.outcome == "holds" and (other is None or other.outcome == "fails") for own, other in pairs)


def load(claim: Claim) -> dict[str, tuple[Data, Data]]:
    """What was kept of every world of a claim."""
    texts = json.loads(_path(claim).read_text(encoding="utf-8"))
    return {name: (kept.back(each["measured"]), kept.back(each["predicted"])) for name, each in texts.items()}


def _path(claim: Claim) -> Path:
    return FOLDER / f"{claim.name.replace('/', '-')}.json"


def _try(name: str, world: str, first_seed: int, most: int | None) -> tuple[str, str, int, bool | str, Data, Data]:
    (claim,) = select([name])
    try:
        data, predicted = measured(claim, world, first_seed, most)
        return name, world, first_seed, failed(claim, data, predicted), data, predicted
    except Exception as problem:  # the table shows it
        return name, world, first_seed, f"{type(problem).__name__}: {problem}", {}, {}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("claims", nargs="*")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sets", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--most", type=int)
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    claims = select(chosen.claims)
    firsts = [chosen.first_seed + 1000 * k for k in range(chosen.sets)]
    jobs = [(claim.name, world, first, chosen.most) for claim in claims for world in of(claim) for first in firsts]
    counts: dict[tuple[str, str], list[bool | str]] = defaultdict(list)
    keep: dict[str, dict[str, Any]] = defaultdict(dict)
    with ProcessPoolExecutor(chosen.workers) as pool:
        for name, world, first, outcome, data, predicted in pool.map(_try, *zip(*jobs, strict=True)):
            counts[name, world].append(outcome)
            if first == firsts[0]:
                keep[name][world] = kept.plain({"measured": data, "predicted": predicted}, 5)
            print(name, "|", world, "|", first, "|", outcome, flush=True)
    for (name, world), outcomes in counts.items():
        if not all(each is True for each in outcomes):
            print(f"NOT ALWAYS: {name} | {world} | fails {sum(each is True for each in outcomes)} of {len(outcomes)}")
    total = [each for outcomes in counts.values() for each in outcomes]
    print(f"{sum(each is True for each in total)} of {len(total)} wrong worlds fail")
    if chosen.keep:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, worlds in keep.items():
            text = json.dumps(worlds, separators=(",", ":"), ensure_ascii=False) + "\n"
            (FOLDER / f"{name.replace('/', '-')}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
