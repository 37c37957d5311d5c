"""One-pass SGD, the baseline of giant steps: its overlaps follow closed differential equations
as d grows."""

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import formula
from giantstep.results.trajectory import Trajectory
from giantstep.simulate import sgd as simulate_sgd
from giantstep.theory import sgd as theory_sgd

CLAIM = Claim(
    order=1,
    quote="results in a set of first-order differential equations that describes the dynamical "
    "evolution of the overlaps among the various hidden units and allows for a computation of"
    " the generalization error",
    place="abstract only",
    kind="asymptotic limit",
    statement="First-order differential equations describe the dynamical evolution of the overlaps "
    "among the hidden units, and allow for a computation of the generalization error.",
    where="the equations of motion, for two hidden units of the teacher and four of the student, "
    "erf and ReLU, with label noise",
    how="We regress measured on predicted overlaps (M and Q apart) at the largest d, from the "
    "same initial overlaps and in the mean over seeds. The slope must be one, and so must the"
    " ratio of risks. The distance of a run from the equations must fall as d^(−1/2).",
    judges=(
        Judge(
            "mean slope of M and Q with erf",
            percent=True,
            margin=(0.012, 0.006),
            departure=(0.045, 0.02),
            because="corrections of order 1/d",
        ),
        Judge(
            "mean slope of M and Q with ReLU",
            percent=True,
            margin=(0.02, 0.01),
            departure=(0.12, 0.05),
            because="corrections of order 1/d",
        ),
        Judge(
            "slope of M or of Q",
            percent=True,
            margin=(0.03, 0.015),
            departure=(0.16, 0.06),
            because="corrections of order 1/d",
        ),
        Judge(
            "risk over theory",
            percent=True,
            margin=(0.05, 0.02),
            departure=(0.25, 0.1),
            because="corrections of order 1/d",
        ),
        Judge(
            "power of the distance",
            margin=EXPONENT,
            departure=(0.45, 0.2),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(12, 42), "full": Seeds(20, 110)},
)

CASES = {"erf": "erf(x1) + 0.5*erf(x2)", "relu": "x1 + x1*x2"}
TITLES = {"erf": "erf", "relu": "ReLU"}
SIZES = {"quick": (32, 256), "full": (300, 1000, 3000)}
TIME = 15  # samples a dimension
RATE = 1.0  # p eta / d
RECORDS = 11  # points of the path
WIDTH = 4  # neurons
NOISE = 0.1  # of the labels
POWER = "erf"  # the case whose power of d is measured


def setting(case: str, d: int) -> gs.Setting:
    network = gs.Network(WIDTH, case, scale="1/p", second_layer="rademacher")
    target = gs.target(CASES[case], noise=NOISE)
    return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol((), None))


def simulated(case: str, d: int, seed: int) -> Data:
    """One run: its overlaps and its risk."""
    return _plain(simulate_sgd(setting(case, d), TIME * d, RATE * WIDTH / d, seed, records=RECORDS))


def solved(case: str, d: int, seed: int) -> Data:
    """The equations from that run's own initial overlaps."""
    return _plain(theory_sgd(setting(case, d), TIME * d, RATE * WIDTH / d, seed, records=RECORDS))


def _plain(path: Trajectory) -> Data:
    """M and the upper triangle of Q, (records, p r + p (p + 1)/2), and the risk."""
    upper = np.triu_indices(WIDTH)
    overlaps = np.concatenate([path.M.reshape(RECORDS, -1), path.Q[:, *upper]], axis=1)
    return {"overlaps": overlaps, "risk": path.risk}


def measure(size: Size, seeds: range) -> Data:
    """For every case and d: overlaps (records, all of them, seeds) and risks (records, seeds) of
    the runs."""
    return _gathered(size, seeds, cache.each(simulated, _jobs(size, seeds)))


def predict(size: Size) -> Data:
    """The slope of measured on predicted overlaps, and the power of d with which chance falls."""
    return {"slope": 1.0, "power": -0.5}


def predict_draws(size: Size, seeds: range) -> Data:
    """The equations from the initial overlaps of every run."""
    return _gathered(size, seeds, cache.each(solved, _jobs(size, seeds)))


def _jobs(size: Size, seeds: range) -> list[tuple[str, int, int]]:
    return [
        (case, d, seed)
        for case in CASES
        for d in dimensions(case, size)
        for seed in some(case, seeds)
    ]


