"""Step by step a network with fresh batches learns the directions of the staircase, and no others."""

from typing import TYPE_CHECKING, Any, NamedTuple

import giantstep as gs
from giantstep.claims.dandi.narrow import chain, experiment, over_null
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

EXAMPLES = {
    "example 1": "x1 + x2 + x1^2 - x2^2",
    "example 2": "x1 + x2 + x1^2 + x2^2 - 2",
    "example 3": "x1 + x1*x2 + x1*x3",
}
STEPS = 3
SIZES = {"quick": ((500, 2000, 8000), 6), "full": ((1000, 10_000, 100_000), 20)}
RATIO = 4  # n/d


class Row(NamedTuple):
    """One direction after some steps: its energy over the null level, measured and by the evolution of overlaps, and the exponent
    of its growth with d."""

    example: str
    steps: int
    direction: str
    predicted: str
    ratio: float
    error: float
    theory: float
    growth: float


def directions(formula: str) -> list["np.ndarray"]:
    """Unit vectors: those of the whole staircase in the order found, then what it never reaches."""
    import numpy as np

    found = gs.explain(formula, batch="d", width="1")
    known = [np.array(v) for v in found.staircase[-1]]
    rank = gs.target(formula).rank
    left = np.eye(rank) - sum((np.outer(v, v) for v in known), np.zeros((rank, rank)))
    values, vectors = np.linalg.eigh(left)
    return [*known, *vectors.T[values > 0.5]]


def measured(size: Size) -> list[Row]:
    import numpy as np

    from giantstep.explain.words import combination
    from giantstep.measure import mean_and_error
    from giantstep.theory import evolution

    sizes, seeds = SIZES[size]
    rows = []
    for example, formula in EXAMPLES.items():
        stairs = gs.explain(formula, batch="d", width="1").staircase
        path = evolution(experiment(formula, sizes[-1], RATIO * sizes[-1], STEPS))
        for steps in range(1, STEPS + 1):
            outcomes = [chain(experiment(formula, d, RATIO * d, steps), seeds) for d in sizes]
            known = np.array(stairs[min(steps, len(stairs) - 1)])
            for v in directions(formula):
                ratios = [over_null(o, v) for o in outcomes]
                mean, error = mean_and_error(ratios[-1])
                growth = float(np.polyfit(np.log(sizes), [np.log(r.mean()) for r in ratios], 1)[0])
                said = "learned" if np.linalg.norm(known @ v) > 0.99 else "not"
                cosines = path.M[steps] @ v / np.sqrt(np.diagonal(path.Q[steps]))
                theory = 1 + sizes[-1] * np.mean(cosines**2) / (1 - path.shares[steps].sum(1).mean())
                rows.append(
                    Row(example, steps, combination(v.tolist()), said, float(mean), float(error), float(theory), growth)
                )
    return rows


def run(size: Size) -> Verdict:
    return judged(size, measured(size))


def judged(size: Size, rows: list[Row]) -> Verdict:
    """Whether the directions learned are those of the staircase, from what was measured."""
    from giantstep.measure import LEARNED

    sizes, seeds = SIZES[size]
    # a learned direction keeps its share of a neuron as d grows, so it grows like d over the null level; the others stay at it
    wrong = [r for r in rows if (r.ratio > LEARNED and r.growth > 0.5) != (r.predicted == "learned")]
    far = max((r for r in rows if r.predicted == "learned"), key=lambda r: abs(r.ratio / r.theory - 1))
    seen, rest = ([r for r in rows if (r.predicted == "learned") == known] for known in (True, False))
    least, most = min(seen, key=lambda r: r.ratio), max(rest, key=lambda r: r.ratio)
    return Verdict(
        outcome="fails" if wrong else "holds",
        sentence=f"{len(rows) - len(wrong)} of {len(rows)} directions, after one to {STEPS} steps, are learned or not as the "
        f"staircase says. At d = {sizes[-1]} those learned carry at least {least.ratio:.0f} null levels ({least.direction}, "
        f"{least.example}, step {least.steps}) and grow with d as d^{min(r.growth for r in seen):.2f} to "
        f"d^{max(r.growth for r in seen):.2f}; the others at most {most.ratio:.1f} ± {most.error:.1f} ({most.direction}, "
        f"{most.example}, step {most.steps}), with exponents {min(r.growth for r in rest):+.2f} to "
        f"{max(r.growth for r in rest):+.2f}. Equal components (example 2) stay at w1 + w2. The evolution of overlaps gives "
        f"every learned energy to within {100 * abs(far.ratio / far.theory - 1):.0f}%.",
        header=("target", "steps", "direction", "staircase", "null levels", "s.e.", "theory", "exponent in d"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; n = {RATIO}d; p = 40, relu, signs, pairs; s = 1",
        figure=_figure(sizes, rows),
        settings=tuple(experiment(f, sizes[-1], RATIO * sizes[-1], STEPS).id for f in EXAMPLES.values()),
    )


def _figure(sizes: Any, rows: list[Row]) -> str:
    """Energy over the null level after every step over the theory's line; dashed, the level from which it counts as learned."""
    import numpy as np

    from giantstep import canvas
    from giantstep.measure import LEARNED

    with canvas.figure(len(EXAMPLES), width=3.0, height=3.1) as (fig, axes):
        for ax, (example, formula) in zip(np.atleast_1d(axes), EXAMPLES.items(), strict=True):
            here = [r for r in rows if r.example == example]
            for i, name in enumerate(dict.fromkeys(r.direction for r in here)):
                line = [r for r in here if r.direction == name]
                x, colour = [r.steps for r in line], canvas.COLOURS[i]
                ax.plot(x, [r.theory for r in line], color=colour)
                label = name.replace("sqrt2", "√2")
                canvas.dots(ax, x, [r.ratio for r in line], [r.error for r in line], color=colour, label=label)
            ax.axhline(LEARNED, color=canvas.INK, linewidth=0.8, linestyle="--")
            ax.set(yscale="log", xlabel="steps", xticks=range(1, STEPS + 1), ylim=(0.4, 3e6), xlim=(0.8, STEPS + 0.2))
            title = formula.replace("^2", "²").replace("*", "")
            ax.set_title(title, loc="left")
            ax.legend(loc="upper left")
        np.atleast_1d(axes)[0].set_ylabel(f"energy / null level, d = {sizes[-1]}")
        return canvas.svg(fig)


STAIRCASE = Claim(
    name="dandi/staircase",
    statement="With fresh batches of order d every giant step learns the directions along which the mean gradient, given those "
    "learned before, is not zero, and no others; targets with equal components stay stuck.",
    paper="dandi",
    where="Definition 2 and Conjecture 1, and examples 1, 2, 3 of the talk, here with the exact chain of overlaps",
    run=run,
)
