"""explain of a setting: what it says is taken, read as powers of d, and not contradicted."""

import pytest

import giantstep as gs

READ = gs.Setting(
    gs.Gaussian(100),
    gs.target("x1 + H2(x1)*x2", noise=0.5),
    gs.Network(150, "relu"),
    gs.Protocol((gs.GiantStep(200, 10.0), gs.GiantStep(50, 5.0)), gs.Ridge(200, 0.1)),
)


def reusing(*batches, readout=400):
    steps = [gs.GiantStep(400, 1.0), *(gs.GiantStep(None if b == "reuse" else 400, 1.0, batch=b) for b in batches)]
    return READ.with_(protocol=gs.Protocol(steps, gs.Ridge(readout, 0.1)))


def test_a_setting_is_explained_with_all_that_it_says():
    found, wanted = gs.explain(READ), gs.explain(READ.target, "d", "d", 2, activation="relu")
    note = "At d = 100, n = 200 and 50 is read as d and p = 150 as d, the nearest half powers of d."
    assert found.warnings == [note, *wanted.warnings]
    assert {**found.to_dict(), "warnings": []} == {**wanted.to_dict(), "warnings": []}
    large = READ.with_(n=9000, width=2)
    assert (gs.explain(large).batch, gs.explain(large).width) == ("d^2", "1")
    none = gs.explain(READ.with_(protocol=gs.Protocol((), gs.Ridge(9000, 0.1))))
    assert none.batch == "d^2" and len(none.staircase) == 1


def test_a_setting_that_reuses_its_batch():
    found = gs.explain(reusing("reuse", readout=9000))
    assert found.reuse and found.activation is None and found.batch == "d^1.5"
    assert any("relu is left out" in note for note in found.warnings)
    assert any("The readout has n = 9000, which is d^2" in note for note in found.warnings)


def test_arguments_that_agree_with_the_setting_are_taken():
    agreed = gs.explain(READ, batch="d^1.0", width="d", steps=2, reuse=False, activation="relu")
    assert agreed.to_dict() == gs.explain(READ).to_dict()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: gs.explain(READ, batch="d^2"), r"the setting says batch = 'd', not 'd\^2': leave batch out"),
        (lambda: gs.explain(READ, width="1"), "the setting says width = 'd', not '1'"),
        (lambda: gs.explain(READ, steps=1), "the setting says steps = 2, not 1"),
        (lambda: gs.explain(READ, reuse=True), "the setting says reuse = False, not True"),
        (lambda: gs.explain(READ, activation="tanh"), "the setting says activation = 'relu', not 'tanh'"),
        (lambda: gs.explain(READ, batch="n"), "batch must be a power of the dimension"),
        (lambda: gs.explain(READ.with_(data=gs.Mixture(100, [gs.Component()]))), "for isotropic Gaussian data"),
        (lambda: gs.explain(reusing("reuse", "fresh")), "some steps reuse a batch and others take a fresh one"),
        (lambda: gs.explain(READ.with_(protocol=gs.Protocol())), "neither steps nor a readout"),
        (
            lambda: gs.explain(READ.with_(protocol=gs.Protocol((gs.GiantStep(100, 1.0), gs.GiantStep(9000, 1.0))))),
            r"the steps have batches of d and d\^2",
        ),
    ],
)
def test_a_setting_is_not_contradicted(ask, words):
    with pytest.raises(gs.InputError, match=words):
        ask()
