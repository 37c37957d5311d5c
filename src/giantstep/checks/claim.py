"""Claim: a statement that a computer can contradict, as data. Judge: a number that decides it, with its margin.

No numerical package is imported here, so that a list of claims is read at once.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from giantstep.citations import Paper, paper
from giantstep.citations._quoted import Quoted

__all__ = ["EXPONENT", "LIMIT", "Claim", "Data", "Judge", "Seeds", "Side", "Size"]

Size = Literal["quick", "full"]
Side = Literal["both", "below", "above"]
Sized = float | tuple[float, float]  # one number for both sizes, or one for each
Data = dict[str, Any]  # plain: text, numbers, true and false, None, NumPy arrays, lists of these

SIZES: tuple[Size, ...] = ("quick", "full")
MOST_SEEDS = 10_000  # of one claim; sets of seeds are this far apart

# One standard for all exponents, whatever the claim: beyond it they differ from the statement.
EXPONENT = 0.05  # the margin of a fitted exponent
LIMIT = 0.02  # the margin of an exponent that theory has at large sizes


@dataclass(frozen=True)
class Seeds:
    """``pilot`` seeds measure the noise, which sets the number of seeds, ``most`` at the most."""

    pilot: int
    most: int

    def __post_init__(self) -> None:
        if not 2 <= self.pilot <= self.most <= MOST_SEEDS:
            raise ValueError(
                f"A pilot has at least 2 seeds and a claim at most {MOST_SEEDS}, not {self.pilot} and {self.most}."
            )


@dataclass(frozen=True)
class Judge:
    """A kind of number that is judged, with what is declared of it before anything is measured.

    Attributes:
        what: the quantity, such as "test error over theory".
        margin: the difference that the statement is allowed, at quick and at full size; in words
            where every number has one of its own, which is computed.
        departure: the larger difference that must be noticed.
        because: where a difference within the margin comes from, such as "terms of order 1/d".
        mean: margin and departure of the mean over all numbers, which has less noise.
        side: "both" for an equality; "below" for "at most", "above" for "at least".
        relative: differences are in units of the prediction.
        percent: they are said in per cent, because the prediction is one.
    """

    what: str
    margin: Sized | str
    departure: Sized
    because: str = ""
    mean: "tuple[Sized, Sized] | None" = None
    side: Side = "both"
    relative: bool = False
    percent: bool = False

    def at(self, size: Size, value: Sized) -> float:
        """A margin or a departure at a size."""
        return value[SIZES.index(size)] if isinstance(value, tuple) else value

    def words(self, known: Collection[str] = ()) -> str:
        """The margin with its reason, unless that is known, and the departure."""
        sides = {"both": "be off by", "below": "lie higher by", "above": "lie lower by"}
        may = f"may {sides[self.side]}"
        because = "for the same reason" if self.because in known else f"because of {self.because}"
        reason = f", {because}" if self.because else ""
        if self.margin in (0, (0, 0)):
            allowed = f"The {self.what} has no margin."
        else:
            allowed = f"The {self.what} {may} {self._said(self.margin)}{reason}."
        noticed = f"A difference of {self._said(self.departure)} must be noticed."
        if self.mean is None:
            return f"{allowed} {noticed}"
        each, seen = map(self._said, self.mean)
        return f"{allowed} {noticed} Their mean {may} {each}, and there {seen} must be noticed."

    def _said(self, value: Sized | str) -> str:
        if isinstance(value, str):
            return value
        quick, full = (self._number(self.at(size, value)) for size in SIZES)
        return quick if quick == full else f"{quick} (full size {full})"

    def _number(self, value: float) -> str:
        return f"{100 * value:.3g}%" if self.relative or self.percent else f"{value:.3g}"


def unbound(*_: Any) -> Any:
    """In the place of a function, in a claim that was read and not loaded."""
    raise TypeError("This claim was read without its functions; giantstep.claims.select loads it.")


@dataclass(frozen=True, kw_only=True)
class Claim(Quoted):
    """A statement that a computer can contradict, with the source's own words (``Quoted``).

    The first part is what the file of a claim writes down, as literals. The second is found: the
    name by the place of the file, and the functions by theirs.

    Attributes:
        statement: one sentence, as the source words it.
        where: the theorem, section or figure.
        how: what is compared, in a few sentences.
        judges: the numbers that decide, each with its margin and departure.
        seeds: the numbers of seeds by size. A size that is missing is too noisy, and is not run.
        correction: the corrected statement, if the source's wording fails; one sentence.
        order: the place of the claim in the list of its folder.
        paper: a key of ``giantstep.citations``; without it, the name of the folder.
        name: ``folder/claim``.
        measure: runs the simulations at a size for these seeds. Every random number depends on
            the seeds. This is the expensive part, and it is stored.
        compare: what is judged, from the size, the measurement and the prediction. The rule of
            ``checks.statistics`` decides.
        describe: the verdict's sentence, figure and caption, from the same and the ruling. It
            decides nothing; what it leaves empty, or a claim without it, is filled from the ruling.
        predict: computes the theory at a size; None for a statement that needs no theory.
        predict_draws: the part of the theory that depends on the draws of these seeds.
        source: the paper of a claim of your own; else ``giantstep.citations`` has it.
        file: the file of a claim of your own.
        module: the module that its file is.
        full_verdict: the last verdict at full size in words; shown if a size is not run.
    """

    statement: str
    where: str
    how: str
    judges: tuple[Judge, ...] = ()
    seeds: Mapping[Size, Seeds]
    correction: str = ""
    order: int = 0
    paper: str = ""
    name: str = ""
    measure: Callable[[Size, range], Data] = unbound
    compare: Callable[[Size, Data, Data], Any] = unbound
    describe: Callable[[Size, Data, Data, Any], Any] | None = None
    predict: Callable[[Size], Data] | None = None
    predict_draws: Callable[[Size, range], Data] | None = None
    source: Paper | None = None
    file: str = ""
    module: str = ""
    full_verdict: str = ""

    @property
    def cites(self) -> Paper:
        """The paper that the claim is from."""
        return self.source or paper(self.paper)

    @property
    def test(self) -> str:
        """What is compared, and then every margin with its reason and its departure."""
        reasons = [each.because for each in self.judges]
        words = (each.words(reasons[:place]) for place, each in enumerate(self.judges))
        return " ".join([self.how, *words])

    def judge(self, what: str) -> Judge:
        """What is declared of this quantity."""
        for each in self.judges:
            if each.what == what:
                return each
        known = ", ".join(repr(each.what) for each in self.judges)
        raise KeyError(f"{self.name or 'The claim'} judges {known}, not {what!r}.")
