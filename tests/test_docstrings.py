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


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_of_a_docstring_run_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    found = [test for test in finder.find(SHOWN[name], name, globs={"gs": gs}) if test.examples]
    assert found, f"gs.{name} has no example"
    for test in found:
        said: list[str] = []
        assert runner.run(test, out=said.append).failed == 0, "".join(said)
