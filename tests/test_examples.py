"""Every script of the gallery runs and leaves a figure, and every one of them is in the gallery."""

import re
import runpy
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_at_least_twelve():
    assert len(EXAMPLES) >= 12


LONG = ("01", "02", "03", "04", "05", "08", "09", "10", "12", "14", "15")  # they predict a lot, or start workers
CASES = [pytest.param(path, marks=pytest.mark.slow if path.stem[:2] in LONG else (), id=path.stem) for path in EXAMPLES]


@pytest.mark.parametrize("path", CASES)
def test_an_example_runs_and_leaves_a_figure(path, tmp_path, monkeypatch, capsys, gallery):
    monkeypatch.chdir(tmp_path)
    figure = runpy.run_path(str(path))["figure"]
    assert isinstance(figure, Figure) and figure.axes
    assert all(ax.has_data() for ax in figure.axes)
    picture = tmp_path / f"{path.stem}.svg"
    figure.savefig(picture)
    assert list(tmp_path.iterdir()) == [picture]  # it leaves nothing else behind
    gallery.PICTURES.mkdir(parents=True, exist_ok=True)
    shutil.move(picture, gallery.PICTURES / picture.name)  # make docs need not draw it again


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.delitem(sys.modules, "gallery", raising=False)
    import gallery  # type: ignore[import-not-found]

    return gallery


def test_the_gallery_has_the_text_and_the_code_of_every_example(gallery):
    page = gallery.page("")
    for path in EXAMPLES:
        assert f"assets/gallery/{path.stem}.svg" in page and f"`examples/{path.name}`" in page
        assert gallery._code(path) in page
        assert gallery._code(path).endswith("\nfigure  # a notebook shows it")
        assert "import giantstep" in gallery._code(path) or "from giantstep" in gallery._code(path)


def test_a_page_of_the_api_names_the_examples_that_use_what_it_describes(gallery):
    def shown(name: str) -> str:
        text = (ROOT / f"docs/api/{name}.md").read_text(encoding="utf-8")
        return gallery.on_page_markdown(text, page=SimpleNamespace(file=SimpleNamespace(src_uri=f"api/{name}.md")))

    for name in ("sweep", "compare", "theory", "explain", "equivalent"):
        _, _, links = shown(name).partition("## In the gallery\n\n")
        used = [path for path in EXAMPLES if re.search(rf"gs\.{name}\b", gallery._code(path))]
        assert used and all(f"[{gallery._title(path)}](../gallery.md#" in links for path in used)
    (fitted,) = re.findall(r"\[[^]]*\]\(\.\./gallery\S*\)", shown("estimator"))
    assert fitted == "[The estimator in a pipeline](../gallery.md#the-estimator-in-a-pipeline)"
    assert "Most examples" in shown("simulate") and "Most examples" in shown("network")
    assert "gallery" not in shown("citations")
