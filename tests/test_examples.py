"""Every script of the gallery runs and leaves a figure, and every one of them is in the gallery."""

import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_at_least_twelve():
    assert len(EXAMPLES) >= 12


LONG = ("02", "03", "04", "05", "08", "09", "10", "14", "15")  # they predict a lot, or start workers
CASES = [pytest.param(path, marks=pytest.mark.slow if path.stem[:2] in LONG else (), id=path.stem) for path in EXAMPLES]


@pytest.mark.parametrize("path", CASES)
def test_an_example_runs_and_leaves_a_figure(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    figure = runpy.run_path(str(path))["figure"]
    assert isinstance(figure, Figure) and figure.axes
    assert all(ax.has_data() for ax in figure.axes)
    figure.savefig(tmp_path / "figure.svg")
    assert [each.name for each in tmp_path.iterdir()] == ["figure.svg"]  # it leaves nothing else behind


def test_the_gallery_has_the_text_and_the_code_of_every_example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.delitem(sys.modules, "gallery", raising=False)
    import gallery  # type: ignore[import-not-found]

    page = gallery.page("")
    for path in EXAMPLES:
        assert f"assets/gallery/{path.stem}.svg" in page and f"`examples/{path.name}`" in page
        assert gallery._code(path) in page
        assert "import giantstep" in gallery._code(path) or "from giantstep" in gallery._code(path)
