"""The table of five regimes with the shares of its terms in the fit.

They are measured at sizes that run, and known by theory at sizes that do not.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import (
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
)
from giantstep.plot import style
from giantstep.plot.formula import formula, rounded
from giantstep.theory.limits import by_term
from giantstep_papers.dandi import column
from giantstep_papers.dandi.regime import TALK
from giantstep_papers.dandi.terms import NAMES, at_penalties
from giantstep_papers.shared.far import Compared, vouched

CLAIM = Claim(
    order=9,
    quote="Learned direction(s): span(w*₁, w*₂) Final fitted function: see equation",
    place="Stephan's talk, slide “Example” after Conjecture 3",
    kind="asymptotic limit",
    statement="The learned directions and the final fitted function are those of the example: the "
    "underlined terms of f*.",
    where="the example after Conjecture 3, f* = x1 + H2(x2) + H2(x1) x2 + H4(x1) H2(x2) x3 + H2(x2)"
    " H2(x3): five regimes n ~ d^κ₁, p ~ d^κ₂, and the terms that are underlined in each; "
    "which terms belong to which regime is inferred from the order of the slides",
    how="Underlined terms must have a share of at least one half in the fit, and the others none."
    " At hand the shares are those of simulated networks. The limit is the theory at d = 10¹²"
    " with n and p large multiples of their powers of d, if that theory agrees with the "
    "mean share at hand in every regime, and at full size with every share.",
    judges=(
        Judge(
            "share of an underlined term",
            side="above",
            margin=0.05,
            departure=(0.25, 0.15),
            because="overlaps at the start, of order d^(−1/2)",
        ),
        Judge(
            "share of another term",
            margin=0.05,
            departure=(0.25, 0.15),
            because="overlaps at the start, of order d^(−1/2)",
        ),
        Judge(
            "mean share of a regime less theory",
            margin=(0.04, 0.025),
            departure=(0.1, 0.05),
            because="overlaps at the start, of order d^(−1/2)",
        ),
        Judge(
            "share of a term less theory",
            margin=0.1,
            departure=0.2,
            because="overlaps at the start, of order d^(−1/2)",
        ),
        Judge(
            "share of an underlined term by theory",
            side="above",
            margin=0.05,
            departure=0.1,
            because="what is left at finite multiples",
        ),
        Judge(
            "share of another term by theory",
            margin=0.02,
            departure=0.05,
            because="what is left at finite multiples",
        ),
    ),
    seeds={"quick": Seeds(8, 60), "full": Seeds(10, 60)},
)

ACTIVATION = "tanh(x + 0.8)"  # it has Hermite coefficients of all orders
INDICES = ((1, 0, 0), (0, 2, 0), (2, 1, 0), (4, 2, 1), (0, 2, 2))  # of the terms in ``TALK``
PENALTIES = tuple(10.0**k for k in range(-9, 7))  # times p/n
# d, and samples over their power of d, of the steps whose law of neurons is followed
LAW = (10**6, 10**4)
FAR = 10**12  # the dimension that theory follows
FOLLOWED: dict[str, Any] = {
    "marker": "D",
    "color": style.COLOURS[2],
    "markerfacecolor": "none",
    "markersize": 5.5,
}
MULTIPLES = tuple(10.0**k for k in range(0, 11, 2))  # n over its power of d, and p over its
# d for n ~ d and for n ~ d^2, test samples
SIZES = {"quick": ((48, 16), 3000), "full": ((200, 48), 10_000)}
HALF = 0.5  # the share that underlined terms have at least
SHARE = "share of {} term"  # underlined, or another


class Row(NamedTuple):
    """n ~ d^samples and p ~ d^neurons, and the number of ``underlined`` terms.

    ``batch`` and ``width`` are those over these powers of d where it is simulated.
    """

    samples: int
    neurons: int
    underlined: int
    batch: int
    width: int

    @property
    def name(self) -> str:
        return f"n ~ {_power(self.samples)}, p ~ {_power(self.neurons)}"


ROWS = (
    Row(1, 0, 1, 64, 32),
    Row(1, 1, 2, 64, 4),
    Row(2, 0, 3, 16, 32),
    Row(2, 1, 4, 16, 4),
    Row(2, 2, 5, 16, 1),
)
ORDER = (0, 2, 1, 3, 4)  # in which the talk underlines the terms, from row to row


def underlined(row: Row) -> list[bool]:
    """Whether the talk underlines each term: H2(x2) joins after H2(x1) x2."""
    return [ORDER.index(k) < row.underlined for k in range(len(TALK))]


def experiment(
    row: Row, d: int, penalties: tuple[float, ...], batch: int | None = None, n: int = 2, p: int = 2
) -> gs.Setting:
    """One step learns w1.

    With n ~ d^2 a long step on labels without their linear part, which learns w2, goes before it.
    """
    many = batch or row.batch
    long = gs.GiantStep(many * d**2, p * d**0.5, deflate=2)
    plain = gs.GiantStep((batch or 64) * d, float(p))
    steps = (long, plain) if row.samples == 2 else (plain,)
    network = gs.Network(p, ACTIVATION, scale="1/p", second_layer="gaussian")
    protocol = gs.Protocol(steps, gs.Ridge(n, penalties))
    return gs.Setting(gs.Gaussian(d), gs.target(" + ".join(TALK)), network, protocol)


def simulated(row: Row, d: int, penalties: tuple[float, ...] = PENALTIES) -> gs.Setting:
    n, p = row.batch * d**row.samples, row.width * d**row.neurons
    return experiment(row, d, tuple(k * p / n for k in penalties), None, n, p)


def best(found: by_term.FittedTerms) -> tuple[np.ndarray, int]:
    """The shares in the order of the talk at the penalty of the least risk, and which it is."""
    k = int(np.argmin(found.risk))
    return np.array([found.shares[found.terms.index(index), k] for index in INDICES]), k


@lru_cache
def predicted_shares(row: Row, d: int) -> tuple[np.ndarray, int]:
    return best(by_term.fitted(simulated(row, d)))


def shares(row: tuple, d: int, penalty: float, seed: int, n_test: int) -> np.ndarray:
    """The shares of one seed's fit."""
    setting = simulated(Row._make(row), d, (penalty,))
    path: Any = setting.protocol.readout.path  # type: ignore[union-attr]
    return at_penalties(setting, TALK, seed, n_test, path, 0)[0, 1:]


