"""compare takes every setting that simulate and theory take, and its rows are what these two say when called alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import giantstep as gs
from giantstep.experiment import _finer as finer
from giantstep.lab import compare as lab
from giantstep.lab.compare.comparison import COMPARED, Gap

D, N, WIDTH = 12, 30, 8
BLOBS = gs.Mixture(D, (gs.Component(0.5, (gs.Spike(4.0, "x1"),)), gs.Component(0.5)))
LISTS = ([0.5], [4.0, 0.0], [0.0, 2.0, 8.0], gs.power([0.0, 0.3, 0.4]))
ONE = (0.0, 3.0, gs.power(0.3))
READOUTS = (
    gs.Ridge(40, 0.1),
    gs.Ridge(40, [1.0, 0.01]),
    gs.Ridge(40, [0.0, 0.1, 1.0]),
    gs.Ridge(40, "gcv"),
    gs.Ridge(None, [0.1, 1.0], batch="reuse"),
    gs.SGD(40, 0.2),
    gs.SGD(40, [0.3, 0.1]),
    gs.SGD(40, [0.1, 0.3], passes=2),
)


@pytest.fixture(autouse=True, scope="module")
def coarse():
    """Curves of five points: the same code as with sixty, in a tenth of the time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(finer, "POINTS", 5)
        yield


def setting_of(steps, readout, data=None, **network) -> gs.Setting:
    target = gs.target("x1 + H2(x1)/2", noise=0.1)
    net = gs.Network(WIDTH, "relu", **network)
    return gs.Setting(data or gs.Gaussian(D), target, net, gs.Protocol(steps, readout))


def step(eta, reuse=False, **options) -> gs.GiantStep:
    return gs.GiantStep(None if reuse else N, eta, batch="reuse" if reuse else "fresh", **options)


@st.composite
def any_setting(draw) -> gs.Setting:
    """Steps with single step sizes or lists of one length, on fresh or reused batches, and a readout."""
    count = draw(st.integers(0, 3))
    length = len(lengths(draw(st.sampled_from(LISTS))))
    some = [each for each in LISTS if len(lengths(each)) == length]
    etas = [draw(st.sampled_from([*ONE, *some])) for _ in range(count)]
    steps = tuple(step(eta, t > 0 and draw(st.booleans())) for t, eta in enumerate(etas))
    readout = draw(st.sampled_from([r for r in READOUTS if count or r.batch == "fresh"]))
    data = draw(st.sampled_from([None, None, BLOBS]))
    return setting_of(steps, readout, data, symmetric=draw(st.booleans()))


def lengths(eta) -> list[float]:
    return eta if isinstance(eta, list) else eta.alpha


def refusal(verb, *arguments, **options) -> tuple[str | None, Any]:
    """The sentence of a refusal, and the answer if there is none."""
    try:
        return None, verb(*arguments, **options)
    except gs.InputError as problem:
        return str(problem), None


