"""Documentation that cannot drift from the code."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from giantstep.checks.report.markdown import cell
from giantstep.claims import TEXTS
from giantstep.cli import app

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=!~]", each)[0] for each in requirements]


def test_generated_pages_are_up_to_date():
    run = subprocess.run([sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_every_command_and_option_has_help():
    commands = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert set(commands) == {
        "explain",
        "predict",
        "simulate",
        "compare",
        "bounds",
        "attack",
        "fit",
        "stretch",
        "sweep",
        "check",
        "cite",
        "claim",
        "explore",
        "results",
        "store",
    }
    results, other = commands.pop("results"), commands.pop("store")
    assert results.help and set(results.commands) == {"list", "merge", "verify", "repair"}
    assert other.hidden and set(other.commands) == set(results.commands)  # another name of it
    claim = commands.pop("claim")
    assert claim.help and set(claim.commands) == {"new"}
    for command in (*commands.values(), *results.commands.values(), *claim.commands.values()):
        assert command.help
        assert all(getattr(parameter, "help", None) for parameter in command.params)
        assert "--json" in [flag for parameter in command.params for flag in parameter.opts]


def test_every_argument_that_a_docstring_explains_is_in_the_signature():
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "Args:\n" in (text := ast.get_docstring(node) or ""):
                section = re.split(r"\n(?=\S)", text.split("Args:\n", 1)[1])[0]
                explained = re.findall(r"^ {4}(?=\S)\**([^:]+):", section, re.M)
                of = node.args
                own = {each.arg for each in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg) if each}
                assert set(explained) <= own, (path.name, node.name, set(explained) - own)


def test_every_claim_is_in_the_table():
    page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    assert all(f"### {claim.name}" in page for claim in TEXTS)
    for claim in TEXTS:
        above = page.partition(f"### {claim.name}\n")[2].partition("\n> ")[0]
        assert claim.said and cell(claim.said) in above, claim.name


def test_the_extras_that_pip_reads_equal_the_dependency_groups():
    extras = PROJECT["project"]["optional-dependencies"]
    assert {name: extras[name] for name in ("dev", "docs")} == PROJECT["dependency-groups"]


@pytest.mark.parametrize("group", ["dependencies", "dev", "docs", "lab", "explore"])
def test_every_dependency_says_why_it_is_there(group: str):
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    wanted = PROJECT["project"].get(group) or PROJECT["project"]["optional-dependencies"][group]
    assert [name for name in names(wanted) if f"| `{name}` |" not in page] == []


def test_constraints_are_exact_and_cover_the_dependencies():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {re.fullmatch(r"([A-Za-z0-9_.-]+)==[0-9][A-Za-z0-9.+!]*", line).group(1) for line in lines}  # type: ignore[union-attr]
    known = {name.lower().replace("_", "-") for name in pinned}
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = names(
        PROJECT["project"]["dependencies"] + extras["dev"] + extras["docs"] + extras["lab"] + extras["explore"]
    )
    assert [name for name in wanted if name not in known] == []


def test_the_oldest_constraints_are_the_floors():
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    tools = [each for each in extras["dev"] if names([each])[0] in ("beartype", "hypothesis", "pytest", "pytest-xdist")]
    floors = {*project["dependencies"], *extras["lab"], *extras["cluster"], *extras["explore"], *tools}
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(line.replace("==", ">=") for line in lines) == sorted(floors)


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 60
