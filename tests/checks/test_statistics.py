"""The rule of a verdict by simulation and against known answers.

The rates at 600 repetitions a row are in docs/verdicts.md; the tests here repeat some rows with fewer. Their random generators
are fixed, and the bounds leave room for other generators too.
"""

from dataclasses import replace

import numpy as np
import pytest
import toys
from scipy.special import digamma, polygamma
from scipy.stats import binom, t

from benchmarks.verdicts import DEPARTURE, MARGIN, Case, rates, seeds_of
from giantstep.checks.claim import Seeds
from giantstep.checks.statistics import (
    ALPHA,
    Count,
    Evidence,
    Tolerance,
    Tolerances,
    compare,
    decide,
    each_and_mean,
    exponent,
    pseudovalues,
)
from giantstep.checks.statistics._decision import seeds_wanted
from giantstep.checks.statistics._table import table
from giantstep.checks.statistics._variance import _inverse_trigamma, moderated
from giantstep.checks.verdict import Ruling, Verdict, rule

ROWS = [
    Case("normal", 1, 0.25), Case("normal", 1, 0.8, Seeds(8, 400)), Case("normal", 4, 0.25, Seeds(8, 400)),
    Case("normal", 24, 0.25, Seeds(8, 400)), Case("Student's t, 4", 4, 0.25, Seeds(8, 400)),
    Case("log-normal", 4, 0.25, Seeds(8, 400)),
]  # fmt: skip


# --- operating characteristics ---


@pytest.mark.parametrize("case", ROWS, ids=lambda case: f"{case.noise}-{case.count}-{case.unit}")
def test_a_true_statement_holds_and_a_departure_is_seen(case):
    found = rates(case, 60, np.random.default_rng(1))
    assert found.true == 0 and found.inconclusive == 0
    assert found.borderline <= 1 / 60  # 2e-4 is declared: 1 of 60 in 1.2% of all generators, 2 in 0.007%
    assert found.seen >= 56 / 60  # 99% is declared: fewer in 0.04% of all generators
    assert case.seeds.pilot <= found.seeds < case.seeds.most


def test_a_budget_that_is_too_small_is_inconclusive_and_never_a_false_alarm():
    found = rates(Case("normal", 4, 1.0, Seeds(8, 30)), 40, np.random.default_rng(2))
    assert found.inconclusive == 1 and found.true == 0 and found.borderline == 0 and found.seeds == 30


def test_the_means_cannot_stop_the_sampling():
    drawn = Case("normal", 4, 0.5).draw(np.random.default_rng(3))
    assert len({seeds_of(drawn + shift, Seeds(8, 2000)) for shift in (0.0, MARGIN, DEPARTURE, 50.0)}) == 1


def test_more_noise_asks_for_more_seeds():
    rng = np.random.default_rng(4)
    counts = [seeds_of(Case("normal", 1, unit).draw(rng), Seeds(8, 2000)) for unit in (0.1, 1.0, 3.0)]
    # (z_{1 - alpha/2} + z_{0.99})^2 = 36.5 at a noise of 1, for many seeds
    assert counts[0] == 8 and 20 < counts[1] < 90 and 250 < counts[2] < 420


def test_many_seeds_give_the_normal_intervals():
    samples = np.random.default_rng(5).standard_normal((1, 4000))
    judged = compare("x", samples, within=Tolerance(0.1, 0.3)).judge(ALPHA)
    error = np.std(samples, ddof=1) / np.sqrt(4000)
    assert judged.half[0] == pytest.approx(t.ppf(1 - ALPHA / 2, 3999) * error)
    assert judged.half[0] == pytest.approx(3.719 * error, rel=2e-3)
    assert judged.reach[0] == pytest.approx((t.ppf(1 - ALPHA / 2, 3999) + t.ppf(0.99, 3999)) * error)
    assert judged.needed[0] == pytest.approx((3.719 + 2.326) ** 2 * np.var(samples) / 0.2**2, rel=0.02)


def test_a_noisy_number_among_quiet_ones_keeps_its_own_interval():
    rng = np.random.default_rng(6)
    quiet = 0.1 * rng.standard_normal((11, 8))
    noisy = 3.0 * rng.standard_normal((1, 8))
    samples = np.concatenate([quiet, noisy])
    judged = compare("x", samples, within=Tolerance(1.0, 2.0)).judge(ALPHA / 12)
    own = np.std(noisy, ddof=1) / np.sqrt(8)
    assert judged.half[-1] >= t.ppf(1 - ALPHA / 24, 7 + 8) * own * (1 - 1e-12)
    assert not judged.precise[-1]


