"""The public names: what __init__.pyi and _verbs.pyi say is what there is."""

import ast
import inspect
import pickle
import re
from pathlib import Path

import pytest

import giantstep as gs

STUB = ast.parse((Path(gs.__file__).parent / "_verbs.pyi").read_text(encoding="utf-8")).body


def test_every_public_name_is_there():
    assert all(hasattr(gs, name) for name in gs.__all__)  # type: ignore[attr-defined]
    assert gs.system is gs.systems
    assert {"Setting", "simulate", "equivalent", "theory", "explain", "optimal", "sweep", "plot"} <= set(dir(gs))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gs.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", ["simulate", "theory"])
def test_the_described_calls_take_what_the_verbs_take(verb):
    (described,) = [node for node in STUB if isinstance(node, ast.ClassDef) and node.name == f"_{verb.capitalize()}"]
    call = [node for node in described.body if isinstance(node, ast.FunctionDef) and node.name == "__call__"][-1]
    arguments = [*call.args.args[1:], *call.args.kwonlyargs]
    defaults = [*call.args.defaults, *call.args.kw_defaults]
    own = inspect.signature(getattr(gs, verb)).parameters
    assert [each.arg for each in arguments] == list(own)
    values = [each.default for each in own.values()][1:]
    assert [ast.literal_eval(each) for each in defaults if each is not None] == values


def test_verbs_have_what_is_described_inside():
    for node in STUB:
        if isinstance(node, ast.ClassDef):
            verb = getattr(gs, node.name.removeprefix("_").lower())
            inside = [part.targets[0].id for part in node.body if isinstance(part, ast.Assign)]  # type: ignore[attr-defined]
            assert all(hasattr(verb, name) for name in inside if name != "__call__")


def test_what_needs_no_jax_does_not_import_it():
    import subprocess
    import sys

    code = "import sys, giantstep as gs; gs.explain('x1 + x1*x2'); assert 'jax' not in sys.modules"
    assert subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True).stderr == ""


def test_a_mistyped_name_is_answered_with_the_nearest_one():
    with pytest.raises(AttributeError, match="no preset 'monri'; did you mean 'moniri'"):
        _ = gs.presets.monri  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        _ = gs.simulat  # type: ignore[attr-defined]
    with pytest.raises(gs.InputError, match="did you mean 'relu'"):
        gs.Network(10, "ReLu")
    with pytest.raises(gs.InputError, match=r"known are x1, H2, relu, leaky_relu, tanh and \d+ more"):
        gs.target("x1 + foo(x2)")
    with pytest.raises(gs.InputError, match=r"not Setting: draw gs\.simulate"):
        gs.plot(gs.presets.moniri(n=80, d=40, N=60, alpha=0.1, penalty=0.1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "given", "meant"),
    [
        ("simulate", "spectra", "spectrum"),
        ("equivalent", "modle", "model"),
        ("theory", "regim", "regime"),
        ("compare", "seeds", "seed"),
        ("explain", "re_use", "reuse"),
        ("plot", "label", "labels"),
        ("optimal", "verfy", "verify"),
        ("sweep", "seed", "seeds"),
        ("check", "sizes", "size"),
        ("power", "time", "times"),
        ("Network", "widht", "width"),
        ("GiantStep", "etta", "eta"),
        ("Ridge", "penality", "penalty"),
        ("Setting", "netwrk", "network"),
    ],
)
def test_a_mistyped_argument_is_answered_with_the_nearest_one(verb, given, meant):
    with pytest.raises(gs.InputError, match=f"^{verb} has no argument '{given}'; did you mean '{meant}'"):
        getattr(gs, verb)(None, **{given: True})


@pytest.mark.parametrize("call", [gs.sweep, gs.optimal, gs.check, gs.Network, gs.Gaussian])
def test_a_call_that_answers_mistyped_arguments_keeps_its_signature_and_its_pickle(call):
    known = inspect.signature(call).parameters
    assert len(known) >= 1 and all(each.kind is not each.VAR_KEYWORD for each in known.values())
    assert pickle.loads(pickle.dumps(call)) is call
    with pytest.raises(gs.InputError, match="takes at most one argument without a name, not 2"):
        gs.Gaussian(1, 2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("noun", "given", "said"),
    [
        ("Gaussian", {}, "Gaussian needs 'd': write Gaussian(d=...)"),
        ("Network", {"width": 3}, "Network needs 'activation': write Network(width=..., activation=...)"),
        ("Ridge", {"n": None}, "Ridge needs 'penalty': write Ridge(n=..., penalty=...)"),
        ("SGD", {}, "SGD needs 'n' and 'rate': write SGD(n=..., rate=...)"),
        ("Early", {}, "Early needs 'n', 'd' and 'width': write Early(n=..., d=..., width=...)"),
        ("Mixture", {"d": 3}, "Mixture needs 'components': write Mixture(d=..., components=...)"),
        ("GiantStep", {"eta": 1.0}, "GiantStep needs 'n': write GiantStep(n=..., eta=...)"),
    ],
)
def test_a_noun_says_what_it_needs(noun, given, said):
    with pytest.raises(gs.InputError, match=f"^{re.escape(said)}$"):
        getattr(gs, noun)(**given)
