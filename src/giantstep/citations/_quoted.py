"""Quoted: a statement with the words of its source. No numerical package is imported here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Kind", "Quoted", "authors", "short"]

Kind = Literal[
    "theorem",
    "conjecture",
    "upper bound",
    "lower bound",
    "asymptotic limit",
    "figure",
    "definition",
    "remark",
    "ours",
]


def authors(claims: Iterable[Any]) -> list[str]:
    """The keys of those who make the statements, in the order of the claims, and we come last."""
    return sorted(dict.fromkeys(claim.of or claim.paper for claim in claims), key=lambda key: key == "giantstep")


def short(name: str, of: str) -> str:
    """The name of a claim under the heading of its author: without its group, but for our remarks on others' papers."""
    group, _, own = name.partition("/")
    return name if of not in ("", group) else own or name


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A statement with the words of its source, or our own.

    Attributes:
        quote: the source's own words, verbatim; formulas are transcribed, and "[…]" marks a cut.
        place: the document with the slide or section; it says so where only an abstract was read.
        kind: what the source gives: a theorem, a figure, and so on; "ours" if there is no source.
        of: "giantstep" if the statement is the project's own, and then there is no quote.
    """

    quote: str = ""
    place: str = ""
    kind: Kind = "ours"
    of: Literal["", "giantstep"] = ""

    def __post_init__(self) -> None:
        if self.quote and self.of:
            raise ValueError("A statement has a quote, or it is our own.")
        if bool(self.quote) != bool(self.place):
            raise ValueError("A quote needs its place, and a place its quote.")
        if bool(self.quote) != (self.kind != "ours"):
            raise ValueError(f"The words of a source need a kind, and our own have none: {self.kind!r}.")

    @property
    def said(self) -> str:
        """The line that stands above the statement; empty if nothing is known of a source."""
        if self.quote:
            return f"Source: “{self.quote}” ({self.place})"
        return "Our own statement." if self.of else ""