# --- sides, numbers without randomness, NaN ---


@pytest.mark.parametrize(("side", "wrong"), [("below", 1.0), ("above", -1.0)])
def test_a_one_sided_statement_fails_on_its_side_alone(side, wrong):
    noise = 0.1 * np.random.default_rng(7).standard_normal((1, 20))

    def verdict(shift: float) -> str:
        return decide([compare("x", noise + shift, within=Tolerance(1.0, 2.0), side=side)]).outcome

    assert verdict(2.0 * wrong) == "fails" and verdict(-50.0 * wrong) == "holds"
    assert verdict(0.0) == "holds" and verdict(wrong) == "holds"
    judged = compare("x", noise - 50 * wrong, within=Tolerance(1.0, 2.0), side=side).judge(ALPHA)
    assert judged.usage[0] < 0


def test_numbers_without_randomness_are_compared_as_they_are():
    made = compare("x", [1.05, 2.0], [1.0, 2.0], within=Tolerance(0.06, 0.1), relative=True, noisy=False, at=["a", "b"])
    decision = decide([made])
    assert decision.outcome == "holds" and decision.seeds_factor == 0 and not np.any(decision.judged[0].usage > 1)
    assert decide([replace(made, margin=np.array([0.04, 0.04]))]).outcome == "fails"
    assert decision.power == "No randomness; would have noticed 6% in the x."
    assert decision.sentence.endswith("(off by 5%; ± 6% is allowed).")  # an error of zero is not written
    assert [row[5] for row in table([decision])[1]] == ["", ""]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("noisy", [True, False])
def test_numbers_that_are_not_finite_are_inconclusive(value, noisy):
    samples = np.zeros((3, 5)) if noisy else np.zeros(3)
    samples[1] = value
    with np.errstate(invalid="ignore"):
        decision = decide([compare("x", samples, within=Tolerance(0.1, 0.2), noisy=noisy)])
    assert decision.outcome == "inconclusive" and "not finite" in decision.sentence
    assert seeds_wanted([decision], 5) == 5
    far = compare("y", [[9.0, 9.1]], within=Tolerance(0.1, 0.2))
    with np.errstate(invalid="ignore"):
        made = compare("x", samples, within=Tolerance(0.1, 0.2), noisy=noisy)
        assert decide([far, made]).outcome == "inconclusive"  # even beside a number that is missed


def test_a_prediction_that_is_not_finite_is_inconclusive():
    made = compare("x", np.ones((1, 5)), np.nan, within=Tolerance(0.1, 0.2))
    assert decide([made]).outcome == "inconclusive"


def test_numbers_that_never_vary_need_no_more_seeds():
    assert decide([compare("x", np.zeros((5, 2)), within=Tolerance(0.1, 0.2))]).outcome == "holds"
    assert seeds_of(np.zeros((2, 100)), Seeds(8, 100)) == 8


# --- what is refused ---


@pytest.mark.parametrize(
    ("samples", "within", "options", "words"),
    [
        (np.zeros((2, 4)), Tolerance(0.2, 0.2), {}, "larger than its margin"),
        (np.zeros((2, 4)), Tolerance(np.array([0.1, 0.3]), 0.2), {}, "larger than its margin"),
        (np.zeros((2, 4)), Tolerance(-0.1, 0.2), {}, "at least 0"),
        (np.zeros((2, 4)), Tolerance(np.nan, 0.2), {}, "larger than its margin"),
        (np.zeros((2, 4)), Tolerance(0.1, np.nan), {}, "larger than its margin"),
        (np.zeros((2, 1)), Tolerance(0.1, 0.2), {}, "at least 2 seeds"),
        (np.zeros((2, 4)), Tolerance(0.1, 0.2), {"at": ["one"]}, "2 numbers and 1 labels"),
        (np.zeros((2, 4)), Tolerance(0.1, 0.2), {"side": "left"}, "has the side 'left'"),
    ],
)
def test_bad_declarations_are_refused(samples, within, options, words):
    with pytest.raises(ValueError, match=words):
        compare("x", samples, within=within, **options)


def test_each_and_their_mean():
    """The mean has the differences of all numbers, in the units of each of them."""
    noise = np.random.default_rng(5).standard_normal((3, 2, 40)) * [[[0.1], [0.2]]]
    expected = np.array([[1.0, 2.0], [4.0, 8.0], [-2.0, 5.0]])
    within = Tolerances(Tolerance(0.2, 0.5), Tolerance(0.1, 0.2))
    each, mean = each_and_mean("x", expected[..., None] * (1 + noise), expected, within=within, relative=True)
    assert each.count == 6 and mean.count == 1 and mean.what == "x, mean of all"
    signs = np.sign(expected)[..., None]
    np.testing.assert_allclose(mean.differences[0], (signs * noise).mean(axis=(0, 1)), atol=1e-12)
    assert mean.departure.tolist() == [0.2] and set(each.departure.tolist()) == {0.5}


