"""The exceptions a user can cause."""


class InputError(ValueError):
    """Bad input, told in one sentence: what is wrong, where, and what would be right.

    The command line prints the sentence and exits with code 2; from Python it is an ordinary ``ValueError``.
    """


class MissingData(InputError):
    """A request for data that this machine lacks: the sentence says what is missing and how to get it.

    The request itself is right, and a machine with the data would answer it; a claim that meets it stays open.
    """
