"""Sizes and powers that claims state, against simulated comparisons."""

import numpy as np
import pytest

from giantstep.checks import power
from giantstep.checks.compared import compare


@pytest.mark.parametrize(("level", "granted"), [(3.0, 0.0), (1.0, 2.5)])
def test_a_detectable_departure_is_seen_nine_times_in_ten(level, granted):
    error = 0.7
    departure = power.detectable(error, level, granted)
    found = departure + error * np.random.default_rng(0).standard_normal(20_000)
    assert np.mean(found > max(level * error, granted)) == pytest.approx(power.SEEN, abs=0.01)


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_false_alarms_follow_student(seeds):
    samples = np.random.default_rng(1).standard_normal((40_000, seeds))
    found = compare(samples, 0.0, level=3.0)
    assert np.mean(found.missed) == pytest.approx(power.alarm(1.0, 3.0, seeds=seeds), rel=0.25)
    granted = compare(samples, 0.0, level=3.0, granted=0.5 / np.sqrt(seeds))
    assert np.mean(granted.missed) <= power.alarm(1.0, 3.0, 0.5, seeds=seeds) * 1.25


def test_three_outcomes():
    assert power.decided(True, 0.0, 1.0) == "fails"
    assert power.decided(False, 0.5, 1.0) == "holds"
    assert power.decided(False, 2.0, 1.0) == power.decided(False, float("nan"), 1.0) == "inconclusive"


def test_power_in_words():
    words = power.stated([0.01, 0.02, float("nan")], 3.0, 0.0, "%", scale=100)
    assert words.startswith("2 comparisons at 3 s.e.") and "0.5% at most" in words and "4.3 to 8.6%" in words
    assert "One comparison" in power.stated([0.01], 4.0, [0.1]) and "0.11 is seen" in power.stated([0.01], 4.0, [0.1])
    assert "no stated power" in power.stated([float("nan")], 3.0)
    assert "0.11 were not" in power.counted(20, "outliers") and "no power" in power.counted(0, "outliers")


def test_parts_and_shares_of_a_comparison():
    samples = np.random.default_rng(2).standard_normal((4, 30)) + 10.0
    found = compare(samples, [10.0, 10.0, 10.0, 20.0], granted=0.1)
    assert found.missed.tolist() == [False, False, False, True]
    np.testing.assert_allclose(found.relative().distance, found.distance)
    assert found[2:].missed.tolist() == [False, True] and found[2:].power().startswith("2 comparisons")
    assert not compare(samples[:, :1], 0.0).missed.any()  # one seed has no error bar
