"""Fashion-MNIST: the sample that comes with the package, what is read first, and one sentence for what is missing."""

import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from test_dataset import EACH, setting, write

import giantstep as gs
from giantstep.checks import _check as check
from giantstep.claims import select
from giantstep.experiment.data import _fashion as _fashion
from giantstep.systems.early import samples
from giantstep_papers.demir import fashion

ROOT = Path(__file__).parents[3]
HERE = Path(_fashion.DEBIAN).is_dir()
HOW = f"; for the full set give path=, set {_fashion.VARIABLE}, or install Debian's package dataset-fashion-mnist"


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A machine without the full set."""
    monkeypatch.delenv(_fashion.VARIABLE, raising=False)
    monkeypatch.setattr(_fashion, "DEBIAN", str(tmp_path / "nowhere"))


@pytest.fixture
def damaged(monkeypatch):
    _fashion.images.cache_clear()
    yield
    _fashion.images.cache_clear()


def test_the_sample_is_what_it_says():
    found = _fashion.images("sample")
    for name, (X, y) in found.items():
        assert X.dtype == np.uint8 and X.shape == (4 * _fashion.EACH[name], 784)
        assert y.tolist() == np.repeat(_fashion.CLASSES, _fashion.EACH[name]).tolist()
    folder = files("giantstep.experiment.data") / "samples"
    assert "Copyright © 2017 Zalando SE" in (folder / "fashion-mnist.LICENSE").read_text(encoding="utf-8")
    assert sum(len(each.read_bytes()) for each in folder.iterdir()) <= 3_000_000


@pytest.mark.skipif(not HERE, reason="the full set of Fashion-MNIST is not installed")
def test_the_sample_is_made_again_from_the_full_set():
    from scripts import fashion_sample

    made = fashion_sample.packed(fashion_sample.pixels(_fashion.DEBIAN))
    assert made == fashion_sample.PLACE.read_bytes()
    full, sample = _fashion.images(_fashion.DEBIAN), _fashion.images("sample")
    for name, count in _fashion.EACH.items():
        for c in _fashion.CLASSES:
            first = full[name][0][full[name][1] == c][:count]
            np.testing.assert_array_equal(sample[name][0][sample[name][1] == c], first)
    assert _fashion.said(_fashion.DEBIAN) == "the full set of Fashion-MNIST"


def test_what_is_read_first(alone, monkeypatch, tmp_path):
    data = gs.Dataset("fashion-mnist")
    assert data.place == "sample" and data.split()[0].shape == (2800, 784)
    monkeypatch.setattr(_fashion, "DEBIAN", write(tmp_path / "debian"))
    assert data.place == _fashion.DEBIAN and len(data.split()[0]) == 2 * EACH["train"]  # the same noun, read anew
    monkeypatch.setenv(_fashion.VARIABLE, write(tmp_path / "variable"))
    assert data.place == gs.Dataset("fashion-mnist", path="full").place == str(tmp_path / "variable")
    assert gs.Dataset("fashion-mnist", path=tmp_path / "given").place == str(tmp_path / "given")
    own = gs.Dataset("fashion-mnist", path="sample")
    assert own.place == "sample" and len(own.split()[0]) == 2800
    assert own == data and setting(own).id == setting(data).id
    assert gs.Dataset(([[0.0], [1.0]], [0, 1])).place is None


@pytest.mark.parametrize("how", [lambda raw: raw[:-1], lambda raw: b"", lambda raw: raw.replace(raw[99:103], b"abcd")])
def test_a_damaged_sample(how, damaged, monkeypatch, tmp_path):
    raw = (files("giantstep.experiment.data") / "samples" / _fashion.FILE).read_bytes()
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / _fashion.FILE).write_bytes(how(raw))
    monkeypatch.setattr(_fashion, "files", lambda name: tmp_path)
    with pytest.raises(gs.InputError, match="is damaged: its checksum is wrong, so install giantstep again"):
        gs.Dataset("fashion-mnist", (5, 1), path="sample").split()
    (tmp_path / "samples" / _fashion.FILE).unlink()
    with pytest.raises(gs.InputError, match="cannot be read: FileNotFoundError"):
        _fashion.images("sample")


def system(n):
    data = gs.Dataset("fashion-mnist", centre="none", signal=None)
    return gs.Early(n=n, d=784, width=4, steps=3, data=data)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: gs.Dataset("fashion-mnist", (0, 2)).split(), "has the classes 0, 1, 5 and 9, not 2"),
        (
            lambda: gs.simulate(setting(gs.Dataset("fashion-mnist"), 1000, 1000), n_test=50),
            "has 2800 inputs for all batches, not 3000",
        ),
        (lambda: gs.Dataset("fashion-mnist", path="full").split(), "the full set of Fashion-MNIST is not here"),
        (lambda: samples.inputs(system(2802)), "has 1400 inputs of class 0, not 1401"),
    ],
)
def test_what_only_the_full_set_has(bad, words, alone):
    with pytest.raises(gs.MissingData, match=words) as caught:
        bad()
    assert str(caught.value).endswith(HOW) and "\n" not in str(caught.value)


def test_the_sample_has_all_test_images_of_its_classes(alone):
    with pytest.raises(gs.InputError, match="the dataset has 2000 inputs for the test, not 2001") as caught:
        gs.simulate(setting(gs.Dataset("fashion-mnist"), 10, 10), n_test=2001)
    assert not isinstance(caught.value, gs.MissingData)


def test_the_status_says_which_images(alone, tmp_path):
    ours = "that comes with giantstep (2800 training and 2000 test images of classes 9 and 5)"
    small = setting(gs.Dataset("fashion-mnist", (9, 5)), 10, 10)
    for found in (gs.simulate(small, n_test=20), gs.equivalent(small, "hermite", degree=2, n_test=20)):
        assert found.status.ok and found.status.notes[-1] == f"The data are the sample of Fashion-MNIST {ours}."
    found = gs.simulate(setting(gs.Dataset("fashion-mnist", (3,), write(tmp_path)), 5, 5, target="1"), n_test=9)
    said = "The data are files in the form of Fashion-MNIST (30 training and 12 test images of class 3)."
    assert found.status.notes[-1] == said
    assert any("the sample of Fashion-MNIST" in note for note in gs.simulate(system(20), 0).status.notes)
    X = np.random.default_rng(0).standard_normal((60, 4))
    assert gs.simulate(setting(gs.Dataset((X, np.arange(60) % 2)), 9, 9), n_test=9).status.notes == ()


@pytest.mark.parametrize("name", ["demir/fashion", "demir/fashion-step", "giantstep/fitted"])
def test_at_full_size_a_claim_asks_for_the_full_set(name, alone):
    (claim,) = select([name])
    with pytest.raises(gs.MissingData, match="the full set of Fashion-MNIST is not here, only its sample; for"):
        claim.measure("full", range(2))
    (result,) = check.check([claim], "full")
    assert result.verdict.outcome == "not run" and result.error is None
    assert result.verdict.sentence.startswith("the full set of Fashion-MNIST is not here")


def test_at_quick_size_a_claim_runs_on_the_sample(alone, monkeypatch):
    network = fashion.errors
    monkeypatch.setattr(
        fashion, "errors", lambda size, setting, seeds, model=None: network(size, setting, seeds)
    )  # models are dear
    monkeypatch.setattr(fashion, "PAIRS", ((5, 9),))
    for table, value in ((fashion.N_TEST, 100), (fashion.SIZES, 30), (fashion.RATIOS, (0.5,))):
        monkeypatch.setitem(table, "quick", value)
    measured = fashion.measure("quick", range(2))
    assert measured["network"].shape[0] == 1 and np.all(np.isfinite(measured["network"]))
    data = fashion.experiment("quick", 30, (5, 9), "relu", 0.5).data
    assert isinstance(data, gs.Dataset) and data.place == "sample"


def test_the_wheel_has_the_sample_and_its_notice(tmp_path):
    wheel = pytest.importorskip("hatchling.builders.wheel")
    (made,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = zipfile.ZipFile(made).namelist()
    for name in (_fashion.FILE, "fashion-mnist.LICENSE"):
        assert f"giantstep/experiment/data/samples/{name}" in names
