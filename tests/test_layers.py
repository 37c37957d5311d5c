"""The shape of the source: layers, length of files, nothing that evaluates text."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
OTHERS = sorted(
    path for folder in ("tests", "benchmarks", "docs", "examples", "scripts") for path in (ROOT / folder).rglob("*.py")
)


def test_a_line_imports_only_lines_below_it(capsys):
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_no_file_is_over_400_lines():
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in (*SOURCES, *OTHERS)
    }
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_no_class_name_stands_for_two_things():
    names: dict[str, set[str]] = {}
    for path in (*SOURCES, *OTHERS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))
    assert {name: files for name, files in names.items() if len(files) > 1} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_nothing_evaluates_text(path: Path):
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [call.id for call in calls if isinstance(call, ast.Name) and call.id in {"eval", "exec", "__import__"}]


def test_the_command_line_is_thin():
    files = (ROOT / "src/giantstep/cli").glob("*.py")
    assert max(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 250
