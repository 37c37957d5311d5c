"""Presets and words of the explorer: each can be shown, and none is missing."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

import giantstep as gs
from giantstep.citations import PAPERS
from giantstep.claims import TEXTS
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._glossary import WORDS
from giantstep.explorer._presets import PRESETS
from giantstep.explorer.views._explain import explain
from giantstep.explorer.views.giant_steps._numbers import chain_of
from giantstep.story._scene import scenes

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: f"{preset.paper}: {preset.title}")
def test_every_preset_is_a_state_of_its_view_that_can_be_built(preset):
    assert state.read_query(type(preset.state), state.write(preset.state)) == (preset.state, [])
    if isinstance(preset.state, state.OneStep):
        assert settings.one_step(preset.state, preset.state.alpha).p <= settings.WIDEST
    elif isinstance(preset.state, state.GiantSteps):
        assert settings.dimension(preset.state)[1] <= settings.LARGEST_BATCH[preset.state.batches]
        settings.giant_steps(preset.state)
    elif isinstance(preset.state, state.Explain):
        explain(preset.state)
    else:
        assert preset.state.claim in [text.name for text in TEXTS]


def test_a_scene_of_other_data_than_the_view_has_is_shown_by_a_claim():
    """One step and Giant steps have isotropic Gaussian inputs; a scene of other inputs must not be a preset of theirs."""
    told = {preset.title: preset.state for preset in PRESETS if preset.scene is not None}
    for scene in scenes():
        if not isinstance(scene.setting.data, gs.Gaussian):
            assert isinstance(told[scene.title], state.Claims)


def test_every_paper_has_a_preset():
    assert {preset.paper for preset in PRESETS} == {paper.key for paper in PAPERS}


@pytest.mark.parametrize("title", ["a reused batch finds H3(x1)", "Using a batch twice"])
def test_the_reused_batch_of_a_preset_finds_what_fresh_batches_of_its_size_do_not(title):
    (preset,) = [one for one in PRESETS if one.title == title]
    assert isinstance(preset.state, state.GiantSteps)
    s = state.alone(preset.state)
    assert preset.state.beside == "" or state.other(preset.state) == replace(s, batches="fresh")
    reused, fresh = (
        chain_of(one).shares[-1].mean() * settings.dimension(s)[0] for one in (s, replace(s, batches="fresh"))
    )
    assert reused > 30 > 10 > fresh  # in units of a random neuron's share 1/d


@pytest.mark.slow
def test_the_spike_of_a_preset_is_just_outside_the_bulk_and_the_peak_above_its_neighbour():
    spike, peak = (
        next(one.state for one in PRESETS if one.paper == key) for key in ("benaych_georges", "mei_montanari")
    )
    assert isinstance(spike, state.OneStep) and isinstance(peak, state.OneStep)
    law = gs.theory.spectrum(settings.one_step(spike, spike.alpha))
    assert not isinstance(law, tuple)
    assert [1 < one.position / law.edge < 1.1 for one in law.outliers] == [True]
    beside = state.other(peak)
    assert beside is not None and beside == replace(state.alone(peak), p_over_n=2.0)
    at, there = (gs.theory(settings.one_step(one, one.alpha)).test_error for one in (peak, beside))
    assert at > 5 * there


def test_every_label_has_a_word_and_every_word_a_page():
    views = [kind for name, kind in state.VIEWS.items() if name not in ("claims", "words")]
    labels = {f.metadata["label"].lower() for kind in views for f in fields(kind) if f.name != "beside"}
    assert labels <= WORDS.keys()
    for word in WORDS.values():
        assert (ROOT / "docs" / word.page.partition("#")[0]).is_file() and word.meaning.endswith(".")


def test_a_setting_beside_another_is_read_with_the_same_bounds():
    first = state.OneStep(alpha=0.1)
    both = state.OneStep(alpha=0.2, beside=state.write(first))
    again, refused = state.read_query(state.OneStep, state.write(both))
    assert again == both and not refused and state.other(again) == first
    nested = state.OneStep(beside=state.write(state.OneStep(beside="d=60")))
    assert state.other(nested) == state.OneStep() and state.other(state.OneStep()) is None
    assert state.other(state.OneStep(beside="d=1e9&alpha=0.4")) == state.OneStep(alpha=0.4)
