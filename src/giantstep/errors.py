"""The exceptions a user can cause, and the hint that a mistyped name gets."""

import re
from collections.abc import Iterable

MOST = 5  # names that a refusal lists
LONGEST = 200  # letters of what was given that a refusal quotes
_LONG = re.compile(
    rf"(?<!\w)'[^']{{{LONGEST},}}'(?!\w)"
    rf'|(?<!\w)"[^"]{{{LONGEST},}}"(?!\w)'
    rf"|\S{{{LONGEST + 1},}}"
)  # a quotation, or a word


class InputError(ValueError):
    """Bad input, told in one sentence: what is wrong, where, and what would be right.

    The command line prints the sentence and exits with code 2; from Python it is an ordinary
    ``ValueError``. Whatever was given, at most 200 letters of it are quoted.
    """

    def __init__(self, *sentence: object) -> None:
        super().__init__(*(_short_quotations(part) for part in sentence))


def _short_quotations(part: object) -> object:
    if not isinstance(part, str) or len(part) <= LONGEST:
        return part
    return _LONG.sub(lambda found: cut(found[0], LONGEST), part)


def cut(text: str, most: int) -> str:
    """The beginning of a text and a little of its end, of at most so many letters."""
    end = most // 8
    return text if len(text) <= most else f"{text[: most - 3 - end]}...{text[-end:]}"


def quoted(value: object, most: int = 60) -> str:
    """What was given, as a refusal quotes it; any object will do, even one that cannot show itself.

    Examples:
        >>> quoted("x" * 1000, 20)
        "'xxxxxxxxxxxxxx...x'"
    """
    try:
        text = repr(value)
    except Exception:  # whatever the object raises
        text = f"an object of type {type(value).__name__}"
    return cut(" ".join(text.split()), most)


class MissingData(InputError):
    """Data that are not on this machine, and a sentence that says how to get them."""


def hint(name: object, known: Iterable[str]) -> str:
    """The end of a refusal: the one known name that is near the one given, or the first few that there are.

    Examples:
        >>> hint("ReLu", ["tanh", "relu"])
        "; did you mean 'relu'?"
        >>> hint("foo", ["tanh", "relu"])
        '; known are tanh, relu'
    """
    from difflib import get_close_matches  # here: seldom needed

    names = list(dict.fromkeys(known))
    lower = {each.lower(): each for each in reversed(names)}
    near = get_close_matches(str(name).lower(), lower, n=1)
    if near:
        return f"; did you mean {lower[near[0]]!r}?"
    more = len(names) - MOST
    return f"; known are {', '.join(names[:MOST])}" + (f" and {more} more" if more > 0 else "")
