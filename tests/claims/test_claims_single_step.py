"""The figure of the single step at a small size: its two errors by another route; and a verdict that can fail or stay open."""

import kept
import numpy as np
import pytest

from benchmarks import literal
from giantstep.claims.dandi import single_step
from giantstep.simulate import deflated_errors


@pytest.fixture
def tiny(monkeypatch):
    """d = 64, and few seeds."""
    for name, value in {"D": 64, "P": 128, "N_TEST": 4000}.items():
        monkeypatch.setattr(single_step, name, value)
    monkeypatch.setitem(single_step.SEEDS, "quick", (6, 3, 0))
    monkeypatch.setitem(single_step.RANDOM, "quick", (3, 2, 0))


def others():
    """Mean and spread of ten other seeds at every n."""
    printed = []
    for exponent in single_step.EXPONENTS[:2]:
        setting = single_step.experiment(int(64**exponent), 64, 128)
        values = [literal.deflated_errors(setting, seed, 4000)[0] for seed in range(50, 60)]
        printed.append((float(np.mean(values)), float(np.std(values))))
    return {"printed": [*(mean for mean, _ in printed), 0.1], "spread": [*(spread for _, spread in printed), 0.01]}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_both_errors_against_numpy(dtype, seed):
    settings = [single_step.experiment(n, 64, 128) for n in (222, 955)]
    found = deflated_errors(settings, seed, 4000, dtype)
    expected = [literal.deflated_errors(setting, seed, 4000) for setting in settings]
    np.testing.assert_allclose(found, expected, rtol=1e-9 if dtype == "float64" else 1e-4)


def test_the_printed_error_counts_what_the_prediction_mends():
    """The features fit the error of the estimated linear part, which the printed test labels do not have."""
    setting = single_step.experiment(955, 64, 128)
    gap = -np.diff([deflated_errors([setting], seed, 4000)[0] for seed in range(12)])[:, 0]
    assert gap.mean() > 3 * gap.std(ddof=1) / np.sqrt(12)


def test_it_runs_and_agrees_with_other_seeds(tiny):
    """Printed numbers from other seeds, written out in NumPy."""
    measured, predicted = single_step.measure("quick"), single_step.predict("quick")
    verdict = single_step.judge("quick", measured, {**predicted, **others()})
    assert verdict.outcome != "fails" and "<svg" in verdict.figure and "left to the full size" in verdict.sentence


def test_it_is_open_when_the_spread_is_wide():
    measured, predicted = kept.load(single_step.CLAIM)
    wide = {**predicted, "spread": [10 * spread for spread in predicted["spread"]]}
    assert single_step.judge("quick", measured, wide).outcome == "inconclusive"


def test_one_seed_takes_the_printed_spread():
    mean, error, apart, *_ = single_step.summary(np.array([[0.5, 0.4]]), 0.1)
    assert (mean, error) == (0.5, pytest.approx(0.1)) and apart == pytest.approx(0.1 * np.sqrt(1.1))
