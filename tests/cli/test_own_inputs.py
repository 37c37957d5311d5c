"""giantstep fit and stretch: a mean-field network on a user's own curves or kernel, and a step as a change of the inputs."""

import json

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli import run
from giantstep.systems.mean_field.bases import basis

GRID = np.linspace(0, 1, 12)
FEW = ["--particles", "40", "--penalty", "0.2"]
HOW = {"particles": 40, "penalty": 0.2}


@pytest.fixture
def files(tmp_path):
    """Curves with labels, a Gram matrix, and new inputs of both kinds."""
    x = np.random.default_rng(0).standard_normal((15, 3))
    y, curves = np.tanh(x[:, 0]), x @ basis(GRID, 3).T
    np.savez(tmp_path / "curves.npz", curves=curves[:12], y=y[:12], grid=GRID)
    np.savez(tmp_path / "new.npz", curves=curves[12:])
    np.savez(tmp_path / "kernel.npz", K=x[:12] @ x[:12].T, y=y[:12])
    np.savez(tmp_path / "new_kernel.npz", K=x[12:] @ x[:12].T, diagonal=np.sum(x[12:] ** 2, axis=1))
    return tmp_path, x, y, curves


@pytest.mark.slow
def test_fit_prints_what_the_functions_return(files, capsys):
    folder, x, y, curves = files
    fitted = gs.mean_field.fit(curves[:12], y[:12], GRID, count=3, passes=4, **HOW)
    common = ["fit", str(folder / "curves.npz"), *FEW, "--count", "3", "--new", str(folder / "new.npz")]
    assert run([*common, "--passes", "4", "--json"]) == (0 if fitted.field.status.ok else 1)
    printed = json.loads(capsys.readouterr().out)
    assert printed["gap"] == pytest.approx(fitted.gap) and printed["objective"] == pytest.approx(fitted.field.objective)
    np.testing.assert_allclose(printed["outputs"], fitted.predict(curves[12:]))

    batches = [(curves[k : k + 5][: 12 - k], y[k : k + 5][: 12 - k]) for k in (0, 5, 10)]
    followed = gs.mean_field.follow(batches, GRID, count=3, **HOW)
    assert run([*common, "--stream", "5", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(printed["losses"], followed.losses)
    assert printed["gap"] is None
    np.testing.assert_allclose(printed["outputs"], followed.predict(curves[12:]))

    kernel = gs.mean_field.fit_kernel(x[:12] @ x[:12].T, y[:12], passes=4, **HOW)
    wanted = kernel.predict(x[12:] @ x[:12].T, np.sum(x[12:] ** 2, axis=1))
    given = ["fit", str(folder / "kernel.npz"), *FEW, "--passes", "4", "--new", str(folder / "new_kernel.npz")]
    assert run(given) == (0 if kernel.field.status.ok else 1)
    words = capsys.readouterr().out
    assert "40 neurons in 4 dimensions" in words and f"new input 3: {wanted[2]:.4g}" in words


def test_fit_prints_several_outputs(files, capsys):
    folder, _, y, curves = files
    np.savez(folder / "two.npz", curves=curves[:12], y=np.stack([y, -y], axis=1)[:12], grid=GRID)
    given = ["fit", str(folder / "two.npz"), *FEW, "--count", "3", "--passes", "2", "--new", str(folder / "new.npz")]
    assert run(given) in (0, 1)
    (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith("new input 2:")]
    assert line.count(",") == 1


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("kernel.npz", ["--stream", "3"], "--stream is for curves"),
        ("curves.npz", ["--stream", "3", "--passes", "2"], "has no --passes"),
        ("new.npz", [], "has no array 'y'"),
        ("both.npz", [], "either curves and their grid, or the Gram matrix K"),
        ("curves.npz", ["--new", "kernel.npz"], "has no array 'curves'"),
    ],
)
def test_fit_refuses_in_a_sentence(files, capsys, monkeypatch, name, options, sentence):
    folder, x, y, _ = files
    monkeypatch.chdir(folder)
    np.savez("both.npz", K=x @ x.T, curves=x, y=y)
    assert run(["fit", name, *options]) == 2
    assert sentence in capsys.readouterr().err


def test_stretch_writes_the_setting_of_the_function(tmp_path, capsys):
    setting = gs.presets.moniri(n=80, d=20, N=30, alpha=0.4, penalty=0.1)
    setting.save(tmp_path / "setting.toml")
    wanted = gs.theory.equivalent_inputs(setting)
    assert run(["stretch", str(tmp_path / "setting.toml"), "--out", str(tmp_path / "stretched.toml"), "--json"]) == 0
    assert gs.Setting.from_plain(json.loads(capsys.readouterr().out)) == wanted
    assert gs.Setting.read(tmp_path / "stretched.toml") == wanted
    assert run(["stretch", str(tmp_path / "setting.toml")]) == 0
    assert gs.Setting.from_toml(capsys.readouterr().out) == wanted
    (tmp_path / "field.toml").write_text('system = "mean_field"\nn = 20\n', encoding="utf-8")
    assert run(["stretch", str(tmp_path / "field.toml")]) == 2
    assert "stretch takes a setting" in capsys.readouterr().err
