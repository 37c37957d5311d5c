"""Trials that cannot be run are told at once, and not only in an attribute of the Dataset."""

import warnings

import numpy as np
import pytest
from experiments import base

import giantstep as gs
from giantstep import cli
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.work import _perform as perform

OPTIONS = {"routes": "simulate(n_test=50)", "progress": False}


@pytest.mark.parametrize("memory", [-1, 0, "5", float("nan"), 1e-4, True])
def test_memory_is_checked_before_anything_is_begun(tmp_path, memory):
    with pytest.raises(InputError, match=r"memory \(in GiB\) must be a finite number of at least 0.001, not "):
        gs.sweep(base(), memory=memory, store=tmp_path / "s.db", **OPTIONS)
    assert not (tmp_path / "s.db").exists()


def test_memory_is_for_all_workers_together():
    with pytest.raises(InputError, match="at least 0.004, not 0.003"):
        gs.sweep(base(), memory=0.003, workers=4, **OPTIONS)


def test_a_sweep_without_any_trial_is_refused():
    with pytest.raises(InputError, match="none of the 4 trials could be run: this needs at least .* GiB of memory"):
        gs.sweep(base(), {"noise": [0.0, 0.5]}, seeds=range(2), memory=0.001, **OPTIONS)


@pytest.fixture
def partly(monkeypatch):
    """Trials of a large penalty are refused, each for a reason of its own."""
    real = perform.perform

    def performed(block, memory=None):
        if max(trial.setting.protocol.readout.penalty for trial in block.trials) > 1:
            raise InputError(f"not with the noise {block.setting.target.noise:g}")
        return real(block, memory)

    monkeypatch.setattr(perform, "perform", performed)


def test_refused_trials_are_told_once_with_their_count(partly):
    axes = {"noise": [0.0, 0.5, 1.0], "penalty": [0.1, 2.0]}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(InputError, match="none of the 12 trials"):  # the penalties of a block are refused together
            gs.sweep(base(), axes, seeds=range(2), **OPTIONS)
        found = gs.sweep(
            base(), {}, zipped=[{"noise": [0.0, 0.5, 1.0], "penalty": [0.1, 2.0, 3.0]}], seeds=range(2), **OPTIONS
        )
    (one,) = told
    assert str(one.message) == "4 of the 6 trials could not be run: not with the noise 0.5" and one.filename == __file__
    assert "noise 1" in found.attrs["refused"] and np.isfinite(found.test_error.values).sum() == 2


def test_the_command_line_keeps_its_exit_codes(tmp_path, partly, capsys):
    base().save(tmp_path / "setting.json")
    (tmp_path / "sweep.json").write_text(
        '{"setting": "setting.json", "routes": "simulate(n_test=50)"}', encoding="utf-8"
    )
    for memory in ("-1", "0.0001"):
        assert cli.run(["sweep", str(tmp_path / "sweep.json"), "--memory", memory]) == 2
        assert not (tmp_path / "sweep.sqlite").exists() and "memory" in capsys.readouterr().err
    assert cli.run(["sweep", str(tmp_path / "sweep.json")]) == 0
    with Store.open(tmp_path / "sweep.sqlite", "read") as store:
        assert len(store) == 1
    text = '{"setting": "setting.json", "axes": {"penalty": [5.0]}, "routes": "simulate(n_test=50)"}'
    (tmp_path / "sweep.json").write_text(text, encoding="utf-8")
    assert cli.run(["sweep", str(tmp_path / "sweep.json")]) == 1


def test_a_model_is_no_route_and_the_sentence_names_the_route():
    from giantstep.equivalent import MODELS
    from giantstep.lab.store import trial

    assert set(trial.MODELS) == set(MODELS)
    for model in MODELS:
        with pytest.raises(gs.InputError, match=rf"write the route as 'equivalent\(model={model}\)'"):
            trial.Route(model)
        trial.Route.parse(f"equivalent(model={model})")


def test_the_table_says_that_errors_of_few_seeds_are_short():
    from giantstep.lab.sweep._averages import text

    row = {"n": 40, "route": "simulate", "lost": 0, "test_error": 1.0, "test_error_se": 0.1}
    few, many, none = (text([{**row, "seeds": count}], held=["d = 20"]) for count in (4, 10, 1))
    assert few.startswith("d = 20\n") and "widen an interval by 1.6 (Student's t" in few and "share their seeds" in few
    assert "Student" not in many and "Student" not in none