def some(case: str, seeds: range) -> range:
    """Half of the seeds for the case whose equations take long."""
    return seeds if case == POWER else seeds[: len(seeds) // 2]


def dimensions(case: str, size: Size) -> tuple[int, ...]:
    """The power of d is measured with the first case alone, because the equations of the other
    take long."""
    return SIZES[size] if case == POWER else SIZES[size][-1:]


def _gathered(size: Size, seeds: range, paths: list[Data]) -> Data:
    each = iter(paths)

    def together(case: str) -> Data:
        several = [next(each) for _ in some(case, seeds)]
        return {
            name: np.stack([path[name] for path in several], axis=-1)
            for name in ("overlaps", "risk")
        }

    return {case: {str(d): together(case) for d in dimensions(case, size)} for case in CASES}


def blocks() -> dict[str, slice]:
    """Where M and Q are among the overlaps."""
    return {"M": slice(0, -WIDTH * (WIDTH + 1) // 2), "Q": slice(-WIDTH * (WIDTH + 1) // 2, None)}


def distances(measured: Data, predicted: Data) -> Float[np.ndarray, " seeds"]:
    """Root mean square over path and overlaps of measured less predicted overlaps."""
    return np.sqrt(np.mean((measured["overlaps"] - predicted["overlaps"]) ** 2, axis=(0, 1)))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Slopes of overlaps and mean ratio of risks at the largest d, and the power of d of the
    distance."""
    last, slopes, at, risks = str(SIZES[size][-1]), [], [], []
    pairs: dict[str, list[np.ndarray]] = {}
    count = min(measured[case][last]["risk"].shape[1] for case in CASES)
    for case in CASES:
        here, said = measured[case][last], predicted[case][last]
        for name, block in blocks().items():
            x, y = said["overlaps"][1:, block], here["overlaps"][1:, block]
            slope = np.sum(x * y, axis=(0, 1)) / np.sum(x**2, axis=(0, 1))
            pairs.setdefault(case, []).append(slope)
            slopes.append(slope[:count])
            at.append(f"{case}, {name}")
        risks.append(np.mean(here["risk"][1:] / said["risk"][1:], axis=0)[:count])
    far = [distances(measured[POWER][str(d)], predicted[POWER][str(d)]) for d in SIZES[size]]
    power = statistics.exponent(SIZES[size], np.stack(far))
    judge, one = judging(CLAIM, size), predicted["slope"]
    means = (
        judge(
            f"overlaps at d = {last}, mean of M and Q, {case}",
            np.mean(pair, axis=0)[None],
            one,
            by=f"mean slope of M and Q with {TITLES[case]}",
        )
        for case, pair in pairs.items()
    )
    return statistics.stated(
        *means,
        judge(f"overlaps at d = {last}", slopes, one, by="slope of M or of Q", at=at),
        judge(f"risk over theory at d = {last}", risks, 1.0, by="risk over theory", at=list(CASES)),
        judge("power of the distance", power[None], predicted["power"], at=[POWER]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    return Verdict(
        sizes=f"d = {', '.join(map(str, sizes))}; p = {WIDTH}, {TIME}d samples, "
        f"η = {RATE * WIDTH:g}/d, noise {NOISE:g}",
        figure=_figure(sizes, measured, predicted),
        caption="The risk follows the equations (left, middle), and single runs come closer to "
        "them as d grows (right).",
        settings=tuple(setting(case, sizes[-1]).id for case in CASES),
    )


def _figure(sizes: tuple[int, ...], measured: Data, predicted: Data) -> str:
    d, time = sizes[-1], np.linspace(0, TIME, RECORDS)
    with style.figure(len(CASES) + 1, width=3.1, height=2.9) as (fig, axes):
        for i, (ax, (case, target)) in enumerate(zip(axes, CASES.items(), strict=False)):
            colour, marker = style.COLOURS[i], "os"[i]
            here, said = measured[case][str(d)]["risk"], predicted[case][str(d)]["risk"]
            ax.plot(time, said.mean(1), color=colour, label="equations")
            style.dots(
                ax, time, *mean_and_error(here), color=colour, marker=marker, label=f"SGD, d = {d}"
            )
            ax.set(xlabel="samples / d", ylabel="risk", title=f"{case}, y = {formula(target)}")
            ticks.logarithmic(ax)
            ax.legend()
        far = [distances(measured[POWER][str(k)], predicted[POWER][str(k)]) for k in sizes]
        middle, error = mean_and_error(np.stack(far))
        style.dots(axes[-1], sizes, middle, error, color=style.COLOURS[0], label=POWER)
        chance = middle[0] * (np.array(sizes) / sizes[0]) ** predicted["power"]
        look = {"color": style.COLOURS[0], "linewidth": 0.9, "linestyle": ":"}
        axes[-1].plot(sizes, chance, **look, label="∝ $d^{-1/2}$")
        axes[-1].set(xlabel="d", ylabel="distance of the overlaps")
        ticks.logarithmic(axes[-1], "x", sizes)
        ticks.logarithmic(axes[-1])
        axes[-1].legend()
        return style.svg(fig)
