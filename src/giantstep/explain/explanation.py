"""Explanation: what a few giant steps can learn about a target, and why."""

from dataclasses import dataclass, fields
from typing import Any

from giantstep._shown import html
from giantstep.explain.words import listing
from giantstep.results.table import aligned

MAX_TERMS = 24


@dataclass(frozen=True, repr=False, eq=False)
class Climb:
    """A staircase and the parts it does not fit, for the conjecture or for an activation.

    Attributes:
        staircase: for every step, an orthonormal basis of U_t as a list of r-vectors; entry 0 is empty.
        orders: for every step, the order at which each new direction is found.
        strengths: for every step, the strength ``v^T G_l(U) v`` of each new direction.
        terms: the target's Hermite terms: term, mass, fate (fitted, partial or lost), coefficient, and the share fitted.
        floor: lower bounds of the mean square error: narrow, network, random_features.
        reasons: why each step finds what it finds, and why it stops.
    """

    staircase: list[list[list[float]]]
    orders: list[list[int]]
    strengths: list[list[float]]
    terms: list[dict[str, Any]]
    floor: dict[str, float]
    reasons: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """The result of ``gs.explain``.

    Attributes:
        target: the formula, or the callable's name.
        rank: number of directions of the target.
        batch: batch size as a power of d.
        width: width as a power of d.
        reuse: whether all steps use one batch.
        information_exponent: smallest order of the target that is not zero; None for a constant.
        leap: the largest order that a step of the whole staircase needs.
        leaps: the order of every step of that staircase.
        generative_exponent: smallest information exponent of any function of the label; None when not known.
        generative_leaps: the same along the staircase with reuse.
        staircase: for every step, an orthonormal basis of U_t as a list of r-vectors; entry 0 is empty.
        orders: for every step, the order at which each new direction is found.
        strengths: for every step, the strength ``v^T G_l(U) v`` of each new direction.
        terms: the target's Hermite terms: term, mass, fate (fitted, partial or lost), coefficient, and the share fitted.
        floor: lower bounds of the mean square error without label noise: narrow (width of order one), network (the given
            batch and width), random_features (no step at all).
        reasons: why each step finds what it finds, and why it stops.
        warnings: conditions that a step needs, and limits of the numbers.
        activation: the activation's name, if one was given.
        realised: the staircase, floors and terms for that activation.
    """

    target: str
    rank: int
    batch: str
    width: str
    reuse: bool
    information_exponent: int | None
    leap: int | None
    leaps: list[int]
    generative_exponent: int | None
    generative_leaps: list[int] | None
    staircase: list[list[list[float]]]
    orders: list[list[int]]
    strengths: list[list[float]]
    terms: list[dict[str, Any]]
    floor: dict[str, float]
    reasons: list[str]
    warnings: list[str]
    activation: str | None = None
    realised: Climb | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"realised": None if self.realised is None else self.realised.to_dict()}

    @property
    def climbs(self) -> "list[tuple[str, Climb | Explanation]]":
        """The staircases with their names: the conjecture's, which the best activation climbs, and the given activation's."""
        if self.realised is None:
            return [("learned", self)]
        return [("best activation", self), (str(self.activation), self.realised)]

    @property
    def sentences(self) -> list[str]:
        """Why a step finds what it finds: for the best activation and, after an empty line, for the given one."""
        if self.realised is None:
            return self.reasons
        return ["The best activation, which sees every order, finds this:", *self.reasons, "", *self.realised.reasons]

    def largest(self, most: int) -> list[int]:
        """The indices of the ``most`` terms of largest mass, in their own order."""
        return sorted(sorted(range(len(self.terms)), key=lambda i: -self.terms[i]["mass"])[:most])

    def __repr__(self) -> str:
        return explanation_table(self)

    def _repr_html_(self) -> str:
        sentences = [*filter(None, self.sentences), *_floors(self), *(f"Note: {each}" for each in self.warnings)]
        return html.block(
            _heading(self), html.line(_exponents(self)), html.table(*_steps_table(self), "left"),
            html.table(*_terms_table(self)), "".join(html.line(each) for each in sentences),
        )  # fmt: skip


def explanation_table(x: Explanation) -> str:
    """The explanation as text: exponents, staircase, reasons, terms and floors, also for the activation if there is one."""
    lines = [_heading(x), _exponents(x), "", *_left(*_steps_table(x))]
    lines += ["", *x.sentences, "", *_terms(x), "", *_floors(x)]
    lines += [f"Note: {sentence}" for sentence in x.warnings]
    return "\n".join(lines)


def _heading(x: Explanation) -> str:
    batch = f"one batch of {x.batch} reused" if x.reuse else f"fresh batches of {x.batch}"
    return f"explain: {x.target}, {batch}, width {x.width}"


def _exponents(x: Explanation) -> str:
    exponents = [f"information exponent {_or_none(x.information_exponent)}", f"leap {_or_none(x.leap)}"]
    return ", ".join([*exponents, f"generative exponent {_or_none(x.generative_exponent)}"])


def _or_none(value: int | None) -> str:
    return "none" if value is None else str(value)


def _steps_table(x: Explanation) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the staircase."""
    rows = []
    for t in range(max(len(c.staircase) for _, c in x.climbs)):
        rows.append([f"U{t}", *(listing(c.staircase[min(t, len(c.staircase) - 1)]) for _, c in x.climbs)])
    return ["step", *(name for name, _ in x.climbs)], rows


def _left(header: list[str], body: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [header, *body]) for i in range(len(header))]
    return ["  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in [header, *body]]


def _terms(x: Explanation) -> list[str]:
    header, body = _terms_table(x)
    hidden = len(x.terms) - len(body)
    lines = aligned(header, body)
    return [*lines, f"  ... and {hidden} terms of smaller mass"] if hidden > 0 else lines


def _terms_table(x: Explanation) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the terms of largest mass."""
    header = ["mass", "fate", *([] if x.realised is None else [f"fate with {x.activation}"]), "term"]
    body = []
    for i, entry in enumerate(x.terms):
        second = [] if x.realised is None else [_fate(x.realised.terms[i])]
        body.append([f"{entry['mass']:.5g}", _fate(entry), *second, entry["term"]])
    return header, [body[i] for i in x.largest(MAX_TERMS)]


def _fate(entry: dict[str, Any]) -> str:
    share = entry["share"]
    return f"partial ({100 * share:.3g} %)" if entry["fate"] == "partial" and share is not None else str(entry["fate"])


def _floors(x: Explanation) -> list[str]:
    def numbers(climb: "Climb | Explanation") -> str:
        f = climb.floor
        return f"{f['network']:.5g} with width {x.width}, {f['narrow']:.5g} with width of order one"

    best = "" if x.realised is None else ", best activation"
    lines = [
        f"least mean square error (without label noise){best}: {numbers(x)}, "
        f"{x.floor['random_features']:.5g} without steps"
    ]
    if x.realised is not None:
        lines.append(f"with {x.activation}: {numbers(x.realised)}")
    return lines
