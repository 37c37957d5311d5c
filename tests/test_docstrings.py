"""The examples in the docstrings of public functions run as written."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import giantstep as gs
from giantstep.experiment import presets

WITHOUT = {"theory_errors"}  # docs/theory.md shows it: it needs a compiled gradient
VERBS = sorted(
    name
    for name in dir(gs)
    if not name.startswith("_") and callable(getattr(gs, name)) and not inspect.isclass(getattr(gs, name))
)
NOUNS = (
    "Dataset",
    "Gaussian",
    "GiantStep",
    "Layers",
    "Mixture",
    "Network",
    "Protocol",
    "Ridge",
    "SGD",
    "Setting",
    "Component",
)
NOUNS += ("Spike", "Attack", "Bounds", "Early", "FunctionSpace", "MeanField", "Outcome", "Finding")
INSIDE = {
    presets: ("moniri", "ba", "moniri_hassani", "dandi", "cui", "demir", "fashion", "mei_montanari"),
    gs.simulate: ("evolution", "network", "parts", "sgd", "train"),
    gs.measure: (
        *("bulk_edge", "cosine", "null_level", "outliers", "overlaps", "principal_angles", "alignments", "in_subspace"),
        *(
            "gram_schmidt_powers",
            "spectrum",
            "mean_and_error",
            "layer",
            "captured_by_neuron",
            "intrinsic_dimension",
            "kernel",
        ),
        *("operator_norm", "margin", "layer_margin", "moved", "powers", "learned", "learned_rank", "span"),
        *("share_inside", "partition"),
    ),
    gs.theory: ("evolution", "kernel", "parameters", "parts", "second_step", "sgd", "spectrum"),
}
SHOWN = {
    **{name: inspect.unwrap(getattr(gs, name)) for name in VERBS if name not in WITHOUT},
    **{name: getattr(gs, name) for name in NOUNS},
    **{
        f"{home.__name__}.{name}": inspect.unwrap(getattr(home, name))
        for home, names in INSIDE.items()
        for name in names
    },
}


def test_docstrings_lose_nothing_as_markdown():
    """Outside code, <w, x> would be a tag of HTML that no browser shows, and two stars would make text italic."""
    for source in _shown_sources():
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and not getattr(
                node, "name", ""
            ).startswith("_"):
                text = re.sub(
                    r"``.*?``", "", (ast.get_docstring(node) or "").partition("Examples:")[0], flags=re.DOTALL
                )
                for part in re.split(r"\n\s*\n", text):
                    if not all(
                        line.startswith("    ") for line in part.splitlines()
                    ):  # else a formula on lines of its own
                        assert not re.search(r"<[A-Za-z][^<>]*>|[*](?=\S)[^*]+\S[*]", part), f"{source}: {part}"


def _shown_sources() -> set[Path]:
    """The files whose docstrings the pages of the API show."""
    root = Path(__file__).parents[1]
    pages = "".join(page.read_text(encoding="utf-8") for page in (root / "docs/api").glob("*.md"))
    homes = [root / "src" / name.replace(".", "/") for name in re.findall(r"^::: (\S+)", pages, re.MULTILINE)]
    return {path for home in homes for path in (home.with_suffix(".py"), home / "__init__.py") if path.exists()}


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_of_a_docstring_run_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    found = [test for test in finder.find(SHOWN[name], name, globs={"gs": gs}) if test.examples]
    assert found, f"gs.{name} has no example"
    for test in found:
        said: list[str] = []
        assert runner.run(test, out=said.append).failed == 0, "".join(said)
