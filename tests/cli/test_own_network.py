"""giantstep bounds and attack: a user's own network and table from files."""

import json

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli import run


@pytest.fixture
def files(tmp_path):
    """A network with biases and a table, in files."""
    rng = np.random.default_rng(0)
    W, A, b = rng.standard_normal((12, 3)), rng.standard_normal((1, 12)) / 12, rng.standard_normal(12)
    X = rng.uniform(-1, 1, (40, 3))
    y = np.sin(X[:, 0])
    np.savez(tmp_path / "network.npz", W=W, A=A, b=b)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    lines = ["x1,x2,x3,y", *(",".join(map(repr, map(float, row))) for row in np.column_stack([X, y]))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path, gs.Layers(W, A, "tanh", b), X, y


@pytest.mark.parametrize("table", ["table.npz", "table.csv"])
def test_bounds_prints_what_the_function_returns(files, capsys, table):
    folder, layers, X, y = files
    assert run(["bounds", str(folder / "network.npz"), str(folder / table), "--activation", "tanh", "--json"]) == 0
    printed, found = json.loads(capsys.readouterr().out), gs.bounds(layers, X, y)
    assert printed["fresh"] == pytest.approx(found.fresh) and printed["training"] == pytest.approx(found.training)
    assert printed["network"]["balanced"] == pytest.approx(found.network.balanced) and printed["n"] == 40


def test_bounds_of_training_and_words(files, capsys):
    folder, layers, X, y = files
    common = ["bounds", str(folder / "network.npz"), str(folder / "table.npz"), "--activation", "tanh"]
    assert run([*common, "--rate", "0.01", "--epochs", "2", "--batch", "4"]) == 0
    assert str(gs.bounds(layers, X, y, rate=0.01, epochs=2, batch=4)) == capsys.readouterr().out.strip()
    assert run([*common, "--epochs", "2"]) == 2
    assert "give a rate too" in capsys.readouterr().err


def test_attack_prints_what_the_function_returns(files, capsys):
    folder, layers, X, _ = files
    common = ["attack", str(folder / "network.npz"), str(folder / "table.npz"), "--activation", "tanh"]
    assert run([*common, "--json", "--out", str(folder / "found.npz")]) == 0
    printed, found = json.loads(capsys.readouterr().out), gs.attack(layers, X)
    np.testing.assert_allclose(printed["after"], found.after)
    assert printed["flipped"] == found.flipped.tolist() and "perturbation" not in printed
    with np.load(folder / "found.npz") as kept:
        np.testing.assert_allclose(kept["perturbation"], found.perturbation)
    assert run([*common, "--eta", "0.5"]) == 0
    words = capsys.readouterr().out
    assert "40 inputs" in words and "30 more inputs" in words


def test_attack_of_classes(files, capsys):
    folder, _, X, _ = files
    rng = np.random.default_rng(1)
    np.savez(folder / "classes.npz", W=rng.standard_normal((9, 3)), A=rng.standard_normal((3, 9)))
    (folder / "inputs.csv").write_text("\n".join(",".join(map(str, row)) for row in X[:4]), encoding="utf-8")
    assert run(["attack", str(folder / "classes.npz"), str(folder / "inputs.csv")]) == 0
    assert "change their class" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("network", "table", "sentence"),
    [
        ({"W": np.ones((2, 3))}, "1,2,3,4\n" * 5, "no array 'A'"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2)), "bias": 1}, "1,2,3,4\n" * 5, "has the array 'bias'"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2))}, "1,2,3,4\n1,2,oh,4\n", "Line 2"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2))}, "1,2,3,4\n1,2\n", "has 2 columns"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2))}, "a,b\n", "has no rows"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2))}, "1,2\n" * 5, "shape (n, 3)"),
        ({"W": np.ones((2, 3)), "A": np.ones((1, 2))}, None, "No such file"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, capsys, network, table, sentence):
    np.savez(tmp_path / "network.npz", **network)
    if table is not None:
        (tmp_path / "table.csv").write_text(table, encoding="utf-8")
    assert run(["bounds", str(tmp_path / "network.npz"), str(tmp_path / "table.csv")]) == 2
    message = capsys.readouterr().err.strip()
    assert sentence in message and "\n" not in message


def test_a_file_that_is_no_archive_is_refused(tmp_path, capsys):
    (tmp_path / "network.npz").write_text("W", encoding="utf-8")
    assert run(["attack", str(tmp_path / "network.npz"), str(tmp_path / "x.csv")]) == 2
    assert "numpy.savez" in capsys.readouterr().err
    np.save(tmp_path / "one.npy", np.ones(3))
    assert run(["attack", str(tmp_path / "one.npy"), str(tmp_path / "x.csv")]) == 2
    assert "holds one array" in capsys.readouterr().err
