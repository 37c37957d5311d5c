"""A system: a small noun, the verbs that take it, files and the command line, on a random walk whose law is known."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import giantstep as gs
from giantstep import system
from giantstep._given.plain import real, whole
from giantstep.cli import run
from giantstep.lab.compare._systems import compare_system
from giantstep.results.system import Curve, Number, Reading, System


@dataclass(frozen=True)
class GaussianWalk(System):
    """A Gaussian walk of so many steps."""

    kind: ClassVar[str] = "walk"
    words: ClassVar = {"square": "mean square at the end"}

    steps: int
    size: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "steps", whole(self.steps, "steps"))
        object.__setattr__(self, "size", real(self.size, "size", least=0.0))

    def measured(self, seed):
        return measured(self, seed)

    def predicted(self):
        return predicted(self)


def measured(walk, seed):
    steps = np.random.default_rng(seed).normal(scale=walk.size, size=(400, walk.steps))
    squares = np.cumsum(steps, axis=1) ** 2
    error = float(np.std(squares[:, -1], ddof=1)) / 20
    curve = Curve("step", np.arange(1, walk.steps + 1), squares.mean(axis=0))
    return Reading({"square": Number(squares[:, -1].mean(), error)}, {"spread": curve})


def predicted(walk):
    steps = np.arange(1, walk.steps + 1)
    return Reading({"square": walk.size**2 * walk.steps}, {"spread": Curve("step", steps, walk.size**2 * steps)})


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(system.KINDS, "walk", lambda: GaussianWalk)


def test_both_routes_say_the_same_names():
    walk = GaussianWalk(7, 2.0)
    found, said = gs.simulate(walk, range(8)), gs.theory(walk)
    assert found.numbers.keys() == said.numbers.keys() and found.seeds == tuple(range(8))
    value, error = found.numbers["square"]
    assert error is not None and abs(value - said.numbers["square"].value) < 4 * error < 0.3 * value
    assert found.curves["spread"].se is not None and found.status.ok


def test_one_seed_keeps_its_own_error():
    assert gs.simulate(GaussianWalk(3), 5)["square"] == measured(GaussianWalk(3), 5).numbers["square"]


def test_files_and_ids(tmp_path):
    walk = GaussianWalk(7, 2.0)
    (tmp_path / "w.toml").write_text(walk.to_toml())
    assert system.read(tmp_path / "w.toml") == walk
    assert system.from_plain(json.loads(json.dumps(walk.to_plain()))).id == walk.id != GaussianWalk(8).id


def test_settings_are_read_as_before(small, tmp_path):
    small.save(tmp_path / "s.json")
    assert system.read(tmp_path / "s.json") == small


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('system = "stroll"', "system must be one of 'walk'"),
        ('system = "walk"', "walk lacks the field 'steps'"),
        ('system = "walk"\nsteps = 0', "walk: steps must be a whole number of at least 1, not 0"),
        ('system = "walk"\nsteps = 3\npace = 1', "unknown field 'pace' in walk; known are steps, size"),
    ],
)
def test_bad_files_are_one_sentence(text, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(system, "KINDS", {"walk": lambda: GaussianWalk})
    (tmp_path / "w.toml").write_text(text)
    assert run(["predict", str(tmp_path / "w.toml")]) == 2
    assert sentence in capsys.readouterr().err


def test_options_for_settings_are_refused(tmp_path, capsys):
    with pytest.raises(gs.InputError, match="n_test is an option for a Setting"):
        gs.simulate(GaussianWalk(3), n_test=50)  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="regime is an option for a Setting"):
        gs.theory(GaussianWalk(3), regime="limit")  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="list of different ones"):
        gs.simulate(GaussianWalk(3), [1, 1])
    (tmp_path / "w.toml").write_text(GaussianWalk(3).to_toml())
    assert run(["compare", str(tmp_path / "w.toml"), "--spectrum"]) == 2
    assert "--spectrum is for a setting" in capsys.readouterr().err


def test_a_number_that_is_none_is_a_status(monkeypatch):
    monkeypatch.setattr(GaussianWalk, "predicted", lambda walk: Reading({"square": np.nan}))
    found = gs.theory(GaussianWalk(3))
    assert not found.status.ok and "This is not a number: mean square at the end." in found.status.notes


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "w.toml"
    path.write_text(GaussianWalk(4).to_toml())
    for command in (["predict"], ["simulate", "--seeds", "0-2"], ["compare", "--seeds", "0-5"]):
        assert run([command[0], str(path), *command[1:], "--plot", str(tmp_path / f"{command[0]}.svg")]) == 0
        assert "mean square at the end" in capsys.readouterr().out
        assert (tmp_path / f"{command[0]}.svg").stat().st_size > 5000
        assert run([command[0], str(path), *command[1:], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
    found = compare_system(GaussianWalk(4), range(20))
    gap = found.gaps["square"].in_se
    assert gap is not None and abs(gap) < 4 and len(found.along("spread")) == 4


def test_a_picture_needs_a_curve(monkeypatch):
    monkeypatch.setattr(GaussianWalk, "predicted", lambda walk: Reading({"square": 1.0}))
    with pytest.raises(gs.InputError, match="no curve to draw"):
        gs.plot(gs.theory(GaussianWalk(3)))