CASES = {
    "two lists": (setting_of((step([0.0, 2.0, 4.0]), step(1.0)), gs.Ridge(40, [0.1, 1.0])), range(2)),
    "a list on a reused batch": (setting_of((step(1.0), step([4.0, 2.0], True)), gs.Ridge(40, [0.1, 1.0])), range(2)),
    "lists in both steps": (setting_of((step([1.0, 2.0]), step([3.0, 0.0])), gs.Ridge(40, "gcv")), range(2)),
    "a list and gcv": (setting_of((step([4.0, 0.0, 1.0]),), gs.Ridge(40, "gcv")), 3),
    "two steps and SGD": (setting_of((step([0.0, 2.0]), step(1.0)), gs.SGD(40, [0.1, 0.3])), range(2)),
    "no step": (setting_of((), gs.Ridge(40, [1.0, 0.1])), range(2)),
    "a mixture": (setting_of((step([0.0, 2.0]),), gs.Ridge(40, [0.1, 1.0]), BLOBS), 3),
    # as many step sizes as points of the old curve in the penalties gave rows of other step sizes, without an error
    "many step sizes": (setting_of((step([float(k) for k in range(8)]), step(1.0)), gs.Ridge(40, [1.0, 0.1])), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rows_are_those_of_simulate_and_theory_alone(case):
    compared(*CASES[case])


@settings(max_examples=8, deadline=None)
@drawn(setting=any_setting(), seed=st.sampled_from([3, range(2)]))
def test_any_setting_is_compared_or_refused_as_theory_refuses_it(setting, seed):
    compared(setting, seed)


def compared(setting: gs.Setting, seed) -> None:
    """Compare, and look for every number in the outcomes of the two verbs called alone; the picture draws."""
    refused, predicted = refusal(gs.theory, setting)
    said, found = refusal(gs.compare, setting, seed, n_test=50)
    assert said == refused
    if found is None:
        return
    measured = gs.simulate(setting, seed, n_test=50).mean()
    assert found.theory.axes == predicted.axes == measured.axes
    assert found.theory.status == predicted.status and found.theory.setting == setting
    for name in ("eta", "penalty", "rate"):
        listed = [np.array(getattr(o, name), dtype=float) for o in (found.theory, predicted)]  # None is NaN
        np.testing.assert_allclose(listed[0], listed[1], rtol=1e-9)
        along(measured, name, [getattr(row, name) for row in found.rows])
    along(predicted, "penalty", [row.penalty_predicted for row in found.rows])
    for name in COMPARED:
        gaps: list[Gap] = [gap for row in found.rows if (gap := getattr(row, name)) is not None]
        both = getattr(measured, name) is not None and getattr(predicted, name) is not None
        assert len(gaps) == both * len(found.rows)
        if both:
            np.testing.assert_allclose([gap.measured for gap in gaps], np.ravel(getattr(measured, name)), rtol=1e-9)
            np.testing.assert_allclose([gap.predicted for gap in gaps], np.ravel(getattr(predicted, name)), rtol=1e-9)
        ends = getattr(predicted, f"{name}_band", None)
        if both and ends is not None:
            np.testing.assert_allclose(np.array([gap.band for gap in gaps]), np.reshape(ends, (-1, 2)), rtol=1e-9)
    drawn_on = gs.plot(found).axes[0]
    labels = {"eta": "step size", "penalty": "penalty", "rate": "rate"}
    assert drawn_on.get_xlabel().startswith(labels[measured.axes[0]] if measured.axes else "")
    assert str(found) and found.to_dict() and found._repr_html_()


def along(outcome, name, values) -> None:
    """Step sizes, penalties or rates of the rows, in the order of the outcome's axes."""
    own, axes = getattr(outcome, name), outcome.axes
    if own is None:
        return np.testing.assert_equal(values, [None] * len(values))
    sizes = {axis: len(getattr(outcome, axis)) for axis in axes}
    where = name if name in axes else "eta"  # a penalty chosen by GCV belongs to a step size
    shape = [sizes[axis] if axis == where and np.ndim(own) else 1 for axis in axes]
    every = np.broadcast_to(np.reshape(own, shape), list(sizes.values()))
    np.testing.assert_allclose(np.array(values, dtype=float), np.ravel(every), rtol=1e-9)


TWO = (step([0.0, 2.0]), step(1.0))
BEFORE = {
    "theory": (setting_of(TWO, gs.Ridge(None, 0.1, batch="reuse")), {}, "own batch"),
    "memory": (setting_of(TWO, gs.Ridge(40, 0.1)), {"memory": 1e-3, "n_test": 10**10}, "n_test must be"),
    "spectrum of a mixture": (setting_of(TWO[:1], gs.Ridge(40, 0.1), BLOBS), {"spectrum": True}, "Gaussian"),
    "spectrum of SGD": (setting_of(TWO, gs.SGD(40, 0.1)), {"spectrum": True}, "SGD readout"),
    "spiked model": (setting_of(TWO, gs.Ridge(40, 0.1)), {"equivalent": "spiked"}, "expands one step"),
    "Gaussian model": (setting_of(TWO[:1], gs.Ridge(40, 0.1), BLOBS), {"equivalent": "gaussian"}, "Gaussian data only"),
}


@pytest.mark.parametrize("case", BEFORE)
def test_what_a_route_refuses_is_refused_before_any_runs(case, monkeypatch):
    setting, options, word = BEFORE[case]

    def never(*_, **__):
        raise AssertionError("something ran first")

    for verb in ("theory", "simulate", "_equivalent"):
        monkeypatch.setattr(lab, verb, never)
    with pytest.raises(gs.InputError, match=word):
        gs.compare(setting, range(2), **options)


def test_there_is_no_published_limit_for_a_penalty_chosen_after_a_step():
    setting = setting_of((step([0.0, 2.0]),), gs.Ridge(40, "gcv"))
    with pytest.raises(gs.InputError, match="penalty"):
        gs.theory(setting, "limit")
    without = replace(setting, protocol=replace(setting.protocol, steps=()))
    assert np.isfinite(gs.theory(without, "limit").test_error)


def test_spectra_after_several_steps_are_compared_step_size_by_step_size():
    setting = setting_of((step(1.0), step([0.0, 2.0])), gs.Ridge(40, [0.1, 1.0]))
    found = gs.compare(setting, range(2), n_test=50, spectrum=True)
    alone = gs.theory(setting, spectrum=True)
    np.testing.assert_allclose(found.theory.bulk_edge, alone.bulk_edge)
    assert str(found) and len(gs.plot(found, "spectrum").axes) == 2
    one = gs.plot([found.simulation, found.theory], "spectrum")  # predicts the spectra itself
    for ax, other in zip(one.axes, gs.plot(found, "spectrum").axes, strict=True):
        for line, same in zip(ax.get_lines(), other.get_lines(), strict=True):
            np.testing.assert_allclose(np.array(line.get_ydata()), np.array(same.get_ydata()), rtol=1e-6)


def test_the_fine_curve_is_computed_where_it_is_drawn(monkeypatch):
    from giantstep.lab.compare import comparison

    asked = []
    monkeypatch.setattr(comparison, "predicted", lambda *given: asked.append(given) or gs.theory(*given))
    s = gs.presets.moniri(n=60, d=30, N=40, alpha=[0.0, 0.3], penalty=0.1)
    found = gs.compare(s, seed=range(2), n_test=50)
    assert "status of the theory" in str(found) and not asked
    curve = found.prediction.curve
    assert curve is not None and np.size(np.asarray(curve.eta)) > len(found.rows) and asked


def test_help_shows_the_text_of_the_verb():
    import pydoc

    said = pydoc.plain(pydoc.render_doc(gs.compare))
    assert "compare(setting" in said and "seeds of the simulation" in said
