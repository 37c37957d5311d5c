"""Settings: round trips, ids, equality, and one sentence for anything bad."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep.errors import InputError
from giantstep.experiment.protocol import Power
from giantstep.functions.activation import Activation

numbers = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda v: v == 0 or abs(v) > 1e-9)
positive = st.floats(1e-9, 1e6)
sizes = st.integers(1, 10_000)
downhill = numbers.map(abs)
etas = st.one_of(
    downhill,
    st.lists(downhill, min_size=2, max_size=2).map(tuple),
    st.builds(Power, numbers, st.sampled_from(["n", "d", "p"]), downhill),
)
steps = st.builds(gs.GiantStep, sizes, etas, residual=st.sampled_from(["target", "full"]), deflate=st.integers(0, 2))
reused = st.builds(gs.GiantStep, st.none(), etas, batch=st.just("reuse"))
readouts = st.one_of(
    st.none(),
    st.builds(
        gs.Ridge,
        sizes,
        st.one_of(positive, st.just("gcv"), st.lists(positive, min_size=1, max_size=3).map(tuple)),
        deflate=st.integers(0, 2),
    ),
)
protocols = st.builds(
    lambda first, rest, readout: gs.Protocol((first, *rest), readout),
    steps,
    st.lists(st.one_of(steps, reused), max_size=2),
    readouts,
)
networks = st.builds(
    gs.Network,
    st.integers(1, 500).map(lambda k: 2 * k),
    st.sampled_from(["relu", "tanh", "relu(x-0.5)", "0.3*H1 + 0.8*H2", "sin(x+pi/4)"]),
    rows=st.sampled_from(["sphere", "gaussian"]),
    second_layer=st.sampled_from(["gaussian", "rademacher", "constant"]),
    scale=st.sampled_from(["1/sqrt(p)", "1/p", "1"]),
    symmetric=st.booleans(),
    centred=st.booleans(),
)
targets = st.builds(
    gs.target, st.sampled_from(["x1", "x1 + H2(x1)*x2", "relu(x1)", "x1*x3 - 2"]), noise=st.floats(0, 5)
)
settings = st.builds(gs.Setting, st.builds(gs.Gaussian, st.integers(3, 5000)), targets, networks, protocols)


@given(settings)
def test_round_trips(setting):
    for again in (
        gs.Setting.from_toml(setting.to_toml()),
        gs.Setting.from_json(setting.to_json()),
        pickle.loads(pickle.dumps(setting)),
    ):
        assert again == setting
        assert again.id == setting.id
        assert hash(again) == hash(setting)


@given(settings, settings)
def test_ids_tell_settings_apart(one, other):
    assert (one.id == other.id) == (one == other)


def test_the_id_is_stable(small):
    """Changing this number breaks every store of results: do so only with a migration."""
    assert small.id == "2b93fd2da609ef42"
    again = dataclasses.replace(small, target=gs.target("x2*x1 + x1", noise=0.3))
    assert again == small and again.id == small.id


def test_files(small, tmp_path):
    for name in ("s.toml", "s.json"):
        small.save(tmp_path / name)
        assert gs.Setting.read(tmp_path / name) == small


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
KEYS = [
    "data",
    "target",
    "network",
    "protocol",
    "d",
    "law",
    "formula",
    "noise",
    "directions",
    "width",
    "activation",
    "rows",
    "steps",
    "readout",
    "n",
    "eta",
    "penalty",
    "batch",
    "weights",
    "alpha",
    "of",
]
NEAR = st.recursive(
    st.one_of(JSON, st.sampled_from(["relu", "x1", "gaussian", "reuse", "gcv", 10, 1.5])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)),
    max_leaves=14,
)


@given(NEAR)
def test_any_data_builds_or_is_refused(data):
    try:
        gs.Setting.from_plain(data)
    except gs.InputError as error:
        assert str(error)


@given(st.data())
def test_a_damaged_setting_is_refused_in_one_sentence(data):
    """Take a good setting and replace, remove or add one thing anywhere."""
    plain = json.loads(json.dumps(data.draw(settings).to_plain()))
    place = plain
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(NEAR)
        break
    try:
        gs.Setting.from_plain(plain)
    except gs.InputError as error:
        assert str(error)


@given(
    st.one_of(
        st.text(max_size=60),
        st.dictionaries(st.sampled_from(KEYS), st.sampled_from([1, "a", [1], {"n": 1}]), max_size=4).map(tomli_w.dumps),
    )
)
def test_any_toml_builds_or_is_refused(text):
    for read in (gs.Setting.from_toml, gs.Setting.from_json):
        try:
            read(text)
        except gs.InputError as error:
            assert str(error)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["network"].update(width=0), "width must be a whole number of at least 1"),
        (lambda p: p["network"].update(colour="red"), "unknown field 'colour' in setting.network"),
        (lambda p: p["network"].pop("activation"), "setting.network lacks the field 'activation'"),
        (lambda p: p["network"].update(activation="step"), "no useful gradient"),
        (lambda p: p["network"].update(width=41, symmetric=True), "even width"),
        (lambda p: p["data"].update(d=1), "2 directions"),
        (lambda p: p["data"].update(d=1e200), "d must be a whole number"),
        (lambda p: p["network"].update(rows=["sphere"]), "rows must be one of"),
        (lambda p: p["target"].update(formula="x1 + y"), "unknown name 'y'"),
        (lambda p: p["protocol"]["readout"].update(penalty=-1.0), "penalty must be a finite number of at least 0"),
        (lambda p: p["protocol"]["readout"].update(penalty="loo"), "'gcv'"),
        (lambda p: p["protocol"]["steps"][0].update(eta=[]), "empty"),
        (lambda p: p["protocol"]["steps"][0].update(batch="reuse"), "no step before it"),
        (lambda p: p["protocol"]["steps"].append({"n": 5, "eta": 1.0, "update": "rank1"}), "first step only"),
        (lambda p: p["protocol"]["steps"].append({"n": 5, "eta": 1.0, "batch": "reuse"}), "reuses a batch of 90"),
        (
            lambda p: p["protocol"]["steps"].extend([{"n": 5, "eta": [1.0, 2.0]}, {"n": 5, "eta": [1.0, 2.0, 3.0]}]),
            "the same length",
        ),
    ],
)
def test_sentences(small, change, words):
    plain = small.to_plain()
    change(plain)
    with pytest.raises(gs.InputError, match=words) as caught:
        gs.Setting.from_plain(plain)
    assert "\n" not in str(caught.value) or "^" in str(caught.value)


def test_callables_have_no_id(small):
    for changed in (
        dataclasses.replace(small, target=gs.target(lambda z: z[0], rank=1)),
        dataclasses.replace(small, network=gs.Network(4, lambda x: x)),
    ):
        hash(changed)
        with pytest.raises(gs.InputError, match="has no id and cannot be saved"):
            _ = changed.id
        with pytest.raises(gs.InputError, match="has no id and cannot be saved"):
            changed.to_toml()


def test_own_weights_round_trip(small):
    network = gs.Network(2, "relu", weights=(np.ones((2, 30)), [1.0, -1.0]))
    setting = dataclasses.replace(small, network=network)
    assert gs.Setting.from_toml(setting.to_toml()) == setting
    with pytest.raises(gs.InputError, match="2 neurons but width is 3"):
        gs.Network(3, "relu", weights=(np.ones((2, 30)), [1.0, -1.0]))
    with pytest.raises(gs.InputError, match="30 inputs but the data d = 31"):
        dataclasses.replace(setting, data=gs.Gaussian(31))


def test_powers_and_arrays():
    step = gs.GiantStep(100, gs.power([0.0, 0.5], of="n", times=2.0))
    np.testing.assert_allclose(step.etas(100, 10, 5), [2, 20])
    assert gs.GiantStep(9, np.array([1.0, 2.0])).eta == (1.0, 2.0)
    assert gs.GiantStep(9, 1) == gs.GiantStep(9, 1.0)


def test_large_sizes_are_described_without_being_built(small):
    assert dataclasses.replace(small, data=gs.Gaussian(10**12)).d == 10**12


def test_minus_zero_is_zero():
    a, b = (gs.Protocol((gs.GiantStep(9, eta),)) for eta in (0.0, -0.0))
    assert a == b and repr(a) == repr(b)


@pytest.mark.parametrize(
    "text",
    [
        "Network(width=60, activation='relu')",
        "Network(width=60, activation='tanh(x) + x/2', scale='1/p', symmetric=True, centred=True)",
        "Protocol()",
        "Protocol(steps=(GiantStep(n=80, eta=2.0),), readout=Ridge(n=80, penalty=0.1))",
        "Protocol(steps=(GiantStep(n=80, eta=2.0), GiantStep(n=None, eta=(0.0, 1.0), batch='reuse')))",
        "Protocol(steps=(GiantStep(n=9, eta=Power(alpha=0.3), deflate=1),), readout=SGD(n=9, rate=0.5, average=False))",
        "Activation(formula='relu', centred=True)",
    ],
)
def test_a_repr_is_the_call_without_the_defaults(text):
    names = {
        kind.__name__: kind for kind in (gs.Network, gs.Protocol, gs.GiantStep, gs.Ridge, gs.SGD, Power, Activation)
    }
    made = eval(text, names)
    assert repr(made) == text and eval(repr(made), names) == made


def test_own_weights_leave_nothing_else_to_say():
    with pytest.raises(gs.InputError, match="leave them out"):
        gs.Network(2, "relu", symmetric=True, weights=(np.ones((2, 30)), [1.0, -1.0]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gs.GiantStep(100, -5), "eta must not be negative, not -5: a giant step goes down the gradient"),
        (lambda: gs.GiantStep(100, [1.0, -5.0]), "eta must not be negative"),
        (lambda: gs.power(0.5, times=-2.0), "times must not be negative, not -2.0"),
        (
            lambda: gs.GiantStep.from_plain({"n": 10, "eta": {"alpha": 1.0, "times": -1}}, "step"),
            "times must not be negative",
        ),
    ],
)
def test_a_step_goes_down(make, words):
    with pytest.raises(InputError, match=words):
        make()
    assert gs.GiantStep(100, 0).eta == 0
