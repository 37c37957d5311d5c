"""The picture of an Explanation: the staircase of directions, and how much of every term is fitted."""

from typing import TYPE_CHECKING, Any

from giantstep.explain.words import combination
from giantstep.plot.formula import formula
from giantstep.plot.style import COLOURS, INK, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from giantstep.explain.explanation import Explanation

MOST_TERMS = 12
LONGEST = 34  # letters of a title or a label


def picture(x: "Explanation") -> "Figure":
    """The left panel shows the directions step by step, the right panel the largest terms and their fitted parts.

    With an activation, what the best one would find is blue and what this one finds is red.
    """
    with figure(2, width=3.7, height=3.3) as (fig, (left, right)):
        _stairs(left, x.climbs)
        _masses(right, x)
        fig.suptitle(f"y = {_short(formula(x.target), 2 * LONGEST)}", x=0.01, ha="left", fontsize=10)
        handles, names = right.get_legend_handles_labels()
        fig.legend(handles, names, loc="outside lower center", ncols=len(names))
    return fig


def _stairs(ax: "Axes", climbs: list[tuple[str, Any]]) -> None:
    """The dimension of U_t against t; every rise names its new directions."""
    last = max(max(len(climb.staircase) for _, climb in climbs), 2)
    for k, (_, climb) in enumerate(climbs):
        heights = [len(basis) for basis in climb.staircase]
        heights += [heights[-1]] * (last - len(heights))
        lift = 0.04 * (k - (len(climbs) - 1) / 2)  # two staircases do not hide each other
        ends = [*range(last), last - 0.7]
        ax.step(ends, [h + lift for h in (*heights, heights[-1])], where="post", color=COLOURS[k], linewidth=1.8)
        ax.plot(range(last), [h + lift for h in heights], "o", color=COLOURS[k])
        for t, (before, basis) in enumerate(zip(climb.staircase, climb.staircase[1:], strict=False), start=1):
            new = ", ".join(formula(combination(v)) for v in basis[len(before) :])
            above: dict[str, Any] = {"ha": "right", "va": "bottom"} if k == 0 else {"ha": "left", "va": "top"}
            place = (-3, 3) if k == 0 else (4, -5)
            words = _short(new, LONGEST // 2)
            ax.annotate(
                words,
                (t, len(basis) + lift),
                place,
                textcoords="offset points",
                color=COLOURS[k],
                fontsize=8.5,
                **above,
            )
    most = max(len(basis) for _, climb in climbs for basis in climb.staircase)
    ax.set(
        xlabel="giant step t",
        ylabel="directions found, dim U$_t$",
        xlim=(-0.35, last - 0.65),
        ylim=(-0.3, max(most, 1) + 0.5),
    )
    ax.set_xticks(range(last))
    ax.set_yticks(range(max(most, 1) + 1))
    ax.set_title("the staircase", loc="left")


def _masses(ax: "Axes", x: "Explanation") -> None:
    """Outlined bars are the masses of the terms, filled bars their fitted parts; the rest is the remaining error."""
    order, climbs = x.largest(MOST_TERMS), x.climbs
    thick = 0.72 / len(climbs)
    for k, (name, climb) in enumerate(climbs):
        rows = [j + (k - (len(climbs) - 1) / 2) * thick for j in range(len(order))]
        masses = [x.terms[i]["mass"] for i in order]
        fitted = [x.terms[i]["mass"] * _share(climb.terms[i]) for i in order]
        floor = climb.floor["network"]
        ax.barh(rows, fitted, 0.92 * thick, color=COLOURS[k], alpha=0.75, label=f"{name}: remaining error {floor:.3g}")
        ax.barh(rows, masses, 0.92 * thick, fill=False, edgecolor=COLOURS[k], linewidth=0.9)
        for row, i in zip(rows, order, strict=True):
            fate = climb.terms[i]["fate"]
            ax.annotate(
                fate,
                (x.terms[i]["mass"], row),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                color=INK,
            )
    ax.set_yticks(range(len(order)), [_short(formula(x.terms[i]["term"]), LONGEST // 2) for i in order])
    ax.set(xlabel="mass of the term; the filled part is fitted", ylim=(max(len(order), 3) - 0.5, -0.5))
    ax.margins(x=0.18)
    hidden = len(x.terms) - len(order)
    ax.set_title("what is fitted" + (f", without {hidden} smaller terms" if hidden else ""), loc="left")


def _share(term: dict[str, Any]) -> float:
    """The fitted part of a term, from 0 to 1."""
    return {"fitted": 1.0, "lost": 0.0}.get(term["fate"], term["share"] or 0.0)


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
