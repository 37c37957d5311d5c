"""python -m benchmarks.theory [--small]: predicted curves and phase diagrams, and a damped loop in NumPy per point."""

import sys
import time

import numpy as np

import giantstep as gs
from benchmarks.damped import damped
from benchmarks.floor import best
from giantstep._machine.backend import one_blas_thread
from giantstep.theory import parameters
from giantstep.theory.one_step import _conditional as conditional
from giantstep.theory.one_step import _grid as grid

ONE, TWO, THREE = "x1 + H2(x1)/sqrt(2)", "x1 + x1*x2", "tanh(x1) + x2*x3"  # targets of so many directions


def setting(update: str, etas: int, penalties: int, formula: str = ONE) -> gs.Setting:  # type: ignore[name-defined]
    step = gs.GiantStep(4000, gs.power(tuple(np.linspace(0, 0.5, etas))), update=update)
    readout = gs.Ridge(4000, tuple(np.geomspace(1e-4, 10, penalties)))
    target, network = gs.target(formula, noise=0.5), gs.Network(3000, "relu")
    return gs.Setting(gs.Gaussian(2000), target, network, gs.Protocol((step,), readout))


def seconds(update: str, etas: int, penalties: int, formula: str = ONE) -> float:
    """Of one curve, after a first."""
    made = setting(update, etas, penalties, formula)
    gs.theory(made)
    return best(lambda: gs.theory(made), 3)


def phase_diagram(update: str, side: int) -> float:
    """Seconds of a square diagram over the step size and n/d, after a first."""
    numbers, form = parameters(setting(update, 2, 2))
    alpha, ratio = (x.ravel() for x in np.meshgrid(np.linspace(0, 0.5, side), np.geomspace(0.3, 10, side)))
    each = grid.repeated(numbers, alpha.size)
    each = each._replace(n1_over_d=ratio, n_over_d=ratio, eta=(2000 * ratio) ** alpha)
    penalties = np.full((alpha.size, 1), 0.01)
    run = lambda: grid.pointwise(each, form, penalties)  # noqa: E731
    run()
    return best(run, 2)


def loop_over_ours(update: str, points: int) -> tuple[float, float, int]:
    """Time of the damped loop over ours, per point, the largest relative difference of q, and the most sweeps.

    Ours is the whole prediction, tables and errors included; the loop finds the fixed point alone.
    """
    numbers, form = parameters(setting(update, points, points))
    problems = [conditional.problem(numbers._replace(eta=eta), form).features for eta in np.asarray(numbers.eta)]
    penalties = np.random.default_rng(0).permutation(np.asarray(numbers.penalty))
    with one_blas_thread():
        start = time.perf_counter()
        found = [damped(features, float(lam)) for features, lam in zip(problems, penalties, strict=True)]
        theirs = (time.perf_counter() - start) / points
        ours = [conditional.solve(features, lam) for features, lam in zip(problems, penalties, strict=True)]
    gap = max(float(np.max(np.abs(np.asarray(o.q) / q - 1))) for o, (q, _, _) in zip(ours, found, strict=True))
    return theirs / (seconds(update, 40, 20) / 800), gap, max(sweeps for _, _, sweeps in found)


def main() -> None:
    small = "--small" in sys.argv[1:]
    etas, penalties, side, points = (8, 4, 6, 2) if small else (100, 20, 40, 6)
    for update in ("rank1", "gradient"):
        print(f"update = {update!r}")
        one = seconds(update, etas, penalties)
        print(f"  {etas} step sizes x {penalties} penalties     {one:7.2f} s")
        for formula in (TWO, THREE):
            more = seconds(update, etas, penalties, formula) / one
            print(f"    {formula} over it  {more:7.2f}   (goal: at most 10)")
        print(f"  phase diagram {side} x {side}              {phase_diagram(update, side):7.2f} s")
        ratio, gap, sweeps = loop_over_ours(update, points)
        print(
            f"  damped loop / giantstep, a point  {ratio:7.1f}   (goal: at least 20; q differs by {gap:.0e}, {sweeps} sweeps)"
        )


if __name__ == "__main__":
    main()
