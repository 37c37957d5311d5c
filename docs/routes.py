"""The table of docs/theory.md: which route answers for which setting, asked of the code itself, and the list of its refusals."""

from dataclasses import dataclass
from itertools import product

import numpy as np

import giantstep as gs
from giantstep.equivalent import MODELS, covers
from giantstep.simulate._cost import fewer_coordinates
from giantstep.theory._coverage import check_theory, refusals, route

D, N = 400, 800
AXES = {
    "data": ("N(0, I)", "mixture", "data set"),
    "target rank": ("1", "2 to 6"),
    "steps": ("0", "1", "2", "3 or more"),
    "batches": ("all fresh", "the readout reuses the last", "a step reuses the one before"),
    "width": ("of order d", "p + r ≤ d/10"),
    "readout": ("ridge", "SGD", "none"),
}
THEORIES = {
    "random features": "[random features](#the-published-limits)",
    "one step": "[one step](#the-conditional-theory)",
    "rows": "[law of the rows](#several-steps)",
    "one batch": "[law of the rows](#two-steps-on-one-batch)",
    "own batch": "[own batch](#the-readout-on-the-steps-own-batch)",
    "overlaps": "[overlaps](#narrow-networks-and-several-steps)",
    "mixture": "[mixture](#mixtures)",
    "sgd": "[SGD](sgd.md)",
}
Combination = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """Values of every axis all of whose combinations have the same answers."""

    values: tuple[tuple[int, ...], ...]
    answers: tuple[str, str, str]


def example(combination: Combination) -> gs.Setting | None:
    """A setting of that combination; None where there is none."""
    data, rank, steps, batches, width, readout = combination
    if (batches == 1 and (steps == 0 or readout == 2)) or (batches == 2 and steps < 2):
        return None
    again = "reuse" if batches == 1 else "fresh"
    read = (gs.Ridge(N, 0.1, batch=again), gs.SGD(N, 0.1, batch=again), None)[readout]
    fresh, more = gs.GiantStep(N, 1.0), gs.GiantStep(N, 1.0, batch="reuse" if batches == 2 else "fresh")
    target = gs.target(("x1", "x1 + x1*x2")[rank])
    law = (
        gs.Gaussian(D),
        gs.Mixture(D, (gs.Component(1.0, (gs.Spike(5.0),)),)),
        gs.Dataset((np.random.default_rng(0).standard_normal((8, D)), np.arange(8) % 2)),
    )[data]
    return gs.Setting(
        law, target, gs.Network((D // 2, D // 20)[width], "relu"), gs.Protocol((fresh, more, more)[:steps], read)
    )


def answers(combination: Combination) -> tuple[str, str, str] | None:
    """What theory, equivalent and simulate say."""
    setting = example(combination)
    if setting is None:
        return None
    try:
        check_theory(setting)
        theory = THEORIES[route(setting)]
    except gs.InputError:
        theory = "–"
    models = [model for model in MODELS if covers(setting, model)]
    equivalent = "all" if len(models) == len(MODELS) else ", ".join(models) or "–"
    return theory, equivalent, "overlap chain, dense" if fewer_coordinates(setting) else "dense"


def boxes() -> list[Box]:
    """All combinations in few boxes: each grows from the first combination not yet covered."""
    sizes = [len(values) for values in AXES.values()]
    known = {c: answers(c) for c in product(*map(range, sizes))}
    left, made = [c for c, own in known.items() if own is not None], []
    while left:
        own = known[left[0]]
        assert own is not None
        values = [{i} for i in left[0]]
        for axis, size in enumerate(sizes):
            for i in range(size):
                wider = [v | {i} if k == axis else v for k, v in enumerate(values)]
                if all(known[c] in (None, own) for c in product(*wider)):
                    values = wider
        inside = [c for c in product(*values) if known[c] is not None]
        made.append(Box(tuple(tuple(sorted({c[k] for c in inside})) for k in range(len(sizes))), own))
        left = [c for c in left if c not in inside]
    return made


def table() -> str:
    """The table in Markdown."""
    head = [*AXES, "theory", "equivalent", "simulate"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for box in boxes():
        cells = [
            "any" if len(own) == len(words) else ", ".join(words[i] for i in own)
            for own, words in zip(box.values, AXES.values(), strict=True)
        ]
        lines.append(f"| {' | '.join([*cells, *box.answers])} |")
    return "\n".join(lines) + "\n"


def refused() -> str:
    """The refusals of ``gs.theory``, each with the nearest setting, as a list in Markdown."""
    words = {"p": "p", "d": "d", "rank": "more", "steps": "more"}
    return "".join(f"- {each.sentence.format(**words)}; nearest: {each.named}.\n" for each in refusals())
