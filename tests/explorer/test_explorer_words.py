"""The sentences of the one-step view: band and line, how far to trust, and why spikes are counted differently."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.explorer.views.one_step._spectrum_words import law_words
from giantstep.explorer.views.one_step._tasks import Unit, few, law_of
from giantstep.explorer.views.one_step._trust import trust
from giantstep.explorer.views.one_step._words import against, error_words


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        (1.315, 0.014, "That is inside the band of ±0.09, but 4.6 standard errors above the line."),
        (1.23, 0.01, "That is inside the band of ±0.09, and 2 standard errors below the line."),
        (1.25, 0.01, "That is inside the band of ±0.09, and less than one standard error from the line."),
        (1.45, 0.02, "That is above the band of ±0.09 and 10 standard errors above the line: theory is off here."),
        (1.1, 0.1, "That is below the band of ±0.09, but only 1.5 standard errors below the line."),
        (1.3, None, "That is inside the band of ±0.09."),
    ],
)
def test_a_measured_value_is_placed_by_the_band_and_by_the_line(value, error, said):
    assert against(value, error, 1.25, (1.16, 1.34)) == said


def test_a_band_that_is_not_even_has_its_ends_named():
    assert "inside the band from 0.90 to 1.10," in against(1.0, 0.01, 1.05, (0.9, 1.1))


def answer(s: state.OneStep, **given) -> OneStepAnswer:
    """The line of a state as the page has it, at the few step sizes and at the slider."""
    line = few(s)
    return replace(OneStepAnswer(settings.FAST, line.test, line.train, line.unit, line.bands), **given)


def test_the_line_is_trusted_up_to_where_neurons_move_too_far():
    s = state.OneStep()
    known = answer(s)
    n = settings.sizes(s)[0]
    moved = [known.unit.move * n**alpha for alpha in (0.57, 0.58)]
    assert moved[0] < 1.5 < moved[1]
    trusted, dashed = trust(s, known)
    assert trusted == "Trust the line up to α = 0.57; beyond, neurons move by more than 1.5 times their length."
    assert dashed == "From α = 0.7 on it is dashed: its band is wider than ±10%."
    said = error_words(replace(s, alpha=0.3), known)
    assert "The lowest trusted test error is 1.2" in said and "at α = 0.5." in said  # and not at 0.6
    assert trusted in said and " U " not in said and ";" not in said.replace("; beyond", "")


def test_what_ends_the_trust_is_what_comes_first():
    s, known = state.OneStep(), answer(state.OneStep())
    noisy = replace(known, unit=Unit(known.unit.move, 0.02))
    assert "the noise of the gradient is longer than the neurons" in trust(s, noisy)[0]
    calm = replace(
        known, unit=Unit(1e-4, 1e-9), bands={"test": np.stack([0.95 * known.test, 1.05 * known.test], axis=1)}
    )
    assert trust(s, calm) == ["Trust the line at every step size shown."]
    wide = replace(known, bands={"test": np.stack([0.5 * known.test, 1.5 * known.test], axis=1)})
    assert trust(s, wide) == ["The band is wider than ±10% at every step size: simulate before you quote a value."]


def spectra(s: state.OneStep, count: int) -> tuple[np.ndarray, ...]:
    return tuple(gs.simulate(settings.one_step(s, s.alpha), range(count), spectrum=True).singular_values)


@pytest.fixture(scope="module")
def long_step() -> OneStepAnswer:
    """Where five seeds have 3.8 values above their bulk, and theory two spikes."""
    s = state.OneStep(alpha=0.55)
    return answer(s, law=law_of(s), spectra=spectra(s, 5))


def test_more_values_above_the_bulk_than_spikes_are_explained(long_step):
    said = law_words(state.OneStep(alpha=0.55), long_step)
    assert "Theory predicts 2 spikes, at 12.5 and 9.2." in said and "5 seeds have 3.8 values above their bulk" in said
    assert "They come mostly from the noise of the gradient" in said
    assert "This noise adds 54% to the squared length of the neurons." in said


def test_the_reason_is_the_true_one(long_step):
    """Without the noise of the gradient the seeds have as many values above their bulk as theory has spikes."""
    s = state.OneStep(alpha=0.55)
    one = settings.one_step(s, s.alpha)
    bare, moved = (one.with_(protocol=gs.Protocol(steps=steps, readout=None)) for steps in ((), one.protocol.steps))
    x = np.random.default_rng(0).standard_normal((settings.sizes(s)[0], s.d))
    found: dict[str, list[int]] = {"with": [], "without": []}
    for seed in range(3):
        before, after = (gs.simulate.network(each, seed).weights for each in (bare, moved))
        W, a = np.asarray(before.W), np.asarray(before.a)
        change = np.asarray(after.W) - W
        learned = np.outer(a, a @ change) / (a @ a)  # the part of rank one
        for name, weights in (("with", W + change), ("without", W + learned)):
            features = np.maximum(x @ weights.T, 0) - 1 / np.sqrt(2 * np.pi)
            values = np.linalg.svd(features / np.sqrt(len(x)), compute_uv=False)
            found[name].append(len(gs.measure.outliers(values)))
    assert found["without"] == [len(long_step.law.outliers)] * 3
    assert np.mean(found["with"]) > 3


def test_equal_counts_need_no_explanation_and_a_hidden_spike_has_one(long_step):
    calm = replace(long_step, spectra=tuple(v[v < 2] for v in long_step.spectra))
    calm = replace(calm, spectra=tuple(np.append(v, [9.2, 12.5]) for v in calm.spectra))
    said = law_words(state.OneStep(alpha=0.55), calm)
    assert "noise" not in said and "without a predicted spike" not in said and "do not show" not in said
    near = replace(long_step.law, outliers=(*long_step.law.outliers, replace(long_step.law.outliers[0], position=2.35)))
    said = law_words(state.OneStep(alpha=0.55), replace(calm, law=near))
    assert "5 seeds of 5 do not show the spike at 2.35: it is only 1.9% above the edge." in said
    assert "At this size a spike must stand 7.4% above it to be told from the bulk." in said
