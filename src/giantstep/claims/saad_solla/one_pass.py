"""One-pass SGD, the baseline of giant steps: its overlaps follow closed differential equations as d grows."""

from typing import TYPE_CHECKING, NamedTuple

import giantstep as gs
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

    from giantstep.setting import Setting
    from giantstep.trajectory import Trajectory

CASES = {"erf": "erf(x1) + 0.5*erf(x2)", "relu": "x1 + x1*x2"}
SIZES = {"quick": ((64, 256, 800), 6), "full": ((300, 1000, 3000, 10_000), 20)}
TIME, RATE, RECORDS, WIDTH = 15, 1.0, 11, 4  # samples a dimension, p eta / d, points of the path, neurons
HALF = (-0.8, -0.2)  # powers of d within which the distance falls as chance does, d^-1/2


class Path(NamedTuple):
    """One case at one d: what was simulated, seed by seed, and every seed's own prediction."""

    case: str
    d: int
    measured: "Trajectory"
    predicted: "list[Trajectory]"

    @property
    def gaps(self) -> "np.ndarray":
        """Measured less predicted overlaps with the target and among neurons, (seeds, records, p (p + r))."""
        import numpy as np

        flat = lambda t: np.concatenate([t.M.reshape(*t.M.shape[:-2], -1), t.Q.reshape(*t.Q.shape[:-2], -1)], axis=-1)  # noqa: E731
        return flat(self.measured) - np.stack([flat(t) for t in self.predicted])

    @property
    def distance(self) -> "np.ndarray":
        """Root mean square over the path, one number a seed."""
        import numpy as np

        return np.sqrt(np.mean(self.gaps**2, axis=(1, 2)))


def setting(case: str, d: int) -> "Setting":
    network = gs.Network(WIDTH, case, scale="1/p", second_layer="rademacher")
    return gs.Setting(gs.Gaussian(d), gs.target(CASES[case], noise=0.1), network, gs.Protocol((), None))


def paths(size: Size) -> list[Path]:
    from giantstep.simulate import sgd as simulated
    from giantstep.theory import sgd as predicted

    sizes, seeds = SIZES[size]
    found = []
    for case in CASES:
        for d in sizes:
            samples, eta = TIME * d, RATE * WIDTH / d
            run = simulated(setting(case, d), samples, eta, range(seeds), records=RECORDS)
            theory = [predicted(setting(case, d), samples, eta, seed, records=RECORDS) for seed in range(seeds)]
            found.append(Path(case, d, run, theory))
    return found


def run(size: Size) -> Verdict:
    return judged(size, paths(size))


def judged(size: Size, found: list[Path]) -> Verdict:
    """Whether runs stay near their own predictions as chance allows, from what was measured."""
    import numpy as np

    from giantstep.measure import mean_and_error

    sizes, seeds = SIZES[size]
    x = np.log(sizes) - np.mean(np.log(sizes))
    slopes = {}
    for case in CASES:
        logs = np.log([p.distance for p in found if p.case == case])  # (sizes, seeds)
        slopes[case] = tuple(float(v) for v in mean_and_error(x @ logs / np.sum(x**2)))
    last = [p for p in found if p.d == sizes[-1]]
    wrong = [case for case, (slope, error) in slopes.items() if not HALF[0] - 3 * error < slope < HALF[1] + 3 * error]
    sure = all(error < 0.15 for _, error in slopes.values())
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence="The overlaps of a run stay within "
        + " and ".join(f"{p.distance.mean():.3f} ({p.case})" for p in last)
        + f" (root mean square) of their own prediction at d = {sizes[-1]}, a distance that falls as d to the "
        + " and ".join(f"{slope:.2f} ± {error:.2f} ({case})" for case, (slope, error) in slopes.items())
        + " (chance alone: -0.5; a wrong equation: 0).",
        header=("activation", "d", "samples/d", "risk", "s.e.", "predicted", "distance of overlaps"),
        rows=tuple(row for path in found for row in _rows(path)),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; p = {WIDTH}, {TIME}d samples, η = {RATE * WIDTH:g}/d, noise 0.1",
        figure=_figure(found),
        settings=tuple(setting(case, sizes[-1]).id for case in CASES),
    )


def _rows(path: Path) -> list[tuple]:
    import numpy as np

    from giantstep.measure import mean_and_error

    mean, error = mean_and_error(path.measured.risk, axis=0)
    theory = np.mean([t.risk for t in path.predicted], axis=0)
    gap = np.sqrt(np.mean(path.gaps**2, axis=(0, 2)))
    chosen = range(0, RECORDS, 5)
    time = path.measured.samples / path.d
    return [(path.case, path.d, *(float(v[k]) for v in (time, mean, error, theory, gap))) for k in chosen]


def _figure(found: list[Path]) -> str:
    """Left and middle: the risk of every run over its own prediction at the largest d; right: the distance against d."""
    import numpy as np

    from giantstep import canvas
    from giantstep.measure import mean_and_error

    with canvas.figure(len(CASES) + 1, width=2.9, height=2.7) as (fig, axes):
        sizes = sorted({p.d for p in found})
        for ax, (case, formula), colour in zip(axes, CASES.items(), canvas.COLOURS, strict=False):
            path = next(p for p in found if p.case == case and p.d == sizes[-1])
            for s, theory in enumerate(path.predicted):
                ax.plot(
                    theory.samples / path.d, theory.risk, color=colour, linewidth=0.9, label=None if s else "equations"
                )
            mean = path.measured
            ax.plot(
                mean.samples / path.d, mean.risk.T, "o", color=colour, markersize=3,
                label=[f"runs, d = {path.d}"] + [None] * (len(mean.risk) - 1),
            )  # fmt: skip
            ax.set(yscale="log", xlabel="samples / d", ylabel="risk")
            ax.set_title(f"{case},  y = {formula}".replace("*", ""), loc="left", fontsize=8)
            ax.legend()
            here = [p for p in found if p.case == case]
            middle, error = zip(*[mean_and_error(p.distance) for p in here], strict=True)
            canvas.dots(axes[-1], sizes, middle, error, color=colour, label=case)
            axes[-1].plot(
                sizes, middle[0] * (np.array(sizes) / sizes[0]) ** -0.5, color=colour, linewidth=0.8, linestyle=":"
            )
        axes[-1].set(xscale="log", yscale="log", xlabel="d", ylabel="distance of overlaps (dotted: $d^{-1/2}$)")
        axes[-1].legend()
        return canvas.svg(fig)


ONE_PASS = Claim(
    name="saad_solla/one-pass",
    statement="The overlaps and the risk of a narrow network under one-pass SGD follow closed differential equations as d grows.",
    paper="saad_solla",
    where="the equations of motion, here with targets of two directions and label noise",
    run=run,
)
