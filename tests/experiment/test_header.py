"""Headers: what fixes the error is named, and two protocols that differ in it have different headers."""

from itertools import product

import matplotlib
import pytest

import giantstep as gs
from giantstep.experiment._header import folded, header, one_n, samples, shared
from giantstep.results.outcome import Outcome, title

matplotlib.use("Agg")
SIZES, BATCHES = (40, 60), ("fresh", "reuse")
PENALTIES = (0.1, 0.01, (0.1, 1.0), "gcv")


def setting(steps, readout):
    protocol = gs.Protocol([gs.GiantStep(n, 2.0, batch=batch) for n, batch in steps], readout)
    return gs.Setting(gs.Gaussian(20), gs.target("x1"), gs.Network(30, "relu"), protocol)


def ways(count):
    """Every choice of batches for so many steps: n and "fresh", or the batch before."""
    if not count:
        yield ()
        return
    for before in ways(count - 1):
        yield from ((*before, (n, "fresh")) for n in SIZES)
        if before:
            yield (*before, (None, "reuse"))


def protocols():
    for count in range(5):
        for steps in ways(count):
            yield from (setting(steps, gs.Ridge(n, 0.1)) for n in SIZES)
            yield setting(steps, None)
            if steps:
                yield setting(steps, gs.Ridge(None, 0.1, batch="reuse"))


def line(s):
    return ", ".join(words for words in header(s).values() if words)


def read(s):
    """What a header must tell: which samples each step and the readout have."""
    owners, owner = [], -1
    for t, step in enumerate(s.protocol.steps):
        owner = owner if step.batch == "reuse" else t
        owners.append(owner)
    readout = s.protocol.readout
    fit = readout and (owner if readout.batch == "reuse" else "own", s.protocol.readout_size)
    return tuple(zip(owners, s.protocol.sizes(), strict=True)), fit


def test_a_header_tells_all_choices_of_batches_apart():
    told: dict[str, tuple] = {}
    for s in protocols():
        words = line(s)
        assert told.setdefault(words, read(s)) == read(s), words
        assert (f"n = {s.protocol.sizes()[0]}" in words) if s.protocol.steps and one_n(s.protocol) else True
    assert len(told) > 300


def test_the_words():
    said = {
        "n = 40, eta = 2, penalty = 0.1": setting([(40, "fresh")], gs.Ridge(40, 0.1)),
        "2 steps on one batch of 40, readout n = 60, eta = 2": setting(
            [(40, "fresh"), (None, "reuse")], gs.Ridge(60, (0.1, 1.0))
        ),
        "n = 40, readout on the same batch, eta = 2, penalty by GCV": setting(
            [(40, "fresh")], gs.Ridge(None, "gcv", batch="reuse")
        ),
        "3 steps, n = 40, 60, 60, step 3 reuses the batch of step 2, readout n = 60, eta = 2, rate = 0.5": setting(
            [(40, "fresh"), (60, "fresh"), (None, "reuse")], gs.SGD(60, 0.5)
        ),
        "3 steps, n = 40, eta = 2, penalty = 0": setting([(40, "fresh")] * 3, gs.Ridge(40, 0.0)),
        "3 steps, n = 40 each, readout n = 60, eta = 2, penalty = 0.1": setting([(40, "fresh")] * 3, gs.Ridge(60, 0.1)),
        "no step, n = 40, penalty = 0.1": setting([], gs.Ridge(40, 0.1)),
    }
    for words, s in said.items():
        assert line(s) == f"d = 20, p = 30, {words}"


@pytest.mark.parametrize(("batch", "penalty"), list(product(BATCHES, PENALTIES)))
def test_a_printed_outcome_names_the_penalty_of_its_readout(batch, penalty):
    s = setting([(40, "fresh")], gs.Ridge(60 if batch == "fresh" else None, penalty, batch=batch))
    words = title(Outcome(s, "simulate"), "simulate")
    assert ("penalty = " in words) == isinstance(penalty, float) and ("GCV" in words) == (penalty == "gcv")
    assert ("readout n = 60" in words) == (batch == "fresh") != ("readout on the same batch" in words)


def test_what_settings_share():
    small, large, one = (setting([(n, "fresh")], gs.Ridge(m, 0.1)) for n, m in ((40, 60), (60, 60), (40, 40)))
    assert list(shared([small, large]).values()) == ["d = 20", "p = 30", "readout n = 60", "eta = 2", "penalty = 0.1"]
    assert shared([one, large]).keys() == {"d", "p", "eta", "path"}  # n = 60 alone would be said of the readout, too
    assert samples(one) == "n = 40" and samples(small) == "n = 40, readout n = 60"
    assert folded(["one", "two", "three"], 9) == ["one, two,", "three"]


def test_pictures_name_the_batches_in_the_title_and_the_legend():
    reusing, fresh = ([(40, "fresh"), second] for second in ((None, "reuse"), (40, "fresh")))
    outcomes = []
    for steps in (reusing, fresh):
        s = setting(steps, gs.Ridge(60, 0.01))
        outcomes.append(gs.simulate(s.with_(eta=[0.0, 2.0]), n_test=50))
    ax = gs.plot(outcomes).axes[0]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.texts] == ["2 steps on one batch of 40", "2 steps, n = 40 each"]
    assert "readout n = 60, λ = 0.01" in ax.get_title(loc="left").replace("\n", " ")
    alone = gs.plot(outcomes[0]).axes[0].get_title(loc="left").replace("\n", " ")
    assert "2 steps on one batch of 40" in alone and "readout n = 60" in alone


def test_a_sweep_names_what_its_points_share():
    s = setting([(40, "fresh")], gs.Ridge(60, 0.1))
    found = gs.sweep(s, {"steps.0.n": [40, 60]}, routes=["simulate(n_test=50)"])
    assert found.attrs["held"] == "x1, relu, d = 20, p = 30, readout n = 60, eta = 2, penalty = 0.1"
    title_of = gs.plot(found).axes[0].get_title(loc="left")
    assert "readout n = 60" in title_of.replace("\n", " ")
