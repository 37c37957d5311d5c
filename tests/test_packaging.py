"""What a package index shows and what a reader cites: one version everywhere, a description that stands alone."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    papers = tomllib.loads((ROOT / "src/giantstep/citations/papers.toml").read_text(encoding="utf-8"))
    (own,) = [each for each in papers["papers"] if each.get("kind") == "software"]
    assert cited is not None and cited[1] == version and own["venue"].endswith(f"version {version}")


def test_the_long_description_has_no_link_that_a_package_index_cannot_follow():
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert all(each.startswith("https://") for each in links) and "<" not in text
    assert text.startswith("# giantstep\n") and text.count("```") % 2 == 0


@pytest.mark.slow
def test_the_python_of_the_long_description_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / PROJECT["readme"]).read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(block, "pypi.md", "exec"), {})  # noqa: S102
    assert "U2" in capsys.readouterr().out and (tmp_path / "errors.png").exists()


def test_classifiers_name_the_versions_of_python():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in PROJECT["classifiers"]
    assert "Typing :: Typed" in PROJECT["classifiers"] and (ROOT / "src/giantstep/py.typed").exists()


def test_the_slow_tests_have_the_flags_that_xla_knows():
    """XLA ends every process over another one, and versions drop some."""
    flags = ["--xla_backend_optimization_level=0", "--xla_no_such_flag=1"]
    done = subprocess.run([ROOT / "scripts/known-flags", sys.executable, *flags], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (flags[:1], "")
    assert "$$(scripts/known-flags $(BIN)/python $(QUICKLY)" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_oldest_jinja_has_no_published_advisory():
    """Those of 2024 and 2025 are mended in 3.1.3 to 3.1.6."""
    (floor,) = [each for each in PROJECT["dependencies"] if each.startswith("jinja2")]
    assert tuple(map(int, floor.removeprefix("jinja2>=").split("."))) >= (3, 1, 6)
