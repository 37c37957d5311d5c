"""``python -m benchmarks.wrong_calls --calls 10000`` prints a table of wrong calls by place.

It fails if a call was neither refused in a sentence nor taken as right soon. ``--accepted`` lists
what was taken as right.
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.wrong_calls.judge import JudgedCall, judged

KINDS = ("refused", "accepted", "raw", "long", "endless")


def table(answers: list[JudgedCall]) -> str:
    """Counts by place."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in answers:
        counts[each.call.place][each.kind] += 1
        counts["all"][each.kind] += 1
    lines = [" | ".join(["place", "calls", *KINDS])]
    for place, found in counts.items():
        cells = [place, found.total(), *(found[kind] for kind in KINDS)]
        lines.append(" | ".join(map(str, cells)))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="places that contain this")
    parser.add_argument("--accepted", action="store_true")
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    answers = []
    log = None if given.log is None else given.log.open("w")
    for one in judged(given.calls, given.seed, given.only):
        answers.append(one)
        shown = one.failed or (given.accepted and one.kind == "accepted")
        line = f"{one.kind} {one.call.place}({one.call.argument} = {one.call.value}): {one.said}"
        if shown:
            print(line, file=sys.stderr, flush=True)
        if log is not None:
            print(f"{one.seconds:6.2f} s {line}", file=log, flush=True)
    print(table(answers))
    return int(any(each.failed for each in answers))


if __name__ == "__main__":
    sys.exit(main())
