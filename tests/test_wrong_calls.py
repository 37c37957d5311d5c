"""Wrong calls of everything public: each is refused in one sentence.

``python -m benchmarks.wrong_calls`` makes thousands of them.
"""

# pyright: reportArgumentType=false, reportCallIssue=false

import inspect
import types

import numpy as np
import pytest

import giantstep as gs
from benchmarks.wrong_calls.judge import judged
from giantstep.errors import LONGEST

CALLS = 300  # seconds on one core; the seed is that of the calls
JUDGED = {  # arguments that the verb or the noun it makes judges itself
    *("source", "kinks", "network", "x", "X", "y", "loss", "lipschitz", "support", "target", "batch"),
    *("width", "activation", "outcome", "F", "penalty", "devices", "memory", "random", "directions"),
    *("curves", "grid", "domain", "batches", "data", "alpha", "alpha1", "alpha2", "eta", "classes"),
    *("centre", "signal", "counts", "path"),
}


def test_wrong_calls_are_refused_in_a_sentence():
    answers = list(judged(CALLS, seed=1))
    assert len(answers) == CALLS
    assert not [f"{each.call}: {each.said}" for each in answers if each.failed]
    assert sum(each.kind == "refused" for each in answers) > 0.8 * CALLS


def verbs():
    for name in dir(gs):
        each = getattr(gs, name)
        if isinstance(each, types.ModuleType) and hasattr(each, "__wrapped__"):
            yield name, each.__wrapped__
            for inner in getattr(each, "__all__", ()):
                verb = getattr(each, inner)
                if inspect.isfunction(verb) and verb.__name__ not in ("predict", name):
                    yield f"{name}.{inner}", verb
        elif inspect.isfunction(each):
            yield name, each
    for home in (gs.measure, gs.presets, gs.mean_field):
        for name, each in vars(home).items():
            if inspect.isfunction(each) and name[0] != "_" and each.__module__.startswith(home.__name__):
                yield f"{home.__name__}.{name}", each


@pytest.mark.parametrize(("name", "verb"), list(verbs()))
def test_every_argument_is_declared(name, verb):
    declared, each = None, verb
    while declared is None:
        declared, each = getattr(each, "__declared__", None), getattr(each, "__wrapped__", None)
        assert declared is not None or each is not None, f"{name} declares nothing"
    open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    own = {key for key, each in inspect.signature(verb).parameters.items() if each.kind not in open_ended}
    assert own <= set(declared) | JUDGED
    assert verb.__doc__


