"""The Python of README.md and of the tour runs as written, each page in one namespace."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/tour.md"])
def test_every_block_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # the pages save figures and settings
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks
    shared = {"__name__": page}
    for block in blocks:
        above = text[: block.start(1)].count("\n")  # a traceback names the line of the page
        exec(compile("\n" * above + block[1], ROOT / page, "exec"), shared)


def test_the_setting_file_of_the_tour_is_the_setting_of_the_tour():
    import giantstep as gs

    text = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
    shared: dict = {"gs": gs}
    exec(next(b[1] for b in BLOCK.finditer(text) if "s = gs.Setting(" in b[1]).split("s.save")[0], shared)
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert gs.Setting.from_toml(toml) == shared["s"]
