"""Outcomes: labelled, readable, averaged over seeds; and their pictures."""

import json

import numpy as np
import pytest

import giantstep as gs


@pytest.fixture(scope="module")
def outcome():
    setting = gs.Setting(
        gs.Gaussian(30),
        gs.target("x1 + x1*x2", noise=0.3),
        gs.Network(60, "relu"),
        gs.Protocol((gs.GiantStep(80, (0.0, 1.0, 5.0)),), gs.Ridge(90, (1e-3, 0.1, 1.0))),
    )
    return gs.simulate(setting, seed=range(4), spectrum=True, n_test=500)


def test_xarray_labels(outcome):
    data = outcome.to_xarray()
    sizes = {"eta": 3, "penalty": 3, "seed": 4, "neuron": 60, "direction": 2, "other": 2, "index": 60}
    assert dict(data.sizes) == sizes
    assert data.test_error.dims == ("eta", "penalty", "seed") and data.overlaps.dims == (
        "eta",
        "seed",
        "neuron",
        "direction",
    )
    assert float(data.test_error.sel(eta=5.0, penalty=0.1, seed=2)) == outcome.test_error[2, 1, 2]
    assert data.attrs["setting_id"] == outcome.setting.id


def test_the_table_names_errors_as_figures_do(outcome):
    """One name for one quantity: the fields are train_error and train_objective, the words are not."""
    for shown in (str(outcome), outcome._repr_html_()):
        assert "training error" in shown and "training objective" in shown and "train error" not in shown


def test_the_mean_over_seeds(outcome):
    mean = outcome.mean()
    assert mean.axes == ("eta", "penalty") and mean.seeds is None
    np.testing.assert_allclose(mean.test_error, outcome.test_error.mean(-1))
    np.testing.assert_allclose(mean.train_error_se, outcome.train_error.std(-1, ddof=1) / 2)
    np.testing.assert_allclose(mean.captured, outcome.captured.mean(1))
    assert mean.mean() is mean
    assert mean.to_xarray().test_error.dims == ("eta", "penalty")


def test_json_is_plain(outcome):
    plain = json.loads(json.dumps(outcome.to_dict()))
    assert plain["axes"] == ["eta", "penalty", "seed"] and plain["status"]["ok"] is True
    assert np.shape(plain["test_error"]) == (3, 3, 4)
    assert gs.Setting.from_plain(plain["setting"]) == outcome.setting


def test_a_person_can_read_it(outcome):
    text = repr(outcome)
    for word in ("x1 + x1*x2", "relu", "d = 30", "p = 60", "4 seeds", "eta", "penalty", "±", "status: ok"):
        assert word in text
    assert len(text.splitlines()) < 20 and max(map(len, text.splitlines())) < 120


def test_pictures_show_the_numbers(outcome):
    figure = gs.plot(outcome)
    axes = figure.axes[0]
    drawn = [line.get_ydata() for line in axes.get_lines() if np.size(line.get_ydata()) == 3]
    mean = outcome.mean().test_error
    for j in range(3):
        assert any(np.allclose(y, mean[:, j]) for y in drawn)
    assert "step size" in axes.get_xlabel() and axes.get_ylabel() == "test error"
    assert len(gs.plot(outcome, "spectrum").axes) == 3
    assert gs.plot.svg(figure) == gs.plot.svg(figure) and gs.plot.svg(figure).lstrip().startswith("<?xml")


def test_other_shapes_plot_too(small):
    for seed in (0, range(2)):
        assert gs.plot(gs.simulate(small, seed=seed, n_test=50), "train_error").axes
    with pytest.raises(gs.InputError, match="spectrum=True"):
        gs.plot(gs.simulate(small, n_test=50), "spectrum")
    with pytest.raises(gs.InputError, match="cannot plot"):
        gs.plot(gs.simulate(small, n_test=50), "colour")
    with pytest.raises(gs.InputError, match="takes an Outcome"):
        gs.plot(3)  # type: ignore[arg-type]
