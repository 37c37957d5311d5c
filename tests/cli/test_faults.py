"""Input at the ends of what numbers can say, and faults that are not the user's: a sentence and an exit code of its own."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import giantstep as gs
from giantstep import cli
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store._condition import parse
from giantstep.lab.store._repair import repair
from giantstep.lab.store.trial import Route, Trial
from giantstep.lab.sweep import _arithmetic as arithmetic
from giantstep.lab.sweep.sweep import make


def setting(target="x1", noise=0.1, d=20, activation="relu"):
    return gs.Setting(
        gs.Gaussian(d),
        gs.target(target, noise=noise),
        gs.Network(30, activation),
        gs.Protocol((gs.GiantStep(40, 1.0),), gs.Ridge(40, 0.1)),
    )


def test_a_sweep_is_bounded_by_its_trials():
    with pytest.raises(InputError, match="trials; a sweep may have at most 1000000"):
        make(setting(), {"noise": {"linspace": [0, 1, 1001]}}, seeds=range(1000))
    with pytest.raises(InputError, match="at most 1000000 entries"):
        make(setting(), {}, seeds=range(10**9))


def test_a_whole_value_of_an_axis_keeps_its_digits():
    sweep = make(setting(), {"d": [2**53 + 1]})
    assert sweep.axes[0].values == ((2**53 + 1,),)


def test_an_unknown_name_is_told_before_the_expression_fails():
    with pytest.raises(InputError, match="uses 'zz'"):
        arithmetic.value("1/0 + zz", {"d": 3.0})


@pytest.mark.parametrize("formula", ["1e200*x1", "1e-200*x1", "(1e40*x1)^9", "1e40*(1e40*(1e40*x1))", "(1e-40*x1)^9"])
def test_numbers_out_of_range_are_refused(formula):
    with pytest.raises(InputError, match="too large or too small"):
        gs.explain(formula)


def test_noise_and_activations_out_of_range_are_refused():
    with pytest.raises(InputError, match="noise must be at most"):
        setting(noise=1e200)
    with pytest.raises(InputError, match="too large or too small"):
        setting(activation="1e200*x")


def test_the_largest_noise_gives_finite_numbers():
    large = gs.simulate(setting(noise=1e50), n_test=50)
    assert np.isfinite(large.test_error) and np.isfinite(large.test_error_se)  # type: ignore[arg-type]
    predicted = gs.theory(setting(noise=1e50))
    assert np.isfinite(predicted.test_error) or not predicted.status.ok  # type: ignore[arg-type]
    assert str(predicted) and repr(predicted)


def test_one_dimension_has_no_null_level():
    alone = gs.theory(setting(d=1))
    assert alone.null_level is None and str(alone) and alone.to_dict()


def test_powers_of_many_variables_are_bounded_before_they_are_multiplied_out():
    with pytest.raises(InputError, match="more than 10000 monomials"):
        gs.explain("(x1+x2+x3+x4+x5+x6+x7+x8)^10")


def test_conditions_of_any_digits_and_letters():
    assert parse("seed=+" + "0" * 29 + "9" * 24).value == pytest.approx(1e24)
    assert parse("seed=" + "0" * 40 + "7").value == 7
    with pytest.raises(InputError, match="UTF-8"):
        parse("formula=\udcff\udcfe")


@pytest.fixture
def store(tmp_path):
    """A store of twelve rows with arrays."""
    trials = [Trial(setting(), seed, Route("simulate", {"n_test": 10})) for seed in range(12)]
    with Store.open(tmp_path / "s.sqlite") as opened:
        opened.put([(trial, gs.simulate(trial.setting, trial.seed or 0, n_test=10)) for trial in trials])
    return tmp_path / "s.sqlite", trials


def spoil(path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("sql", "saved"),
    [
        (
            "UPDATE arrays SET data = CAST(substr(data, 1, length(data) - 9) || x'000102030405060708' AS BLOB) WHERE trial = 3",
            11,
        ),
        ("UPDATE settings SET plain = substr(plain, 3)", 0),
        ("DROP TABLE leaves", 12),
    ],
)
def test_a_damaged_store_is_told_and_what_can_be_read_is_saved(store, tmp_path, capsys, sql, saved):
    path, trials = store
    spoil(path, sql)
    with pytest.raises(InputError, match="damaged"), Store.open(path, "read") as opened:
        for trial in trials:
            opened.get(trial)
        list(opened.select(["noise=0.1"]))
    assert cli.run(["results", "repair", str(path), str(tmp_path / "new.sqlite"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["saved"] == saved
    with Store.open(tmp_path / "new.sqlite", "read") as opened:
        assert len(opened) == saved
        whole = [opened.get(trial) for trial in trials]
        assert all(np.isfinite(found.test_error) for found in whole if found is not None)


def test_a_repair_never_writes_over_a_file(store, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        repair(store[0], store[0])
    with pytest.raises(InputError, match="There is no store"):
        repair(tmp_path / "nothing", tmp_path / "new")


def test_an_error_of_our_own_has_its_own_exit_code(monkeypatch, capsys):
    monkeypatch.setattr("giantstep.explain.explain", lambda *a: 1 / 0)
    assert cli.run(["explain", "x1"]) == cli.CRASHED == 70
    assert "Please report it" in capsys.readouterr().err


def test_a_platform_that_jax_does_not_have_is_one_sentence(tmp_path):
    (tmp_path / "s.toml").write_text(setting().to_toml())
    program = [sys.executable, "-P", "-m", "giantstep", "simulate", str(tmp_path / "s.toml")]
    done = subprocess.run(
        program, env={**os.environ, "JAX_PLATFORMS": "xyz"}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2 and done.stderr.startswith("JAX cannot start") and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_the_program_is_imported(tmp_path):
    """The handler is there before anything else is imported: a module that stands for a slow one waits for the signal."""
    (tmp_path / "typer.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(600)\n")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    code = "from giantstep.__main__ import main; main()"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None and run.stderr is not None and run.stdout.readline() == b"importing\n"
        time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        assert run.wait(600) == 130 and run.stderr.read() == b"Interrupted.\n"
