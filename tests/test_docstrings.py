"""The examples in the docstrings of public functions run as written."""

import doctest
import inspect

import pytest

import giantstep as gs
from giantstep.experiment import presets

WITHOUT = {"theory_errors"}  # docs/theory.md shows it: it needs a compiled gradient
VERBS = sorted(
    name
    for name in dir(gs)
    if not name.startswith("_") and callable(getattr(gs, name)) and not inspect.isclass(getattr(gs, name))
)
SHOWN = {
    **{name: inspect.unwrap(getattr(gs, name)) for name in VERBS if name not in WITHOUT},
    "Setting": gs.Setting,
    "presets.moniri": presets.moniri,
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_of_a_docstring_run_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    found = [test for test in finder.find(SHOWN[name], name, globs={"gs": gs}) if test.examples]
    assert found, f"gs.{name} has no example"
    for test in found:
        said: list[str] = []
        assert runner.run(test, out=said.append).failed == 0, "".join(said)