def test_other_bad_declarations_are_refused():
    for pilot, most in ((1, 5), (6, 5), (2, 10_001)):
        with pytest.raises(ValueError, match="pilot"):
            Seeds(pilot, most)
    for exceptions, trials, allowed, departure in (
        (0, 9, 0.2, 0.2),
        (0, 9, -0.1, 0.2),
        (10, 9, 0.1, 0.2),
        (0, 0, 0.1, 0.2),
    ):
        with pytest.raises(ValueError, match="x"):
            Count("x", exceptions, trials, allowed, departure)
    with pytest.raises(ValueError, match="at least one"):
        decide([])


def test_a_correction_needs_evidence_and_evidence_a_correction():
    plain = toys.comparison("holds")
    for correction, corrected in (("It is nearly so.", ()), ("", (plain,))):
        claim = toys.claim(
            "moniri/x", Verdict("holds"), correction=correction, compare=lambda *_, c=corrected: Evidence((plain,), c)
        )
        with pytest.raises(ValueError, match="if and only if"):
            rule(claim, "quick", {}, {})
    ruling = Ruling.on(Evidence((toys.comparison("fails"),), (plain,)))
    assert [each.outcome for each in ruling.decisions] == ["fails", "holds"]


# --- counts ---


@pytest.mark.parametrize(("trials", "allowed", "departure"), [(60, 0.01, 0.3), (400, 0.05, 0.2), (50, 0.0, 0.2)])
def test_counts_are_judged_by_exact_binomials(trials, allowed, departure):
    counts = [Count("x", k, trials, allowed, departure) for k in range(trials + 1)]
    failing = np.array([decide([each]).outcome == "fails" for each in counts])
    least = int(np.argmax(failing))
    assert np.all(failing[least:])
    # fails if and only if so many exceptions have a chance of at most alpha: no smaller number would do
    assert binom.sf(least - 1, trials, allowed) <= ALPHA < binom.sf(least - 2, trials, allowed)
    power = binom.sf(least - 1, trials, departure)
    judged = counts[0].judge(ALPHA)
    assert judged.seen == pytest.approx(power) and power >= 0.99
    assert decide([counts[0]]).outcome == "holds"


def test_too_few_trials_are_inconclusive_and_ask_for_more():
    few = Count("x", 0, 20, 0.05, 0.1)
    decision = decide([few])
    assert decision.outcome == "inconclusive"
    wanted = seeds_wanted([decision], 20)
    assert decide([replace(few, trials=wanted)]).outcome == "holds" and wanted < 2 * 900
    assert decide([replace(few, exceptions=20)]).outcome == "fails"  # what is missed was seen


def test_counts_share_the_level_with_the_other_comparisons():
    count = Count("x", 0, 100, 0.05, 0.5)
    made = compare("y", np.zeros((3, 4)), within=Tolerance(0.1, 0.2))
    decision = decide([count, made])
    assert decision.count == 4
    exceptions = next(k for k in range(101) if decide([replace(count, exceptions=k), made]).outcome == "fails")
    assert binom.sf(exceptions - 1, 100, 0.05) <= ALPHA / 4 < binom.sf(exceptions - 2, 100, 0.05)


# --- exponents and jackknife values ---


def test_exponents_of_power_laws_are_exact():
    sizes, factors = [100, 200, 400, 800], np.array([0.5, 1.0, 7.0])
    values = np.array(sizes)[:, None] ** -1.5 * factors
    assert exponent(sizes, values) == pytest.approx(np.full(3, -1.5))
    assert exponent(sizes, values, of_means=True) == pytest.approx(np.full(3, -1.5))
    more = np.stack([values, values**2], axis=1)
    assert exponent(sizes, more) == pytest.approx(np.array([[-1.5] * 3, [-3.0] * 3]))


def test_the_exponent_of_means_is_that_of_the_means_where_values_scatter():
    """Multiplied by exp(s z - s^2/2), with s growing as log n: means keep the exponent -1, means of logarithms do not."""
    rng, sizes = np.random.default_rng(8), np.array([100.0, 200.0, 400.0])
    spread = np.log2(sizes / 100)[:, None] * 0.4
    values = np.exp(spread * rng.standard_normal((3, 400)) - spread**2 / 2) / sizes[:, None]
    of_means = exponent(list(sizes), values, of_means=True)
    error = np.std(of_means, ddof=1) / 20
    assert abs(np.mean(of_means) + 1) < 4 * error < 0.15
    # E log v = -log n - s^2/2: the slope of the logarithms is -1 - 0.64/2/(2 log 2)
    assert np.mean(exponent(list(sizes), values)) == pytest.approx(-1 - 0.16 / np.log(2), abs=0.1)


