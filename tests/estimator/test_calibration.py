"""Probabilities of classes: the average of a rare class, reliability, several classes, and weights.

The limits of the mean and of the reliability (0.03) were written down before looking; the others were set after a first run. In n
rows the frequency p of a class has a standard error of sqrt(p (1 - p) / n), and no method knows the average better than that
unless it explains much.
"""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax

from giantstep.estimator import GiantStepClassifier
from giantstep.estimator._calibration import calibrated

N, SEEDS = 2000, 3


def rare(n: int, seed: int):
    """A class of about one row in seven, with a linear effect and a product; its true probabilities come with the labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    p = expit(-2.3 + 1.2 * X[:, 0] + X[:, 1] * X[:, 2])
    return X, (rng.uniform(size=n) < p).astype(int), p


@pytest.fixture(scope="module")
def fitted():
    """A classifier for each seed: a fit takes two seconds."""
    return [GiantStepClassifier(random_state=seed).fit(*rare(N, seed)[:2]) for seed in range(SEEDS)]


def reliability(found: np.ndarray, true: np.ndarray) -> float:
    """The mean difference between predicted and true probability over ten bins of equal numbers of rows."""
    bins = np.array_split(np.argsort(found), 10)
    return float(np.mean([abs(found[rows].mean() - true[rows].mean()) for rows in bins]))


def test_a_rare_class_is_as_probable_as_it_is_frequent(fitted):
    """Three standard errors of the mean over seeds."""
    T, _, true = rare(20_000, 99)
    gaps, off = [], []
    for model in fitted:
        found = model.predict_proba(T)[:, 1]
        gaps.append(found.mean() - true.mean())
        off.append(reliability(found, true))
    assert abs(np.mean(gaps)) < 3 * np.sqrt(true.mean() * (1 - true.mean()) / N / SEEDS)
    assert np.mean(off) < 0.03


def test_a_perfect_fit_stays_calibrated():
    """Indicators that are the true probabilities of a class, two per cent to one half: the average is kept to a per cent of
    itself; without offsets, the sharpness with the least loss misses it by 5.6 per cent."""
    rng = np.random.default_rng(0)
    p = expit(rng.normal(-2.5, 1.0, 20_000))
    number, both = (rng.uniform(size=len(p)) < p).astype(int), np.stack([1 - p, p], axis=1)
    found = calibrated(both, number, np.ones(len(p)))
    assert softmax(found.sharpness * (both + found.offsets), axis=1)[:, 1].mean() == pytest.approx(p.mean(), rel=0.01)
    loss = lambda s: -np.mean(p * np.log(expit(s * (2 * p - 1))) + (1 - p) * np.log(expit(s * (1 - 2 * p))))  # noqa: E731
    best = minimize_scalar(loss, bounds=(0.1, 30.0), method="bounded").x  # type: ignore[union-attr]
    assert abs(expit(best * (2 * p - 1)).mean() / p.mean() - 1) > 0.05


def test_averages_are_those_of_the_indicators():
    """Up to the prior, |b| / m; of the labels where these contradict the indicators, as for weights that the fit did not know."""
    rng = np.random.default_rng(1)
    number = rng.choice(3, 900, p=[0.05, 0.25, 0.7])
    fitted = 0.3 * np.eye(3)[number] + 0.7 * np.array([0.05, 0.25, 0.7]) + 0.05 * rng.standard_normal((900, 3))
    fitted /= fitted.sum(axis=1, keepdims=True)
    for weights, source in ((np.ones(900), fitted), (np.where(number == 0, 9.0, 1.0), np.eye(3)[number])):
        found = calibrated(fitted, number, weights)
        p = softmax(found.sharpness * (fitted + found.offsets), axis=1)
        w = weights / weights.sum()
        prior = np.abs(found.sharpness * found.offsets).max() / 900
        np.testing.assert_allclose(w @ p, w @ source, atol=prior + 1e-5)


def test_classes_that_no_row_confuses_keep_their_borders():
    """Indicators of separate classes that average to a little more than the frequency of one: its border hardly moves."""
    number = (np.arange(400) % 10 == 0).astype(int)
    second = 0.9 * number + 0.06
    found = calibrated(np.stack([1 - second, second], axis=1), number, np.ones(400))
    assert abs(found.offsets[1] - found.offsets[0]) < 0.1
    assert found.sharpness > 5


def test_balanced_classes_are_predicted_in_equal_numbers(fitted):
    X, y, _ = rare(N, 0)
    T, t, _ = rare(5000, 6)
    plain, balanced = fitted[0], GiantStepClassifier(random_state=0, class_weight="balanced").fit(X, y)
    recall = [np.mean(m.predict(T)[t == 1] == 1) for m in (plain, balanced)]
    assert recall[1] > recall[0] + 0.15
    weights = np.where(t == 1, 0.5 / t.mean(), 0.5 / (1 - t.mean()))
    assert np.average(balanced.predict_proba(T)[:, 1], weights=weights) == pytest.approx(0.5, abs=0.05)