@lru_cache
def followed(samples: int, neurons: int) -> np.ndarray:
    """Shares at d = FAR for all multiples, (multiples, terms)."""
    law, found = experiment(Row(samples, neurons, 0, 0, 0), LAW[0], PENALTIES, LAW[1]), []
    for many in MULTIPLES:
        n, p = many * float(FAR) ** samples, many * float(FAR) ** neurons
        readout = gs.Ridge(2, tuple(k * p / n for k in PENALTIES))
        own = replace(law, protocol=replace(law.protocol, readout=readout))
        found.append(best(by_term.fitted(own, n=n, d=FAR, p=p))[0])
    return np.array(found)


def _dimension(row: Row, size: Size) -> int:
    return SIZES[size][0][row.samples - 1]


def measure(size: Size, seeds: range) -> Data:
    """Shares (rows, terms, seeds), at the penalty that theory calls best."""
    jobs = []
    for row in ROWS:
        d = _dimension(row, size)
        penalty = PENALTIES[predicted_shares(row, d)[1]]
        jobs += [(tuple(row), d, penalty, seed, SIZES[size][1]) for seed in seeds]
    found = np.array(cache.each(shares, jobs)).reshape(len(ROWS), len(seeds), len(TALK))
    return {"shares": np.swapaxes(found, 1, 2)}


