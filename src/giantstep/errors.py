"""The exceptions a user can cause, and the hint that a mistyped name gets."""

from collections.abc import Iterable

MOST = 5  # names that a refusal lists


class InputError(ValueError):
    """Bad input, told in one sentence: what is wrong, where, and what would be right.

    The command line prints the sentence and exits with code 2; from Python it is an ordinary ``ValueError``.
    """


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
