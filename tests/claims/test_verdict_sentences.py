"""What a verdict says of a statement: few sentences of few numbers each, which stay true if the numbers change."""

import re
from dataclasses import replace

import kept
import numpy as np
import pytest

from giantstep.checks.claim import Claim
from giantstep.checks.verdict import Ruling, Verdict, rule
from giantstep.claims import select
from giantstep.plot import style
from giantstep_papers.shared import said

CLAIMS = select()
NAMES = re.compile(r"ℓ = \d( and \d)?|example \d|\^\([^)]*\)|\b1/(?:d|log n)|\(1 − cos²\)|±1\b|√\d")  # noqa: RUF001
ERROR = re.compile(r" ± [\d.]+")
NUMBER = r"(?:\d+·)?\d[\d,]*(?:\.\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹]*%?"
ALONE = re.compile(rf"(?<![\w^²³.]){NUMBER}")
FROM = re.compile(
    rf"\b(?:from|between)\b (?:\w = |α = )?({NUMBER}) (?:to|and) (?:\w = )?{NUMBER}|({NUMBER}) to {NUMBER}", re.I
)
MOST_NUMBERS = MOST_SENTENCES = 3


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure, **options: "")


def verdict(claim: Claim) -> Verdict:
    return rule(claim, kept.least(claim), *kept.load(claim))


def own(claim: Claim) -> list[str]:
    """The sentences of a verdict and of its trend that the ruling does not write itself."""
    size, (measured, predicted) = kept.least(claim), kept.load(claim)
    ruling, told = Ruling.on(claim.compare(size, measured, predicted)), verdict(claim)
    text = told.sentence.replace(ruling.sentence, "").replace(ruling.stated.sentence, "")
    return [each for part in (text, told.trend) for each in _sentences(part)]


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
        assert not re.search(r";|: [^.]*,|\de[+-]\d|(?<!\w)-\d|(?:\d, ){2}", sentence), sentence


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_verdict_has_few_sentences_of_its_own(claim: Claim):
    trend = _sentences(verdict(claim).trend)
    assert len(trend) <= MOST_SENTENCES and len(own(claim)) - len(trend) <= MOST_SENTENCES


def test_a_step_that_lowers_nothing_is_not_said_to():
    (claim,) = select(["moniri/protocol"])
    measured, predicted = kept.load(claim)
    measured["errors"] = np.repeat(measured["errors"][:, :, :, :1], measured["errors"].shape[3], axis=3)
    assert "lowers" in verdict(claim).sentence
    assert "lowers" not in rule(claim, kept.least(claim), measured, predicted).sentence


def test_terms_that_stay_unfitted_are_not_said_to_be_fitted():
    (claim,) = select(["dandi/table"])
    measured, predicted = kept.load(claim)
    predicted["far"] = 0.1 * predicted["far"]
    assert "all of them" in verdict(claim).sentence
    assert "all of them" not in rule(claim, kept.least(claim), measured, predicted).sentence


def test_powers_have_minus_signs_and_one_digit_of_the_error():
    assert said.power("n", -0.3581, 0.064) == "n^(−0.36 ± 0.06)"  # noqa: RUF001
    assert said.power("d", -0.5212, 0.0086) == "d^(−0.521 ± 0.009)"  # noqa: RUF001
    assert said.power("d", -1.0, 0.0) == "d^(−1.00 ± 0.00)"  # noqa: RUF001
    assert said.power("d", 2.0, np.inf) == "d^(2.00 ± inf)"
    assert said.signed(-0.5) == "−0.5"  # noqa: RUF001


SWAPPED = {  # claim: its measurement in a world where the statement fails
    "nishikawa/features": lambda found: {**found, "numbers": found["numbers"][:, [1, 0, 2]]},
    "lobo/mixing": lambda found: {**found, "found": 0 * found["found"] + 1},
    "lobo/amplification": lambda found: {**found, "found": 0 * found["found"] + 1},
    "demir/fashion-step": lambda found: {**found, "network": found["network"][::-1]},
    "liu/bias-variance": lambda found: {name: x[..., ::-1, :] for name, x in found.items()},
}


@pytest.mark.parametrize("name", SWAPPED)
def test_where_the_statement_fails_the_rule_speaks(name):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    told, otherwise = verdict(claim), rule(claim, kept.least(claim), SWAPPED[name](measured), predicted)
    assert (told.stated, otherwise.stated) == ("holds", "fails")
    assert "margin" in otherwise.sentence and "margin" not in told.sentence


def test_a_distance_that_falls_too_slowly_is_not_called_faster():
    (claim,) = select(["nguwi/wasserstein"])
    measured, predicted = kept.load(claim)
    slow = rule(claim, kept.least(claim), {**measured, "apart": 0 * measured["apart"] + 0.3}, predicted)
    assert "faster than" in verdict(claim).sentence and "slower than" in slow.sentence


OF_A_TRUE_WORLD = {  # their words say that the statement holds, and are for that world only
    "second-sample", "leftover", "fitted", "deflated-step", "bound-informative", "sgd-variance", "one-pass", "dual-rates",
    "function-gap", "late-loss", "labels-shrink", "network-gap",
}  # fmt: skip


@pytest.mark.parametrize("claim", select(["giantstep"]), ids=lambda claim: claim.name)
def test_words_of_a_true_world_are_not_said_in_another(claim: Claim):
    assert claim.describe is not None
    given = kept.least(claim), *kept.load(claim)
    ruling = Ruling.on(claim.compare(*given))
    failing = replace(ruling, stated=replace(ruling.stated, outcome="fails"))
    words = claim.describe(*given, failing).sentence
    assert "stays" not in words and "lies beyond" not in words
    told = claim.describe(*given, ruling).sentence != ""
    assert (words == "" and told) == (claim.name.split("/")[1] in OF_A_TRUE_WORLD)