def test_pseudovalues_against_known_answers():
    x = np.random.default_rng(9).standard_normal((2, 30))
    assert pseudovalues(lambda v: v.mean(axis=-1), x) == pytest.approx(x)  # those of a mean are the samples
    # the jackknife turns the variance with 1/S into that with 1/(S - 1)
    assert pseudovalues(lambda v: v.var(axis=-1), x).mean(axis=-1) == pytest.approx(x.var(axis=-1, ddof=1))
    # a ratio of means: the scatter is that of the linearised ratio up to 1/S
    a, b = 2 + 0.1 * x[0], 1 + 0.1 * x[1]
    values = pseudovalues(lambda v: v[0].mean() / v[1].mean(), np.stack([a, b]))
    ratio = a.mean() / b.mean()
    linear = (a - ratio * b) / b.mean()
    assert np.std(values, ddof=1) == pytest.approx(np.std(linear, ddof=1), rel=0.05)


# --- moderated variances ---


def test_the_inverse_trigamma():
    for x in (1e-2, 0.3, 1.0, 4.0, 50.0, 1e4):
        assert _inverse_trigamma(float(polygamma(1, x))) == pytest.approx(x, rel=1e-9)


def test_moderated_variances_follow_smyth_by_hand():
    variances, freedom = np.array([0.02, 0.3, 1.0, 9.0, 4.0, 0.1]), 7
    logs = np.log(variances) - digamma(3.5)
    spread = np.sum((logs - logs.mean()) ** 2) / 5
    # nu0/2 = x solves psi'(x) = spread - psi'(nu/2); bisection in place of Newton's steps
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if polygamma(1, middle) > spread - polygamma(1, 3.5) else (low, middle)
    borrowed = 2 * low
    assert 0 < borrowed < 8
    made, total = moderated(variances, freedom)
    assert total == pytest.approx(7 + borrowed)
    assert made == pytest.approx((borrowed * variances.mean() + 7 * variances) / (borrowed + 7))


def test_what_is_borrowed_is_limited_and_nothing_comes_from_few_numbers():
    same, total = moderated(np.full(5, 2.0), 3)  # equal variances would lend infinitely many degrees of freedom
    assert total == 3 + 8 and same == pytest.approx(np.full(5, 2.0))
    three = np.array([1.0, 2.0, 3.0])
    for few in (three, np.append(three, 0.0)):  # numbers without noise do not count
        made, total = moderated(few, 3)
        assert total == 3 and made == pytest.approx(few)


def test_moderated_variances_are_right_on_average_and_steadier():
    rng = np.random.default_rng(10)
    own = rng.chisquare(3, (400, 8)) / 3
    made = np.array([moderated(row, 3)[0] for row in own])
    assert made.mean() == pytest.approx(1.0, abs=0.06)
    assert made.std() < 0.75 * own.std()


# --- words ---


def test_marks_tell_agreement_from_what_cannot_be_told():
    noise = np.linspace(-1, 1, 400)  # its mean is zero, and its interval about 0.15 wide
    wide, exact = Tolerance(0.2, 0.8), Tolerance(0.1, 0.3)
    noisy = compare("error", [noise, noise + 0.2, 9 * noise, noise + 5.0], within=wide)
    assert decide([noisy]).judged[0].marks == ("within", "not distinguishable", "open", "outside")
    still = compare("size", [0.0, 0.2], within=exact, noisy=False)
    assert decide([still]).judged[0].marks == ("within", "outside")
    rare = Count("misses", 3, 400, 0.02, 0.1)
    assert decide([rare]).marks == {"within": 1, "not distinguishable": 0, "open": 0, "outside": 0}
    assert decide([replace(rare, exceptions=12)]).marks["not distinguishable"] == 1
    assert decide([replace(rare, trials=20, exceptions=0)]).marks["open"] == 1


def test_a_decision_names_its_comparisons():
    made = compare("error", [[1.0, 1.02], [1.28, 1.32]], 1.0, within=Tolerance(0.01, 5.0), relative=True, at=["a", "b"])
    decision = decide([made])
    assert decision.of("error").comparison is made
    with pytest.raises(KeyError):
        decision.of("another")
