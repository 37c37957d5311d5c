"""The sentences of verdicts on the claims from abstracts and posters: short, few numbers, and no judgement that failed."""

import re
from functools import cache

import kept
import numpy as np
import pytest

from giantstep.checks.claim import Ruling
from giantstep.claims import said, select
from giantstep.plot import style

OWN = ("liu", "nishikawa", "wang_ma", "lobo", "bubeck", "nguwi", "saad_solla", "demir")
ALONE = re.compile(r"(?<![\w.])[−-]?\d+(?:[./]\d+)?")  # noqa: RUF001
NUMBER = re.compile(rf"{ALONE.pattern}[%°]?(?: (?:±|to) {ALONE.pattern}[%°]?)*")  # with its error, or from A to B: one
MACHINE = re.compile(r"(?<!\w)-\d|\de[+-]\d|[:;]|\d, \d")  # hyphens for minus signs, 1e+09, lists


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure, **options: "")


def verdict(name, change=lambda measured: measured):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return claim.rule(kept.least(claim), change(measured), predicted)


@cache
def texts(name):
    """The sentences of a verdict that its claim wrote, and those on its trend."""
    (claim,) = select([name])
    size, (measured, predicted) = kept.least(claim), kept.load(claim)
    ruling = Ruling.on(claim.compare(size, measured, predicted))
    told = claim.rule(size, measured, predicted)
    own = told.sentence.replace(ruling.sentence, "").replace(ruling.stated.sentence, "")
    return sentences(own), sentences(told.trend)


def sentences(text):
    return [each for each in re.split(r"(?<=\.)\s+", text.strip()) if each]


NAMES = [claim.name for claim in select(OWN)]


@pytest.mark.parametrize("name", NAMES)
def test_a_person_would_say_it(name):
    own, trend = texts(name)
    assert len(own) <= 3 and len(trend) <= 3
    for each in (*own, *trend):
        assert len(NUMBER.findall(each)) <= 3, each
        assert not MACHINE.search(each), each


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It falls like n^(−0.08 ± 0.03).", 1),  # noqa: RUF001
        ("From 0.5% to 3% at n = 20.", 2),
        ("W1 is 4.5 to 8.9 times x₁ or p/n.", 1),
        ("At 128, 512 and 2048 it is 1.9.", 4),
    ],
)
def test_numbers_are_counted(text, count):
    assert len(NUMBER.findall(text)) == count


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
    told, otherwise = verdict(name), verdict(name, SWAPPED[name])
    assert (told.stated, otherwise.stated) == ("holds", "fails")
    assert "margin" in otherwise.sentence and "margin" not in told.sentence


def test_a_distance_that_falls_too_slowly_is_not_called_faster():
    slow = verdict("nguwi/wasserstein", lambda found: {**found, "apart": 0 * found["apart"] + 0.3})
    assert "faster than" in verdict("nguwi/wasserstein").sentence and "slower than" in slow.sentence
