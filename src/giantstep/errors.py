"""The exceptions a user can cause."""


class InputError(ValueError):
    """Bad input, told in one sentence: what is wrong, where, and what would be right.

    The command line prints the sentence and exits with code 2; from Python it is an ordinary ``ValueError``.
    """


class MissingData(InputError):
    """Data that are not on this machine, and a sentence that says how to get them."""
