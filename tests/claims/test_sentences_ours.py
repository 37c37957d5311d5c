"""Our own claims speak as a person does: few sentences beside those of the ruling, and few numbers in each."""

import re
from dataclasses import replace

import kept
import pytest

from giantstep.checks.claim import Claim, Data, Ruling, Size
from giantstep.claims import select
from giantstep.claims.giantstep.told import power

OURS = select(["giantstep"])
ENDS = re.compile(r"(?<=[.!?]) ")
PLUS = r"\d+(?:\.\d+)?%?(?: ± \d+(?:\.\d+)?%?)?(?:/\d+)?"  # 1.5, 3%, 0.12 ± 0.03, 1/2
NUMBER = re.compile(rf"(?<![\w.]){PLUS}(?: to [+−]?{PLUS})?")  # noqa: RUF001
BY_MACHINE = re.compile(r"(?<![A-Za-z])-\d|\de[+-]\d|;|: [^.]*,")  # -0.5, 1e+09, lists
OF_A_TRUE_WORLD = {  # their words say that the statement holds, and are for that world only
    "second-sample", "leftover", "fitted", "deflated-step", "bound-informative", "sgd-variance", "one-pass", "dual-rates",
    "function-gap", "late-loss", "labels-shrink", "network-gap",
}  # fmt: skip


def ruled(claim: Claim) -> tuple[tuple[Size, Data, Data], Ruling]:
    """The arguments of ``describe`` and the ruling on kept data."""
    measured, predicted = kept.load(claim)
    given = kept.least(claim), measured, predicted
    return given, Ruling.on(claim.compare(*given))


def own(claim: Claim) -> list[str]:
    """The sentences that the claim adds to those of its ruling, and its trend."""
    given, ruling = ruled(claim)
    verdict = claim.describe(*given, ruling)
    rest = verdict.sentence.replace(ruling.sentence, "").replace(ruling.stated.sentence, "").strip()
    return [each for text in (rest, verdict.trend) for each in ENDS.split(text) if each]


@pytest.mark.parametrize("claim", OURS, ids=lambda each: each.name)
def test_a_sentence_has_few_numbers_and_a_verdict_few_sentences(claim: Claim):
    sentences = own(claim)
    assert len(sentences) <= 4  # three, and the trend
    for each in sentences:
        assert each[0].isupper() and each.endswith(".") and len(NUMBER.findall(each)) <= 3, each
        assert not BY_MACHINE.search(each), each


@pytest.mark.parametrize("claim", OURS, ids=lambda each: each.name)
def test_words_of_a_true_world_are_not_said_in_another(claim: Claim):
    given, ruling = ruled(claim)
    failing = replace(ruling, stated=replace(ruling.stated, outcome="fails"))
    words = claim.describe(*given, failing).sentence
    assert "stays" not in words and "lies beyond" not in words
    assert (words == "" and claim.describe(*given, ruling).sentence != "") == (
        claim.name.split("/")[1] in OF_A_TRUE_WORLD
    )


def test_numbers_are_counted_as_a_reader_counts_them():
    assert NUMBER.findall("From 0.12 ± 0.03 to 4 it goes like n^(−1/2) at 10⁹.") == ["0.12 ± 0.03 to 4", "1/2", "10"]  # noqa: RUF001
    assert BY_MACHINE.search("-0.5") and BY_MACHINE.search("1e+09") and BY_MACHINE.search("These: a, b")


def test_a_power_has_the_interval_of_its_exponent():
    assert power("n", -1.05, 0.09) == "n^(−1.050 ± 0.090)"  # noqa: RUF001