def predict(size: Size) -> Data:
    """Shares at the sizes that run and by theory at d = FAR.

    Shapes: (rows, terms) and (rows, multiples, terms).
    """
    return {
        "shares": np.array([predicted_shares(row, _dimension(row, size))[0] for row in ROWS]),
        "far": np.array([followed(row.samples, row.neurons) for row in ROWS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Underlined terms are fitted and no others.

    This is so at sizes that run, and by theory at the largest multiple.
    """
    labels = [f"{term.split('/')[0]}, {row.name}" for row in ROWS for term in TALK]
    found, said = measured["shares"], predicted["shares"]
    judge, hand = judging(CLAIM, size), np.concatenate(found)
    rows = [row.name for row in ROWS]
    means = found.mean(axis=1), said.mean(axis=1)
    theory = [judge("mean share of a regime less theory", *means, at=rows)]
    if size == "full":
        theory.append(judge("share of a term less theory", hand, said.ravel(), at=labels))
    known = np.array([underlined(row) for row in ROWS]).ravel()
    kinds = (("an underlined", known, HALF), ("another", ~known, 0.0))

    def fitted(where: str, values: np.ndarray, noisy: bool) -> Compared:
        return tuple(
            judge(
                SHARE.format(what) + where,
                values[chosen],
                share,
                at=compress(labels, chosen),
                noisy=noisy,
            )
            for what, chosen, share in kinds
        )

    far = fitted(" by theory", predicted["far"][:, -1].ravel(), noisy=False)
    return Evidence((*fitted("", hand, noisy=True), *theory), limit=vouched((*theory,), far))


def half(row: int, term: int, far: np.ndarray) -> float:
    """The multiple of the powers of d at which the share of a term is one half.

    It is read off a line in the logarithm.
    """
    return float(10.0 ** np.interp(HALF, far[row, :, term], np.log10(MULTIPLES)))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    mean, far = measured["shares"].mean(axis=-1), predicted["far"]
    columns = ("regime", "term", "promised", "measured", "predicted")
    header = (*columns, *(f"R = {many:.0e}" for many in MULTIPLES))
    known = np.array([underlined(row) for row in ROWS])
    worst = max((half(i, k, far), i, k) for i, k in np.argwhere(known))
    low = int(np.sum(mean[known] < HALF))
    d, (first, second) = SIZES[size][0], (ROWS[0], ROWS[2])
    fitted, slowest = "", ""
    if ruling.limit is not None and ruling.limit.outcome == "holds":
        fitted = (
            " By theory at large d all of them are more than half fitted once n and p are "
            f"{rounded(worst[0])} times their powers of d."
        )
        slowest = (
            "By theory the last underlined term to be fitted is "
            f"{formula(TALK[worst[2]].split('/')[0])}, in the regime {ROWS[worst[1]].name}."
        )
    return Verdict(
        sentence=f"At sizes that run, {low} of {known.sum()} underlined terms are less than half "
        f"fitted.{fitted}",
        trend=slowest,
        header=header,
        rows=tuple(
            (row.name, term.split("/")[0], "fitted" if known[i, k] else "not", float(mean[i, k]))
            + (float(predicted["shares"][i, k]), *(float(x) for x in far[i, :, k]))
            for i, row in enumerate(ROWS)
            for k, term in enumerate(TALK)
        ),
        sizes=f"d = {d[0]} for n ~ d and {d[1]} for n ~ d²; n = {first.batch}d or "
        f"{second.batch}d²; p = {', '.join(_multiple(r.width, r.neurons) for r in ROWS)}; "
        f"{ACTIVATION}; theory at d = {FAR:.0e}, n and p = R times their powers of d",
        figure=_figure(far, known, mean, _halves(known, ruling), predicted["shares"]),
        caption=f"At sizes that run {low} of {known.sum()} underlined terms are less than half "
        "fitted, but theory takes them all beyond the half, and no other term.",
        settings=tuple(simulated(row, _dimension(row, size)).id for row in ROWS),
    )


def _power(k: int) -> str:
    return ("1", "d", "d²")[k]


def _multiple(factor: int, power: int) -> str:
    if power and factor > 1:
        return f"{factor}{_power(power)}"
    return _power(power) if power else str(factor)


def _halves(known: np.ndarray, ruling: Ruling) -> np.ndarray:
    """Half of the interval of every share, (rows, terms)."""
    halves = np.empty(known.shape)
    for what, chosen in (("an underlined", known), ("another", ~known)):
        halves[chosen] = ruling.stated.of(SHARE.format(what)).half
    return halves


def _figure(
    far: np.ndarray, known: np.ndarray, mean: np.ndarray, halves: np.ndarray, said: np.ndarray
) -> str:
    """Every term of every regime: its share at sizes that run, and where theory takes it."""

    def shown(i: int, k: int) -> column.ColumnRow:
        mark = int(not known[i, k])
        return column.ColumnRow(NAMES[TALK[k]], mean[i, k], halves[i, k], said[i, k], mark)

    blocks = {row.name: [shown(i, k) for k in range(len(TALK))] for i, row in enumerate(ROWS)}
    marks = ["underlined", "not underlined"]
    with column.figure(blocks, marks, "theory, same d") as (fig, ax, heights):
        name = f"theory, d = $10^{{{np.log10(FAR):.0f}}}$"
        ax.plot(far[:, -1].ravel(), heights, linestyle="none", label=name, **FOLLOWED)
        ax.axvline(HALF, color=style.INK, linewidth=0.8, linestyle=":", zorder=0)
        ax.set(xlabel="share of a term in the fit", xlim=(-0.08, 1.08))
        return style.svg(fig, below=2, columnspacing=1)
