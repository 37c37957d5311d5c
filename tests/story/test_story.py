"""The story: its scenes, its numbers against the library's own, its page and its notebooks."""

import json
import re
from urllib.parse import urlsplit

import numpy as np
import pytest

import giantstep as gs
from giantstep.explorer import _state as state
from giantstep.story import scenes
from giantstep.story._notebook import notebook
from giantstep.story._page import numbers, page, write

NAMES = [scene.name for scene in scenes()]
KINDS = {"line", "band", "dots", "bars", "wedges", "level", "upright", "trails"}


def marks(name: str, frame: int, kind: str) -> list[dict]:
    return [mark for mark in numbers()[name]["frames"][frame]["marks"] if mark["kind"] == kind]


def test_scenes_are_presets():
    assert 8 <= len(NAMES) <= 10 and len(set(NAMES)) == len(NAMES)
    for scene in scenes():
        assert isinstance(scene.setting, gs.Setting) and scene.title and scene.text and scene.look
        assert 1 <= len(scene.controls) <= 2
        assert gs.Setting.from_toml(scene.setting.to_toml()) == scene.setting


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_the_explorer_reads_every_preset(scene):
    parts = urlsplit(scene.explorer)
    _, refused = state.read_query(state.VIEWS[parts.path], parts.query)
    assert refused == []


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_every_combination_of_the_controls_has_a_frame(scene):
    figure = numbers()[scene.name]
    assert len(figure["frames"]) == scene.frames
    for frame in figure["frames"]:
        assert frame["marks"] and len(frame["words"]) > 30 and "nan" not in frame["words"]
        for mark in frame["marks"]:
            assert mark["kind"] in KINDS and 0 <= mark["ink"] <= 3
            sizes = {len(mark[key]) for key in ("x", "y", "high", "error") if key in mark and mark["kind"] != "bars"}
            assert len(sizes) <= 1 and (mark["kind"] in ("level", "wedges") or mark.get("x") or mark.get("paths"))
            assert "null" not in json.dumps({key: mark.get(key) for key in ("x", "y", "paths") if key in mark})


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_a_scene_begins_where_there_is_something_to_see(scene):
    """No bare histogram around zero, no bulk without spikes, no bars at chance, no dots in one place."""
    assert all(control.begin in control.values for control in scene.controls)
    found = {mark["kind"]: mark for mark in numbers()[scene.name]["frames"][scene.first]["marks"]}
    if scene.name == "one-giant-step":
        cosines, heights = np.array(found["bars"]["x"]), np.array(found["bars"]["y"])
        far = np.abs(cosines[1:] + cosines[:-1]) / 2 > 4 / scene.setting.d**0.5  # four times what chance gives
        assert heights[far].sum() > 0.2 * heights.sum()
    if scene.name == "spikes":
        assert found["upright"]["x"] and found["wedges"]["x"]
    if scene.name == "directions":
        assert found["dots"]["y"] == sorted(found["dots"]["y"], reverse=True) and min(found["dots"]["y"]) > 0.2
    if scene.name == "staircase":
        assert all(len(path) > 2 for path in found["trails"]["paths"])


def test_the_scene_of_the_reused_batch_says_what_its_picture_shows():
    """About ten times chance at n = 4d on fresh batches, and 1.3% on one; both rise with n, the one more."""
    scene = next(each for each in scenes() if each.name == "reuse")
    said = " ".join(scene.text)
    assert "n = 4d" in said and "about ten times chance" in said and "1.3% of a neuron" in said
    fresh, again = (np.array(mark["y"]) for mark in marks(scene.name, scene.first, "dots"))
    at = scene.controls[0].values.index(4)
    assert 8 < fresh[at] * scene.setting.d < 13 and round(100 * again[at], 1) == 1.3
    assert np.all(np.diff(fresh) > 0) and np.all(np.diff(again / fresh) > 0)
    shown = numbers()[scene.name]["frames"][scene.first]["words"]
    assert f"{fresh[at] * scene.setting.d:.2g} times chance" in shown


@pytest.mark.slow
def test_the_share_of_fresh_batches_falls_with_the_dimension_and_that_of_one_batch_does_not():
    """The text of the scene says it of d = 1000 and d = 9000."""
    from giantstep.story.numbers._steps import _shares

    scene = next(each for each in scenes() if each.name == "reuse")
    for again, power in ((False, 1), (True, 0)):
        values, errors = np.transpose(
            [_shares(scene.setting.with_(d=d), str(scene.controls[1].begin), 4 * d, again) for d in (1000, 9000)]
        )
        scale = np.array([1000.0, 9000.0]) ** power
        assert abs(values[1] * scale[1] - values[0] * scale[0]) < 3 * np.hypot(*(errors * scale))


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_error_bars_end_inside_the_picture(scene):
    figure = numbers()[scene.name]
    dots = [mark for frame in figure["frames"] for mark in frame["marks"] if mark["kind"] == "dots"]
    highest = max((y + error for mark in dots for y, error in zip(mark["y"], mark["error"], strict=True)), default=0)
    assert highest <= figure["y"]["max"] or not dots


def test_numbers_are_those_of_the_library():
    """One measured and one predicted number of the page, computed again from the setting of its scene."""
    scene = next(each for each in scenes() if each.name == "random-features")
    (dots,), (line,) = marks(scene.name, 0, "dots"), marks(scene.name, 0, "line")
    s = scene.setting.with_(width=scene.controls[0].values[0], n=int(dots["x"][0]))
    o = gs.simulate(s, range(8)).mean()
    np.testing.assert_allclose([o.test_error, o.test_error_se], [dots["y"][0], dots["error"][0]], rtol=1e-3)
    at = s.with_(n=int(line["x"][-1]))
    np.testing.assert_allclose(gs.theory(at).test_error, line["y"][-1], rtol=1e-3)


def test_the_page_is_whole_in_one_file(tmp_path):
    text = page()
    assert all(f'id="{name}"' in text for name in NAMES) and len(text) < 1_000_000
    outside = [each for each in re.findall(r'(?:src|href)="([^"]*)"', text) if not each.startswith(("#", "notebooks/"))]
    assert all(each.startswith("http://127.0.0.1:8050/") for each in outside)  # the explorer on the reader's machine
    path = write(tmp_path)
    assert path.read_text(encoding="utf-8") == text
    assert sorted(each.stem for each in (tmp_path / "notebooks").iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_a_notebook_has_the_form_that_jupyter_reads(scene):
    made = json.loads(notebook(scene))
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert made["cells"][0]["cell_type"] == "markdown" and scene.title in made["cells"][0]["source"][0]
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in made["cells"][1:]:
        assert cell["cell_type"] == "code" and cell["outputs"] == [] and cell["execution_count"] is None
        compile("".join(cell["source"]), scene.name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_a_notebook_runs(scene, capsys):
    space: dict = {}
    for cell in json.loads(notebook(scene))["cells"][1:]:
        exec(compile("".join(cell["source"]), scene.name, "exec"), space)  # noqa: S102
    assert space["s"] == scene.setting


def test_targets_are_shown_as_a_book_writes_them():
    assert "x₁ + x₁x₂" in page()
    assert "η = n<sup>α</sup>" in page() and "^" not in "".join(re.findall(r"<(?:label|p|option)\b.*?</", page()))
