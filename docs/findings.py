"""The findings: ``page`` puts the numbers of the verdicts into docs/findings.template.md, which people write.

In the template ``{{claim | what | at | column | format}}`` stands for one number of one comparison of a claim. The
columns are those of ``Verdict.compared``: measured, predicted, difference, half, margin; "at" is empty where a
comparison has one number. There are also ``{{claim | outcome}}``, ``{{claim | looseness | format}}``,
``{{count | whose | outcome}}`` with "literature", "ours" or "all" and an outcome or "all",
``{{run | claims}}`` for the command that runs claims again, ``{{size}}``, and ``{{figure | claim | caption}}``.
"""

import re
from pathlib import Path
from typing import Any

import figures

TEMPLATE = Path(__file__).parent / "findings.template.md"
HOLE = re.compile(r"\{\{([^{}]+)\}\}")
COLUMNS = ("measured", "predicted", "difference", "half", "margin")


def page(note: str, verdicts: dict[str, Any]) -> str:
    """The template with its numbers. A hole that no verdict fills is an error, and never a gap in the page."""
    title, _, body = TEMPLATE.read_text(encoding="utf-8").partition("\n\n")
    results = {each["claim"]: each for each in verdicts["results"]}
    return f"{title}\n\n{note}" + HOLE.sub(lambda hole: _fill(hole[1], verdicts, results), body)


def _fill(hole: str, verdicts: dict[str, Any], results: dict[str, Any]) -> str:
    first, *rest = (part.strip() for part in hole.split("|"))
    match first, rest:
        case "size", []:
            return str(verdicts["size"])
        case "count", [whose, outcome]:
            return str(_count(whose, outcome, verdicts))
        case "run", [claims]:
            seeds = f"--size {verdicts['size']} --first-seed {verdicts['first_seed']}"
            return f"```bash\ngiantstep check {claims} {seeds}\n```"
        case "figure", [claim, caption]:
            shown = figures.picture(claim)
            return f"![{caption}]({shown}){{ loading=lazy }}" if shown else ""
        case claim, ["outcome"]:
            return _known(results, claim)["outcome"]
        case claim, ["looseness", form]:
            return _number(_known(results, claim)["looseness"], form)
        case claim, [what, at, column, form]:
            return _number(_compared(_known(results, claim), what, at)[COLUMNS.index(column)], form)
        case _:
            raise ValueError(f"The template of the findings has a hole that means nothing: {hole!r}.")


def _known(results: dict[str, Any], claim: str) -> dict[str, Any]:
    if claim not in results:
        raise ValueError(f"The findings want numbers of {claim!r}, which has no verdict.")
    return results[claim]


def _compared(verdict: dict[str, Any], what: str, at: str) -> list[float]:
    for name, where, *numbers, _ in verdict["compared"]:
        if (name, where) == (what, at):
            return numbers
    known = "; ".join(f"{name} | {where}" for name, where, *_ in verdict["compared"][:40])
    raise ValueError(f"{verdict['claim']} compares no {what!r} at {at!r}, but {known}.")


def _number(value: float | None, form: str) -> str:
    """A number with a true minus sign."""
    if value is None:
        raise ValueError("The findings want a number that a verdict does not have.")
    return format(value, form).replace("-", "−")


def _count(whose: str, outcome: str, verdicts: dict[str, Any]) -> int:
    from giantstep.claims import TEXTS

    ours = {text.name for text in TEXTS if text.of == "giantstep"}
    belongs = {"literature": lambda name: name not in ours, "ours": lambda name: name in ours, "all": lambda _: True}
    return sum(belongs[whose](each["claim"]) and outcome in ("all", each["outcome"]) for each in verdicts["results"])
