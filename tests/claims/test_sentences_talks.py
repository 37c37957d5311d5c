"""What a verdict says of the talks' statements: few sentences of few numbers each, which stay true if the numbers change."""

import re

import kept
import numpy as np
import pytest

from giantstep.checks.claim import Claim, Ruling, Verdict
from giantstep.claims import select

PAPERS = ("ba", "cui", "dandi", "hu_lu", "mei_montanari", "moniri", "moniri_hassani")
CLAIMS = [claim for claim in select() if claim.name.partition("/")[0] in PAPERS]
NAMES = re.compile(r"ℓ = \d( and \d)?|example \d|\^\([^)]*\)|\b1/(?:d|log n)|\(1 − cos²\)|±1\b|√\d")  # noqa: RUF001
ERROR = re.compile(r" ± [\d.]+")
NUMBER = r"(?:\d+·)?\d[\d,]*(?:\.\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹]*%?"
ALONE = re.compile(rf"(?<![\w^²³.]){NUMBER}")
FROM = re.compile(
    rf"\b(?:from|between)\b (?:\w = |α = )?({NUMBER}) (?:to|and) (?:\w = )?{NUMBER}|({NUMBER}) to {NUMBER}", re.I
)
MOST_NUMBERS = MOST_SENTENCES = 3


def verdict(claim: Claim) -> Verdict:
    return claim.rule(kept.least(claim), *kept.load(claim))


def own(claim: Claim) -> list[str]:
    """The sentences of a verdict and of its trend that the ruling does not write itself."""
    size, (measured, predicted) = kept.least(claim), kept.load(claim)
    ruling, said = Ruling.on(claim.compare(size, measured, predicted)), verdict(claim)
    text = said.sentence.replace(ruling.sentence, "").replace(ruling.stated.sentence, "")
    return [each for part in (text, said.trend) for each in _sentences(part)]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) +", text.strip()) if text.strip() else []


def numbers(sentence: str) -> int:
    """How many numbers a sentence has; one with its error, or from one to another, is one."""
    plain = ERROR.sub("", NAMES.sub("", sentence).replace("−", ""))  # noqa: RUF001
    return len(ALONE.findall(FROM.sub("1", plain)))


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("It is 0.512 ± 0.014 of 2.", 2),
        ("It goes from 50% to 49% between n = 75 and 600.", 2),
        ("After two steps 2.0 to 3.2 outliers stand out, with cos² 0.53.", 2),
        ("At N = 10¹² w1 and x₂ are 6·10⁶, for ℓ = 2 and n^0.3.", 2),
        ("At d = 128, 512, 2048 it is 8.4, 30, 120.", 6),
    ],
)
def test_numbers_are_counted(sentence, count):
    assert numbers(sentence) == count


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_sentence_has_few_numbers_and_no_list(claim: Claim):
    for sentence in own(claim):
        assert sentence.endswith(".") and numbers(sentence) <= MOST_NUMBERS, sentence
        assert not re.search(r";|: |\de[+-]\d|(?<!\w)-\d|(?:\d, ){2}", sentence), sentence


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_verdict_has_few_sentences_of_its_own(claim: Claim):
    trend = _sentences(verdict(claim).trend)
    assert len(trend) <= MOST_SENTENCES and len(own(claim)) - len(trend) <= MOST_SENTENCES


def test_a_step_that_lowers_nothing_is_not_said_to():
    (claim,) = select(["moniri/protocol"])
    measured, predicted = kept.load(claim)
    measured["errors"] = np.repeat(measured["errors"][:, :, :, :1], measured["errors"].shape[3], axis=3)
    assert "lowers" in verdict(claim).sentence
    assert "lowers" not in claim.rule(kept.least(claim), measured, predicted).sentence


def test_terms_that_stay_unfitted_are_not_said_to_be_fitted():
    (claim,) = select(["dandi/table"])
    measured, predicted = kept.load(claim)
    predicted["far"] = 0.1 * predicted["far"]
    assert "all of them" in verdict(claim).sentence
    assert "all of them" not in claim.rule(kept.least(claim), measured, predicted).sentence
