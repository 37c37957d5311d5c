"""Datasets: files of our own making, disjoint batches, the preparation, and one sentence for anything bad."""

import dataclasses
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep.experiment import draw
from giantstep.experiment.data import _fashion as fashion
from giantstep.experiment.data import dataset
from giantstep.simulate import sgd, train

EACH = {"train": 30, "t10k": 12}


def idx(array):
    """An IDX file of bytes."""
    head = (2048 + array.ndim).to_bytes(4, "big") + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return head + array.astype(np.uint8).tobytes()


def write(folder):
    """Ten classes of random images in the four files of Fashion-MNIST; half of them are gzipped. Returns the folder as text."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for prefix, each in EACH.items():
        labels = rng.permutation(np.repeat(np.arange(10), each))
        images = rng.integers(0, 100 + 15 * labels[:, None, None], (len(labels), 28, 28))
        (folder / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(idx(labels))
    return str(folder)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path)
    fashion.images.cache_clear()
    dataset._prepared.cache_clear()
    return tmp_path


def own(**options):
    """100 inputs in 6 dimensions, of classes 3, 5 and 7."""
    rng = np.random.default_rng(1)
    return gs.Dataset((rng.standard_normal((100, 6)) + 1, rng.choice([3, 5, 7], 100)), **{"classes": (3, 5), **options})


def setting(data, n=12, readout=14, target="-1 | 1", **network):
    protocol = gs.Protocol((gs.GiantStep(n, 1.0), gs.GiantStep(n, 1.0)), gs.Ridge(readout, 0.1))
    return gs.Setting(data, gs.target(target), gs.Network(8, "relu", **network), protocol)


@pytest.mark.parametrize("counts", ["drawn", "exact"])
def test_batches_are_disjoint(counts, seed):
    one = setting(own(signal=None, centre="none", counts=counts))
    batches = [*draw.step_batches(one), draw.readout_batch(one), draw.test_batch(10)]
    X, y = (np.concatenate(part) for part in zip(*(draw.rows(one, seed, b) for b in batches), strict=True))
    assert len({row.tobytes() for row in X}) == len(X) == 48
    assert isinstance(one.data, gs.Dataset)
    source = one.data.source
    for row, label in zip(X, y, strict=True):
        found = source.labels[np.flatnonzero(np.all(source.X == row, axis=1))]
        assert found.tolist() == [3 if label == -1 else 5]
    again = draw.rows(one, seed, batches[1], 4, 9)
    np.testing.assert_array_equal(again[0], X[16:21])
    assert not np.array_equal(draw.rows(one, seed + 1, batches[0])[0], X[:12])
    if counts == "exact":
        share = np.mean(one.data.split()[1] == 0)
        assert np.sum(y[:38] == -1) == int(share * 38)


def test_a_reused_batch_is_the_same(seed):
    protocol = gs.Protocol((gs.GiantStep(12, 1.0), gs.GiantStep(None, 1.0, batch="reuse")), gs.Ridge(30, 0.1))
    one = dataclasses.replace(setting(own()), protocol=protocol)
    first, second = draw.step_batches(one)
    assert np.array_equal(draw.rows(one, seed, first)[0], draw.rows(one, seed, second)[0])
    assert gs.simulate(one, seed, n_test=10).status.ok


def test_preparation():
    data = own()
    X, c = data.split()
    for k in range(2):
        np.testing.assert_allclose(X[c == k].mean(axis=0), 0, atol=1e-12)
        assert np.var(X[c == k], axis=0).sum() == pytest.approx(6)
    assert data.trace == pytest.approx(12)
    assert data.spread == pytest.approx(np.linalg.norm(np.cov(X.T, bias=True), 2) + 1)
    np.testing.assert_allclose(own(centre="all", signal=None).split()[0].mean(axis=0), 0, atol=1e-12)
    raw = own(centre="none", signal=None)
    assert raw.split()[0].mean() == pytest.approx(1, abs=0.2)
    one = setting(own(), rows="trace")
    noise = draw.rows(one, 0, draw.Batch((16,), 12))[0] - draw._finite(one, 0, draw.Batch((16,), 12), 0, 12)[0]
    assert np.std(noise) == pytest.approx(1, rel=0.3)


def test_round_trips(folder):
    for data in (own(), own(signal=None, counts="exact"), gs.Dataset("fashion-mnist", (5, 9), str(folder), signal=0.5)):
        one = setting(data)
        for again in (gs.Setting.from_toml(one.to_toml()), gs.Setting.from_json(one.to_json())):
            assert again == one and again.id == one.id
            assert isinstance(again.data, gs.Dataset) and again.data.path == data.path
    here, there = (gs.Dataset("fashion-mnist", path=path) for path in (str(folder), None))
    assert here == there and setting(here).id == setting(there).id


def test_fashion_mnist(folder, seed):
    data = gs.Dataset("fashion-mnist", np.array([9, 5]), folder, counts="exact")
    X, c = data.split()
    assert X.shape == (60, 784) and np.bincount(c).tolist() == [30, 30]
    assert data.split(test=True)[0].shape == (24, 784) and data.trace == pytest.approx(2 * 784)
    one = setting(data, 20, 20, rows="trace", scale="1/p")
    assert np.bincount(draw.components(one, seed, draw.readout_batch(one))).tolist() == [10, 10]
    assert gs.simulate(one, seed, n_test=24).status.ok and train(one, seed).final.shape == (8, 784)
    bytes_, labels = fashion.images(str(folder))["train"]
    raw = gs.Dataset("fashion-mnist", (9, 5), str(folder), centre="none", signal=None).split()[0]
    np.testing.assert_array_equal(raw[:30], bytes_[labels == 9] / 255)


def test_simulated_literally(seed):
    """One step and the readout in plain NumPy, from the rows drawn."""
    one = setting(own(), rows="trace", scale="1/p")
    one = dataclasses.replace(one, protocol=gs.Protocol((gs.GiantStep(20, 3.0, residual="full"),), gs.Ridge(25, 0.1)))
    W, a = draw.weights(one, seed)
    batches = [*draw.step_batches(one), draw.readout_batch(one), draw.test_batch(20)]
    (X, y), (X2, y2), (Xt, yt) = (draw.rows(one, seed, b) for b in batches)
    f = np.maximum(X @ W.T, 0) @ a / 8
    W = W + 3.0 / 8 * (np.outer(a, y - f) * (W @ X.T > 0)) @ X / 20
    F = np.maximum(X2 @ W.T, 0)
    b = np.linalg.solve(F.T @ F / 25 + 0.1 * np.eye(8), F.T @ y2 / 25)
    risk = np.mean((yt - np.maximum(Xt @ W.T, 0) @ b) ** 2)
    assert gs.simulate(one, seed, n_test=20).risk == pytest.approx(risk, rel=1e-10)


IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: (f / LABELS).write_bytes((f / LABELS).read_bytes()[:-5]), "damaged: its header says"),
        (lambda f: (f / LABELS).write_bytes((f / LABELS).read_bytes()[:6]), "damaged"),
        (lambda f: (f / LABELS).write_bytes(b""), "magic number is 0, not 2049"),
        (lambda f: (f / IMAGES).write_bytes((f / IMAGES).read_bytes()[:-50]), "cannot read"),
        (lambda f: (f / IMAGES).write_bytes(b"not gzip"), "cannot read"),
        (lambda f: (f / IMAGES).write_bytes(gzip.compress(idx(np.zeros(5)))), "magic number is 2049, not 2051"),
        (lambda f: (f / LABELS).write_bytes(idx(np.zeros(5))), "300 images but 5 labels"),
        (lambda f: (f / LABELS).write_bytes(idx(np.zeros(300))), "no class 1 among its train inputs"),
        (lambda f: (f / LABELS).unlink(), "no file train-labels-idx1-ubyte or"),
        (lambda f: (f / IMAGES).write_bytes(gzip.compress(idx(np.zeros((300, 2, 2))))), "images of"),
    ],
)
def test_damaged_files(folder, damage, words):
    damage(folder)
    with pytest.raises(gs.InputError, match=words) as caught:
        gs.Dataset("fashion-mnist", path=str(folder)).split()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: gs.Dataset("mnist"), "source must be one of"),
        (lambda: gs.Dataset(3), "or one pair of arrays"),
        (lambda: gs.Dataset((np.ones((3, 2)), [0, 1])), "3 inputs needs 3 labels, not 2"),
        (lambda: gs.Dataset((np.ones(3), [0, 1, 1])), "N x d"),
        (lambda: gs.Dataset((np.ones((2, 2)), [0, np.nan])), "finite values"),
        (lambda: gs.Dataset(("a", [0])), "pair of arrays"),
        (lambda: gs.Dataset("fashion-mnist", (0, 10)), "no class 10"),
        (lambda: own(classes=(3, 4)), "no class 4"),
        (lambda: own(classes=(3, 3)), "different"),
        (lambda: own(classes=()), "a list of labels"),
        (lambda: own(path="here"), "path is the folder"),
        (lambda: own(signal=-1.0), "signal must be"),
        (lambda: gs.Dataset((np.ones((4, 2)), [0, 0, 1, 1])).split(), "all the same"),
        (
            lambda: gs.Dataset((np.full((6, 2), 0.1), [0, 0, 0, 1, 1, 1])).split(),
            "all the same",
        ),  # 0.1 is not their mean
        (lambda: gs.simulate(setting(own(), n=20, readout=30), n_test=10), "inputs for all batches, not 80"),
        (lambda: gs.simulate(setting(own())), "inputs for all batches, not 10038"),
        (lambda: train(setting(own(), n=60)), "inputs for all batches, not 120"),
        (lambda: setting(own(), target="1 | 2 | 3"), "formulas for 3 components but the data 2"),
        (lambda: gs.theory(setting(own()), "limit"), "covers isotropic Gaussian data only"),
        (lambda: sgd(setting(own()), 10, 0.1), "a Dataset is finite"),
    ],
)
def test_sentences(bad, words):
    with pytest.raises(gs.InputError, match=words) as caught:
        bad()
    assert "\n" not in str(caught.value)


NEAR = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=4), st.sampled_from([0, 1, -1, 10**30, "none"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["X", "labels"]), inner)),
    max_leaves=6,
)


@given(st.sampled_from(["source", "classes", "path", "centre", "signal", "counts", "law"]), NEAR)
def test_any_data_builds_or_is_refused(key, value):
    plain = setting(gs.Dataset(([[0.0, 1.0], [1.0, 0.0]], [0, 1]))).to_plain()
    plain["data"] = {**plain["data"], key: value}
    try:
        gs.Setting.from_plain(plain)
    except gs.InputError as error:
        assert str(error) and "\n" not in str(error)


def test_more_test_images_than_there_are(folder):
    with pytest.raises(gs.InputError, match="24 inputs for the test, not 25"):
        gs.simulate(setting(gs.Dataset("fashion-mnist", path=str(folder)), 10, 10), n_test=25)
