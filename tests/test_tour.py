"""The Python of the README and of some pages runs as written, each page in one namespace."""

from pathlib import Path

import pytest
from readme import blocks, shows

import giantstep as gs

ROOT = Path(__file__).parents[1]


PAGES = (
    "README.md",
    *(
        f"docs/{page}.md"
        for page in (
            "index",
            "tour",
            "explain",
            "estimator",
            "data",
            "sgd",
            "two-steps",
            "mean-field",
            "early",
            "function-space",
            "attack",
            "bounds",
        )
    ),
)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_and_prints_what_the_page_shows(page: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # the pages save figures and settings
    shared = {"__name__": page}
    assert blocks(ROOT / page, "python")
    for above, code in blocks(ROOT / page, "python"):
        exec(compile("\n" * above + code, ROOT / page, "exec"), shared)  # a traceback names the line of the page
    printed = capsys.readouterr().out
    assert [text for _, text in blocks(ROOT / page, "text") if not shows(printed, text)] == []


def test_the_setting_file_of_the_tour_is_its_setting():
    (code,) = [code for _, code in blocks(ROOT / "docs/tour.md", "python") if "s = gs.Setting(" in code]
    shared = {"gs": gs}
    exec(code.split("s.id")[0], shared)
    ((_, toml),) = blocks(ROOT / "docs/tour.md", "toml")
    assert gs.Setting.from_toml(toml) == shared["s"]