def setting():
    return gs.presets.moniri(n=24, d=12, N=10, alpha=0.3, penalty=0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.simulate(setting(), spectrum="False"),
        lambda: gs.theory(setting(), spectrum="False"),
        lambda: gs.compare(setting(), spectrum="False"),
        lambda: gs.theory.spectrum(setting(), density="no"),
        lambda: gs.theory.kernel(setting(), rho="no"),
        lambda: gs.ridge(np.eye(3), np.ones(3), 0.1, loo="no"),
    ],
)
def test_a_text_is_no_switch(call):
    with pytest.raises(gs.InputError, match="must be true or false, not '(False|no)'"):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.Component(spikes=b"x"), "spikes must be a list"),
        (lambda: gs.optimal(setting(), seed=np.nan), "seed must be a whole number"),
        (lambda: gs.optimal(setting(), over=2.0), "over must be a text"),
        (lambda: gs.measure.powers(np.ones(3), 2**63), "count must be a whole number from 1 to"),
        (lambda: gs.measure.gram_schmidt_powers(np.ones(3), 2**63), "count must be a whole number"),
        (lambda: gs.measure.gram_schmidt_powers(np.ones(3), 4), "at most 3 orthonormal powers"),
        (lambda: gs.measure.margin(np.nan), "margin: count must be a whole number of at least 1"),
        (lambda: gs.measure.layer_margin(-3), "count must be a whole number of at least 1, not -3"),
        (lambda: gs.measure.cosine("x", [1.0]), "cosine: u must be a vector of real numbers"),
        (lambda: gs.measure.overlaps(np.eye(3), np.eye(2)), "directions has d = 2 and W has d = 3"),
        (lambda: gs.measure.operator_norm([[np.inf]]), "A must be finite"),
        (lambda: gs.Network(8, np.ones(2)), "an activation is a name, a formula or a callable"),
        (lambda: gs.presets.mei_montanari(20, 10, object(), 0.1), "N must be a whole number"),
        (lambda: gs.Layers(np.eye(2), np.ones(2), b=[10**400, 1]), "b must be 2 finite numbers"),
        (lambda: gs.target("x1", noise=np.timedelta64(3, "D")), "noise must be a finite number"),
        (lambda: gs.theory_errors(3, setting()), "numbers must be Parameters"),
        (lambda: gs.sweep(setting(), {"d": [10]}, measures=3), "measures must be a text"),
        (lambda: gs.sweep(setting(), {"d": [10]}, routes=3), "routes must be a Route or a text"),
        (lambda: gs.sweep(setting(), {"d": [10]}, zipped=3), "zipped must be a list"),
        (lambda: gs.sweep(setting(), {"d": [10]}, store=3), "store must be the path of a file"),
        (lambda: gs.sweep(setting(), {"d": [10]}, scheduler=3), "scheduler must be a text"),
        (lambda: gs.sweep(setting(), [3]), "axes must be a table"),
        (lambda: gs.plot(np.ones(3)), "plot takes an Outcome"),
        (lambda: gs.plot(gs.theory(setting()), labels=2.0), "labels must be a list"),
        (lambda: gs.simulate(setting(), np.ma.masked), "seed must be a whole number"),
        (lambda: gs.Protocol(np.ma.array(3, mask=True)), "steps must be a tuple of GiantStep"),
        (lambda: gs.Outcome(setting(), -np.inf), "route must be a text, not -inf"),
        (lambda: gs.Outcome(setting(), "theory", test_error="x"), "test_error must be a number"),
        (lambda: gs.Finding(True, "theory"), "system must be a System, not bool"),
        (lambda: gs.simulate(), "simulate needs 'setting': write simulate"),
        (lambda: gs.power(*range(9)), "power takes at most 3 arguments without a name, not 9"),
        (lambda: gs.power(1.0, alpha=2.0), "power is given the argument 'alpha' twice"),
        (lambda: gs.measure.margin(cuont=3), "did you mean 'count'"),
    ],
)
def test_a_wrong_value_is_named(call, words):
    with pytest.raises(gs.InputError, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.target("1" * 5000 + "z"),
        lambda: gs.plot(gs.theory(setting()), what="x" * 100_000),
        lambda: gs.presets.moniri(20, 10, 8, 0.1, "x" * 100_000),
        lambda: gs.presets.moniri(20, 10, 8, 0.1, "x y" * 100_000),
        lambda: gs.Setting.from_toml("x" * 1000 + " = 3"),
        lambda: gs.Setting.from_toml("'" + "x y" * 1000 + "' = 3"),
        lambda: gs.check("x" * 5000),
        lambda: gs.Setting.read("x" * 5000),
    ],
)
def test_little_of_what_was_given_is_quoted(call):
    with pytest.raises(gs.InputError) as caught:
        call()
    assert len(str(caught.value)) < 3 * LONGEST


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __array__(self, *args: object) -> np.ndarray:
        raise RuntimeError("no array")


def test_what_cannot_show_itself_is_refused_in_a_sentence_too():
    with pytest.raises(gs.InputError, match="width must be a whole number of at least 1, not an object of type Silent"):
        gs.Network(Silent(), "relu")
    with pytest.raises(gs.InputError, match="samples must be an array of real numbers"):
        gs.measure.mean_and_error(Silent())


def test_what_is_right_is_taken():
    assert gs.measure.cosine([1, 0], [1, 0]) == 1.0
    assert gs.measure.margin(np.int64(30)) == gs.measure.margin(30)
    assert gs.simulate(setting(), seed=(s for s in (1, 2)), n_test=50).seeds == (1, 2)
    assert str(inspect.signature(gs.measure.margin)) == "(count: int) -> float"
    values = gs.measure.overlaps(np.full((2, 2), np.nan), np.eye(2))  # NaN goes through
    assert np.all(np.isnan(values))
