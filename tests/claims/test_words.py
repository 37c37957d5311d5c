"""A statement only restates its quote: no number, quantifier, condition or other word that the source's own words lack.

Its words are those of the quote, names of what everything here is about, and for each claim the few that say the same as
the quote, or name what the quote calls "it". The order of words is not read: a reader has to.
"""

import re

import pytest

from giantstep.checks.claim import Claim
from giantstep.claims import TEXTS

# words of one meaning: a statement may use one of a row if its quote uses one of the same row
ROWS = (
    ("every", "all", "any", "each", "whatever", "always", "throughout"),
    ("only", "alone", "iff", "just"),
    ("never", "no", "none", "not", "cannot", "without", "nothing"),
    ("exactly", "exact", "precisely", "precise", "equal", "equals", "identical"),
    ("if", "iff", "when", "unless", "provided", "whenever", "as long as", "let", "assume", "given", "where", "while", "whereas"),
    ("prove", "proves", "proof", "certificate", "certified"),
)  # fmt: skip
SUBJECTS = {  # what everything here is about
    "network", "networks", "neurons", "feature", "features", "random", "learning", "step", "training", "test", "error", "risk",
    "sgd",
}  # fmt: skip
SAME = {  # words of a statement that say what its quote says in a formula, or otherwise
    "moniri/rank-one": "gradient remainder",
    "moniri/third-spike": "components plus remainder",
    "moniri/onset": "component beyond below",  # (l - 1)/(2l) < alpha < l/(2l + 2)
    "moniri/protocol": "gains over tend positive limits objective",  # L(F0) - L(F) -> Delta > 0
    "moniri/improvement": "gains over tend positive limits objective",
    "moniri/settings": "higher-order",
    "moniri/universality": "spikes",
    "ba/baselines": "goes targets size",  # eta, f*
    "cui/test-error": "spiked",  # sRF
    "dandi/threshold": "share along size",  # P_V* w_i = o(w_i)
    "dandi/one-step": "lies higher what",
    "dandi/single-step": "generalisation standard deviation",
    "dandi/scaling": "order",
    "dandi/staircase": "adds where",
    "dandi/floors": "first least",  # W, E[...] >= ...
    "dandi/converse": "lower",
    "dandi/table": "underlined terms those example",
    "dandi/small-batches": "sizes",
    "liu/bias-variance": "monotonically unimodal trained width",
    "liu/threshold": "shows",
    "nishikawa/generalisation": "although",
    "dandi/conditional": "equivalent",
    "demir/conditional": "conditional gaussian original",
    "demir/hermite": "hermite expansion degree noise plus",
    "demir/fashion": "fashion-mnist",
    "wang_ma/convergence": "converges",
    "nguwi/training": "generalization",
}
LITTLE = set("a an the of in on for with to and or is are be it its by from as at that this which than into between after "
             "so has have was were their they them then there do does will can may".split())  # fmt: skip
ENDINGS = ("isations", "isation", "ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "ly", "s", "e")
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


def stem(word: str) -> str:
    """Without its ending, of which three letters are left at least."""
    return next((word[: -len(end)] for end in ENDINGS if word.endswith(end) and len(word) >= len(end) + 3), word)


def words(text: str) -> list[str]:
    return [each for each in re.findall(r"[a-z][a-z\-]+", text.lower()) if len(each) > 2]


def foreign(statement: str, quote: str, same: str = "") -> list[str]:
    """Words of a statement that neither its quote nor what is known to say the same has."""
    known = {stem(each) for each in (*words(quote), *words(same), *SUBJECTS)}
    numerals = {stem(each) for each in NUMBERS}
    return [each for each in words(statement) if each not in LITTLE and stem(each) not in known | numerals]


def excess(statement: str, quote: str, same: str = "") -> list[str]:
    """What a statement says that its quote does not."""
    more = sorted(numbers(statement) - numbers(quote))
    for row in ROWS:
        if not any(has(quote, word) for word in row):
            more += [word for word in row if has(statement, word) and not has(same, word)]
    return more + [word for word in foreign(statement, quote, same) if word not in more]


@pytest.mark.parametrize("text", [each for each in TEXTS if each.quote], ids=lambda each: each.name)
def test_a_statement_only_restates_its_quote(text: Claim):
    more = excess(text.statement, text.quote, SAME.get(text.name, ""))
    assert not more, f"{text.name}: {more}"


@pytest.mark.parametrize("text", TEXTS, ids=lambda each: each.name)
def test_every_statement_has_a_quote_with_its_place_or_is_our_own(text: Claim):
    assert bool(text.quote and text.place) != (text.of == "giantstep")


def test_what_says_the_same_is_said():
    """No claim keeps words that its statement does not have."""
    said = {text.name: {stem(each) for each in words(text.statement)} for text in TEXTS}
    assert not {name: word for name, same in SAME.items() for word in words(same) if stem(word) not in said[name]}


def test_additions_are_noticed():
    quote = "The number of outliers is determined by the parameters."
    assert not excess("The parameters determine the number of outliers.", quote)
    assert excess("For every parameter it is determined.", quote) == ["every"]
    assert excess("The number is 1 + the floor, exactly, if n > d.", quote) == ["1", "exactly", "if", "floor"]
    assert not excess("With one step it learns.", "a single gradient step learns")


ADDITIONS = {  # to a statement, by those who wish to see it fail
    "moniri_hassani/phase-diagram": "It equals the floor at widths in the hundreds.",
    "dandi/floors": "The risk equals E Var.",
    "dandi/staircase": "This is so with ReLU or tanh.",
    "liu/threshold": "It peaks at the interpolation threshold after a pass.",
    "liu/bias-variance": "The variance peaks at p = n and halves beyond.",
    "demir/weighting": "This is so relative to the variance of the labels.",
    "nishikawa/generalisation": "The gap falls as n^(-1/2).",
    "nguwi/training": "The gap is exactly of this order.",
    "moniri/rank-one": "It is of order n^(-1/2).",
    "moniri/settings": "At alpha = 0.2 nothing is learned.",
    "dandi/small-batches": "The share stays at chance.",
    "cui/test-error": "It is within three per cent of the network.",
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_a_statement_with_a_sentence_more_is_refused(name: str):
    (text,) = (each for each in TEXTS if each.name == name)
    assert excess(f"{text.statement} {ADDITIONS[name]}", text.quote, SAME.get(name, ""))
