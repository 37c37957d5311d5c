"""A statement only restates its quote: no number, quantifier or condition that the source's own words lack."""

import re

import pytest

from giantstep.claims import TEXTS, ClaimText

# words of one meaning: a statement may use one of a row if its quote uses one of the same row
ROWS = (
    ("every", "all", "any", "each", "whatever", "always", "throughout"),
    ("only", "alone", "iff", "just"),
    ("never", "no", "none", "not", "cannot", "without", "nothing"),
    ("exactly", "exact", "precisely", "precise", "equal", "identical"),
    ("if", "iff", "when", "unless", "provided", "whenever", "as long as", "let", "assume", "given", "where", "while", "whereas"),
    ("prove", "proves", "proof", "certificate", "certified"),
)  # fmt: skip
NUMBERS = {"one": "1", "single": "1", "first": "1", "two": "2", "second": "2", "both": "2", "three": "3", "third": "3",
           "four": "4", "fourth": "4", "five": "5", "ten": "10"}  # fmt: skip
PLAIN = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)


def numbers(text: str) -> set[str]:
    """The numbers of a text, in digits or in words, also those that stand as an index or an exponent."""
    plain = text.translate(PLAIN).lower()
    words = {NUMBERS[each] for each in re.findall(r"[a-z]+", plain) if each in NUMBERS}
    return set(re.findall(r"\d+(?:\.\d+)?", plain)) | words


def has(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text.lower()) is not None


def excess(statement: str, quote: str) -> list[str]:
    """What a statement says that its quote does not."""
    more = sorted(numbers(statement) - numbers(quote))
    for row in ROWS:
        if not any(has(quote, word) for word in row):
            more += [word for word in row if has(statement, word)]
    return more


@pytest.mark.parametrize("text", [each for each in TEXTS if each.quote], ids=lambda each: each.name)
def test_a_statement_only_restates_its_quote(text: ClaimText):
    assert not excess(text.statement, text.quote), f"{text.name}: {excess(text.statement, text.quote)}"


@pytest.mark.parametrize("text", TEXTS, ids=lambda each: each.name)
def test_every_statement_has_a_quote_with_its_place_or_is_our_own(text: ClaimText):
    assert bool(text.quote and text.place) != (text.of == "giantstep")


def test_additions_are_noticed():
    quote = "The number of outliers is determined by the parameters."
    assert not excess("The parameters determine the number of outliers.", quote)
    assert excess("For every activation the parameters determine it.", quote) == ["every"]
    assert excess("The number is 1 + the floor, exactly, if n > d.", quote) == ["1", "exactly", "if"]
    assert not excess("With one step it learns.", "a single gradient step learns")
