"""The Python of the README and of some pages runs as written, each page in one namespace."""

import re
from pathlib import Path

import pytest

import giantstep as gs

ROOT = Path(__file__).parents[1]


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """Fenced blocks of a language: how many lines stand above each, and its text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: each.start(1)].count("\n"), each[1]) for each in found]


def masked(text: str) -> str:
    """The text without its numbers and the time it took: elsewhere they differ in the last place, a direction in its sign, and
    with them the width of columns."""
    timeless = re.sub(r"\(\d+\.\d s\)", "", text)
    return " ".join(re.sub(r"[-+−]?\d[\d.]*(e[-+]?\d+)?", "#", timeless).split())


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
    assert blocks(page, "python")
    for above, code in blocks(page, "python"):
        exec(compile("\n" * above + code, ROOT / page, "exec"), shared)  # a traceback names the line of the page
    printed = masked(capsys.readouterr().out)
    assert all(masked(text) in printed for _, text in blocks(page, "text"))


def test_the_setting_file_of_the_tour_is_its_setting():
    (code,) = [code for _, code in blocks("docs/tour.md", "python") if "s = gs.Setting(" in code]
    shared = {"gs": gs}
    exec(code.split("s.id")[0], shared)
    ((_, toml),) = blocks("docs/tour.md", "toml")
    assert gs.Setting.from_toml(toml) == shared["s"]
