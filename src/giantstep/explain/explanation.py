"""Explanation: what a few giant steps can learn of a target, and why."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, repr=False, eq=False)
class Climb:
    """A staircase and what it leaves: that of the conjecture, or the one an activation can climb.

    Attributes:
        staircase: over steps, an orthonormal basis of U_t as a list of r-vectors; entry 0 is empty.
        orders: over steps, the order at which each new direction is seen.
        strengths: over steps, the strength ``v^T G_l(U) v`` of each new direction.
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
    """What ``gs.explain`` found.

    Attributes:
        target: the formula, or the callable's name.
        rank: number of directions of the target.
        batch: batch size as a power of d.
        width: width as a power of d.
        reuse: whether all steps go over one batch.
        information_exponent: smallest order of the target that is not zero; None for a constant.
        leap: largest order needed along the whole staircase.
        leaps: the order of every step of that staircase.
        generative_exponent: smallest information exponent of any function of the label; None when not known.
        generative_leaps: the same along the staircase with reuse.
        staircase: over steps, an orthonormal basis of U_t as a list of r-vectors; entry 0 is empty.
        orders: over steps, the order at which each new direction is seen.
        strengths: over steps, the strength ``v^T G_l(U) v`` of each new direction.
        terms: the target's Hermite terms: term, mass, fate (fitted, partial or lost), coefficient, and the share fitted.
        floor: lower bounds of the mean square error without label noise: narrow (width of order one), network (the given
            batch and width), random_features (no step at all).
        reasons: why each step finds what it finds, and why it stops.
        warnings: what the step needs, or where the numbers end.
        activation: the activation's name, if one was given.
        realised: staircase, floors and terms for that activation, beside the conjecture's.
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
        """What was learned; with an activation the conjecture, and under the activation's name what it realises."""
        if self.realised is None:
            return [("learned", self)]
        return [("conjecture", self), (str(self.activation), self.realised)]

    def largest(self, most: int) -> list[int]:
        """The places of at most so many terms, those of largest mass, in their own order."""
        return sorted(sorted(range(len(self.terms)), key=lambda i: -self.terms[i]["mass"])[:most])

    def __repr__(self) -> str:
        from giantstep.explain.table import explanation_table

        return explanation_table(self)

    __str__ = __repr__
