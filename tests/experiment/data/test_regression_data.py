"""Data of one's own with real labels: through simulate, equivalent, and the mixture and target fitted to them."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.errors import InputError
from giantstep.experiment import draw


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2400, 40)) * np.linspace(2.0, 0.5, 40)
    w = rng.standard_normal(40) / np.linspace(2.0, 0.5, 40)
    z = X @ w / np.std(X @ w)
    return X, 0.5 + z + 0.4 * (z**2 - 1) + 0.1 * rng.standard_normal(2400), w / np.linalg.norm(w)


def setting(data, **changes):
    base = gs.Setting(
        data,
        gs.target("y"),
        gs.Network(60, "relu", rows="trace"),
        gs.Protocol((gs.GiantStep(300, 5.0),), gs.Ridge(300, 0.1)),
    )
    return base.with_(**changes)


def test_batches_are_rows_of_the_table_with_their_own_labels(table):
    X, y, _ = table
    s = setting(gs.Dataset((X, y), centre="none"))
    rows = {tuple(x): label for x, label in zip(X.tolist(), y.tolist(), strict=True)}
    seen = set()
    for batch in (*draw.step_batches(s), draw.readout_batch(s), draw.test_batch(500)):
        inputs, labels = draw.rows(s, 3, batch)
        assert [rows[tuple(x)] for x in inputs.tolist()] == labels.tolist()
        assert not seen & {tuple(x) for x in inputs.tolist()}
        seen |= {tuple(x) for x in inputs.tolist()}


def test_simulation_learns_them_and_the_step_finds_the_direction(table):
    X, y, w = table
    data = gs.Dataset((X, y))
    assert data.regression and data.signal is None and data.classes == (0,)
    s = setting(data)
    assert abs(s.target.matrix(40)[0] @ w) > 0.99
    o = gs.simulate(s, range(4), n_test=1000).mean()
    assert o.test_error < 0.5 * np.var(y) and o.normalised == pytest.approx(o.test_error / np.var(y))
    assert gs.labels(s).mean == pytest.approx(y.mean()) and gs.labels(s).variance == pytest.approx(np.var(y))
    fixed = s.with_(eta=0.0)  # without a step the features are those of the Hermite model up to order 1/d
    network, model = gs.simulate(fixed, range(4), n_test=1000), gs.equivalent(fixed, "hermite", range(4), n_test=1000)
    assert model.mean().test_error == pytest.approx(network.mean().test_error, rel=0.15)


def test_a_plain_fit_of_the_same_rows_gives_the_same_error(table):
    """A second route: features, ridge and test error by NumPy, on the rows and weights that were drawn."""
    X, y, _ = table
    s = setting(gs.Dataset((X, y)), protocol=gs.Protocol((), gs.Ridge(300, 0.1)))
    W, _ = draw.weights(s, 0)
    (inputs, labels), (new, truth) = draw.rows(s, 0, draw.readout_batch(s)), draw.rows(s, 0, draw.test_batch(800))
    F, G = np.maximum(inputs @ W.T, 0), np.maximum(new @ W.T, 0)
    b = np.linalg.solve(F.T @ F / 300 + 0.1 * np.eye(60), F.T @ labels / 300)
    assert gs.simulate(s, 0, n_test=800).test_error == pytest.approx(np.mean((truth - G @ b) ** 2), rel=1e-8)


def test_the_fitted_target_is_the_one_the_labels_were_made_of(table):
    X, y, w = table
    found = gs.Dataset((X, y)).fitted_target(degree=2)
    along = found.matrix(40)[0]
    assert abs(along @ w) / np.linalg.norm(along) > 0.99
    # the noise of the labels, and what d/N of the rest of the variance, 2 * 0.4^2 + 0.1^2, hides of the direction
    assert found.noise == pytest.approx((0.1**2 + 40 / 1920 * (2 * 0.4**2 + 0.1**2)) ** 0.5, rel=0.3)
    z = ((X - X.mean(axis=0)) @ along)[None]
    np.testing.assert_allclose(np.corrcoef(np.asarray(found(z)), y)[0, 1], 1.0, atol=0.02)


def test_theory_takes_the_fitted_mixture_and_target(table):
    X, y, _ = table
    data = gs.Dataset((X, y))
    s = setting(data, activation="relu", eta=1.0)
    fitted = s.with_(data=data.fitted(spikes=1), target=data.fitted_target(degree=2))
    predicted, measured = gs.theory(fitted), gs.simulate(fitted, range(6)).mean()
    assert predicted.test_error == pytest.approx(measured.test_error, rel=0.25)


def test_it_is_saved_and_read_back(table):
    X, y, _ = table
    s = setting(gs.Dataset((X[:40], y[:40])), n=10)
    again = gs.Setting.from_json(s.to_json())
    assert again == s and again.id == s.id and again.target.of_data
    assert setting(gs.Dataset((X[:40], y[:40] + 1)), n=10) != s


def test_whole_numbers_are_classes_unless_asked(table):
    X = table[0][:20]
    counts = np.arange(20) % 3
    assert not gs.Dataset((X, counts)).regression and gs.Dataset((X, counts)).signal == 1.0
    assert gs.Dataset((X, counts), classes=None).regression


def test_whole_numbers_that_are_no_classes_are_told_how_to_be_real_labels(table):
    X = table[0][:20]
    with pytest.raises(InputError) as told:
        gs.Dataset((X, 25 + np.arange(20)))
    assert "no class 0: its labels are 25, 26, 27, ... (20 different ones)" in str(told.value)
    assert "classes=None to take them as real labels" in str(told.value)
    with pytest.raises(InputError, match="its labels are 1, 2; name those"):
        gs.Dataset((X, 1 + np.arange(20) % 2))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: gs.Dataset((X, y), classes=(3, 4)), "no classes"),
        (lambda X, y: gs.Dataset((X, np.where(y > 1, np.nan, y))), "finite"),
        (lambda X, y: gs.Dataset((X, y[:-1])), "labels"),
        (lambda X, y: gs.Dataset((X, y)).fitted_target(degree=50), "degree"),
        (lambda X, y: gs.Dataset((X, np.arange(len(X)) % 2)).fitted_target(), "classes"),
        (lambda X, y: setting(gs.Gaussian(40)), "labels of the data"),
        (lambda X, y: setting(gs.Dataset((X, np.arange(len(X)) % 2))), "labels of the data"),
        (lambda X, y: gs.target("y", rank=2), "one direction"),
        (lambda X, y: gs.target("y").hermite, "labels of a data set"),
        (lambda X, y: gs.explain("y"), "labels of a data set"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(table, make, words):
    with pytest.raises(gs.InputError, match=words):
        make(*table[:2])
