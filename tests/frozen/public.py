"""The public names as lines of text, and one of every public noun."""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import giantstep as gs
from tests.frozen import written

FILE = written.FOLDER / "public.txt"
INSIDE = {  # what a module has for users, beside being a verb
    "equivalent": "degree_of",
    "mean_field": "FittedCurves FittedKernel Followed MeanField fit fit_kernel follow",
    "measure": "IntrinsicDimension KernelModes LayerSpectrum Spectrum alignments bulk_edge "
    "captured_by_neuron cosine gram_schmidt_powers in_subspace intrinsic_dimension kernel layer "
    "layer_margin learned learned_rank margin mean_and_error moved null_level operator_norm "
    "outliers overlaps partition powers principal_angles share_inside span spectrum",
    "plot": "svg",
    "presets": "ba cui dandi demir fashion mei_montanari moniri moniri_hassani",
    "simulate": "Trained deflated_errors evolution network parts sgd train",
    "systems": "Reading System from_plain read",
    "theory": "Evolution Law Optimum Outlier Parameters SecondStep equivalent_inputs evolution "
    "kernel optimal parameters parts second_step sgd spectrum theory_errors",
}


def text() -> str:
    """All lines."""
    names = sorted(gs.__all__)  # type: ignore[attr-defined]
    return "\n".join(line for name in names for line in described(name, getattr(gs, name))) + "\n"


def described(name: str, value: Any) -> Iterator[str]:
    """A public name, and indented what is inside it."""
    yield called(name, value)
    if inspect.isclass(value):
        yield from (f"    {line}" for line in members(value))
    elif callable(value) and (noun := returned(value)) is not None:
        yield f"    returns {called(noun.__name__, noun)}"
        yield from (f"        {line}" for line in members(noun))
    for each in INSIDE.get(name, "").split():
        yield f"    {called(each, getattr(value, each))}"


def called(name: str, value: Any) -> str:
    """A name with its parameters, their kinds and their defaults; annotations are left out."""
    if not callable(value):
        return name
    signature = inspect.signature(value)
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    kind = "class " if inspect.isclass(value) else ""
    return f"{kind}{name}{signature.replace(parameters=bare, return_annotation=signature.empty)}"


def returned(verb: Any) -> type | None:
    """The noun of ours that a verb returns, unless it is a public name itself."""
    noun = inspect.signature(verb).return_annotation
    ours = inspect.isclass(noun) and noun.__module__.startswith("giantstep")
    return noun if ours and not hasattr(gs, noun.__name__) else None


def members(noun: type) -> list[str]:
    """What a noun has besides its fields, by name, whichever of our classes it comes from."""
    ours = [each for each in noun.__mro__ if each.__module__.startswith("giantstep")]
    names = {name for each in ours for name in vars(each) if not name.startswith("_")}
    own = {each.name for each in fields(noun)} if is_dataclass(noun) else set()
    return [_member(noun, name) for name in sorted(names - own)]


def _member(noun: type, name: str) -> str:
    value = inspect.getattr_static(noun, name)
    if isinstance(value, staticmethod | classmethod):
        return f"static {called(name, getattr(noun, name))}"
    return called(name, value) if inspect.isfunction(value) else name


def nouns() -> dict[str, Any]:
    """One of every public noun, by name, and what the verbs that make a noun return."""
    setting = gs.presets.moniri(n=20, d=8, N=6, alpha=[0.0, 0.25], penalty=0.5)
    rows = np.arange(24.0).reshape(8, 3)
    spike = gs.Spike(2.0, {"u": 0.6, "v": 0.8})
    component = gs.Component(1.0, (spike,), mean="u")
    errors = np.array([0.5, 0.25])
    return {
        "Attack": gs.Attack(d=8, width=6),
        "Bounds": gs.Bounds(d_in=2),
        "Component": component,
        "Dataset": gs.Dataset((rows, [0, 1] * 4)),
        "Early": gs.Early(n=20, d=6, width=8),
        "Finding": gs.theory(gs.Bounds(d_in=2, width=4, n=10, steps=5)),
        "FunctionSpace": gs.FunctionSpace(setting),
        "Gaussian": gs.Gaussian(8),
        "GiantStep": setting.protocol.steps[0],
        "InputError": gs.InputError("d must be at least 1, not 0"),
        "Layers": gs.Layers(rows, np.ones((1, 8)), "tanh(x+0.5)", b=np.arange(8.0)),
        "MeanField": gs.MeanField(n=12),
        "MissingData": gs.MissingData("There are no files in a folder"),
        "Mixture": gs.Mixture(8, component),
        "Network": gs.Network(8, "x^2 - relu(x)", weights=(rows, np.ones(8))),
        "Outcome": gs.Outcome(setting, "simulate", ("eta",), (0.0, 2.0), test_error=errors),
        "Protocol": setting.protocol,
        "Ridge": gs.Ridge(20, [0.25, 0.5]),
        "SGD": gs.SGD(20, 0.5, passes=2),
        "Setting": setting,
        "Spike": spike,
        "activation": gs.activation("tanh(x+0.5)", centred=True),
        "power": gs.power([0.0, 0.5], of="d", times=2.0),
        "target": gs.target("x1 + H2(x1)*x2", noise=0.5),
    }


def write() -> None:
    """Freeze the names."""
    FILE.write_text(text(), encoding="utf-8")
