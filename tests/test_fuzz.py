"""Every reader takes any text: it answers, or refuses in one sentence; and what it accepts passes through all routes."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import giantstep as gs
from giantstep._given.seeds import parse as seeds
from giantstep.errors import InputError
from giantstep.lab.store import _condition as condition
from giantstep.lab.store.trial import Route
from giantstep.lab.sweep import _arithmetic as arithmetic
from giantstep.lab.sweep.toml import from_plain

# What once ended in a traceback, a hang or a number that was none.
CORPUS = (
    "1/0 + zz", "1e200*x1", "1e-200*x1", "(x1+x2+x3+x4+x5+x6+x7+x8)^10", "seed=+" + "0" * 29 + "9" * 24, "formula=\udcff\udcfe",
    "0-999999999", "9**9**9", "((((((((", "x1 | x2 |", "simulate(n_test=1e999)", "\x00", "d^d^d", "1e400", "H99999999(x1)",
)  # fmt: skip
PIECES = st.sampled_from([
    "x1", "x2", "x9", "H3(", "relu(",
    "sqrt(", ")", "(", "+", "-", "*", "/", "^", "**", "1e400", "1e-400", "0", "7", ".", "e", "d", "n",
    "=", "<", ">=", ",", "|", " ", "simulate",
    "theory", "spectrum=true", "\u00e9", "\udcff", "\x00", "lambda", "__import__", "9" * 30,
])  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join), st.sampled_from(CORPUS))
READERS = {
    "target": gs.target,
    "activation": gs.activation,
    "setting": gs.Setting.from_toml,
    "expression": lambda text: arithmetic.value(text, {"d": 7.0, "n": 30.0}),
    "condition": condition.parse,
    "seeds": seeds,
    "route": Route.parse,
    "explain": gs.explain,
}


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=120)
@given(text=TEXTS)
@example(text=CORPUS[0])
@example(text=CORPUS[3])
@example(text=CORPUS[4])
def test_any_text_is_read_or_refused_in_a_sentence(reader, text):
    if reader == "explain" and text.count("x") > 3 and "^" in text:
        return  # what it costs is bounded, and too much for so many examples
    try:
        READERS[reader](text)
    except InputError as problem:
        assert str(problem)


LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
PLAIN = (
    LEAF
    | st.lists(LEAF, max_size=3)
    | st.dictionaries(st.text(max_size=8), LEAF | st.lists(LEAF, max_size=2), max_size=3)
)
FIELDS = ("data", "target", "network", "protocol", "setting", "axes", "zip", "seeds", "routes", "measure")


@given(data=st.dictionaries(st.sampled_from(FIELDS), PLAIN, max_size=5))
def test_any_plain_data_are_a_setting_or_a_sweep_or_refused(data):
    for reader in (gs.Setting.from_plain, from_plain):
        try:
            reader(data)
        except InputError as problem:
            assert str(problem)


NUMBER = st.floats(1e-3, 1e3)


@settings(max_examples=25)
@example(1, 2, 2, 1.0, 0.0, 0.0, "x1", "1e40*x")  # LAPACK gave up on entries of 1e80
@given(
    d=st.integers(1, 12),
    width=st.integers(1, 8),
    n=st.integers(1, 30),
    eta=st.one_of(NUMBER, st.just(1e200), st.just(0.0)),
    penalty=st.one_of(NUMBER, st.just(0.0), st.just(1e-300)),
    noise=st.one_of(NUMBER, st.just(0.0), st.just(1e50)),
    formula=st.sampled_from(["x1", "H2(x1)", "relu(x1)", "1e50*x1", "1e-50*x1", "x1 + x2^3", "7", "sign(x1)"]),
    sigma=st.sampled_from(["relu", "tanh", "erf", "1e40*x", "x^3", "sin(9*x)"]),
)
def test_any_setting_passes_through_all_routes(d, width, n, eta, penalty, noise, formula, sigma):
    """Numbers that are not finite have a status that is not ok."""
    try:
        setting = gs.Setting(
            gs.Gaussian(d),
            gs.target(formula, noise=noise),
            gs.Network(width, sigma),
            gs.Protocol((gs.GiantStep(n, eta),), gs.Ridge(n, penalty)),
        )
    except InputError:
        return
    assert gs.Setting.from_plain(json.loads(json.dumps(setting.to_plain()))) == setting
    for route in (lambda s: gs.simulate(s, n_test=10), gs.theory, lambda s: gs.equivalent(s, n_test=10)):
        try:
            found = route(setting)
        except InputError as problem:
            assert str(problem)
            continue
        assert str(found)
        for name in ("test_error", "train_error"):
            value = getattr(found, name)
            assert value is None or abs(value) < float("inf") or not found.status.ok, name
