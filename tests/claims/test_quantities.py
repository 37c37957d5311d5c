"""One word for one quantity in what the claims show: test error, training error, training objective."""

import kept
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import CLAIMS, TEXTS

# losses that are no mean square, or that a source or a system names so
LOSSES = ("nishikawa/certified", "nishikawa/generalisation", "giantstep/function-gap", "giantstep/late-loss")
OTHER = ("training loss", "train loss", "train error", "train objective")


@pytest.mark.parametrize("text", [each for each in TEXTS if each.name not in LOSSES], ids=lambda each: each.name)
def test_texts_name_errors_alike(text):
    ours = f"{text.statement} {text.test} {text.correction}"
    assert not [word for word in OTHER if word in ours]


@pytest.mark.parametrize(
    "name", ["moniri/universality", "moniri/protocol", "giantstep/one-curve", "giantstep/second-sample"]
)
def test_verdicts_name_errors_alike(name):
    (claim,) = (each for each in CLAIMS if each.name == name)
    verdict = rule(claim, kept.least(claim), *kept.load(claim))
    shown = f"{verdict.sentence} {verdict.caption} {verdict.trend} {verdict.rows} {verdict.power} {verdict.figure}"
    assert "training objective" in shown and not [word for word in OTHER if word in shown]
