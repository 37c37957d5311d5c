"""An Explanation as text that a person wants to read."""

from typing import TYPE_CHECKING, Any

from giantstep._table import aligned
from giantstep.explain.words import listing

if TYPE_CHECKING:
    from giantstep.explain.explanation import Climb, Explanation

MAX_TERMS = 24


def explanation_table(x: "Explanation") -> str:
    """Exponents, the staircase, why, what is fitted and the floors; with an activation its own staircase beside."""
    batch = f"one batch of {x.batch} reused" if x.reuse else f"fresh batches of {x.batch}"
    lines = [f"explain: {x.target}, {batch}, width {x.width}", _exponents(x), "", *_staircase(x)]
    lines += ["", *x.reasons]
    if x.realised is not None:
        lines += ["", *x.realised.reasons]
    lines += ["", *_terms(x), "", *_floors(x)]
    lines += [f"Note: {sentence}" for sentence in x.warnings]
    return "\n".join(lines)


def _exponents(x: "Explanation") -> str:
    told = [f"information exponent {_or_none(x.information_exponent)}", f"leap {_or_none(x.leap)}"]
    return ", ".join([*told, f"generative exponent {_or_none(x.generative_exponent)}"])


def _or_none(value: int | None) -> str:
    return "none" if value is None else str(value)


def _staircase(x: "Explanation") -> list[str]:
    rows = []
    for t in range(max(len(c.staircase) for _, c in x.climbs)):
        rows.append([f"U{t}", *(listing(c.staircase[min(t, len(c.staircase) - 1)]) for _, c in x.climbs)])
    return _left(["step", *(name for name, _ in x.climbs)], rows)


def _left(header: list[str], body: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [header, *body]) for i in range(len(header))]
    return ["  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in [header, *body]]


def _terms(x: "Explanation") -> list[str]:
    header = ["mass", "fate", *([] if x.realised is None else [f"fate with {x.activation}"]), "term"]
    body = []
    for i, entry in enumerate(x.terms):
        second = [] if x.realised is None else [_fate(x.realised.terms[i])]
        body.append([f"{entry['mass']:.5g}", _fate(entry), *second, entry["term"]])
    hidden = len(body) - MAX_TERMS
    lines = aligned(header, [body[i] for i in x.largest(MAX_TERMS)])
    return [*lines, f"  ... and {hidden} terms of smaller mass"] if hidden > 0 else lines


def _fate(entry: dict[str, Any]) -> str:
    share = entry["share"]
    return f"partial ({100 * share:.3g} %)" if entry["fate"] == "partial" and share is not None else str(entry["fate"])


def _floors(x: "Explanation") -> list[str]:
    def numbers(climb: "Climb | Explanation") -> str:
        f = climb.floor
        return f"{f['network']:.5g} with width {x.width}, {f['narrow']:.5g} with width of order one"

    lines = [
        f"least mean square error (label noise apart): {numbers(x)}, {x.floor['random_features']:.5g} without steps"
    ]
    if x.realised is not None:
        lines.append(f"with {x.activation}: {numbers(x.realised)}")
    return lines
