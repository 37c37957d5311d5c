"""gs.plot: several settings, labels, axes of one's own, smooth predictions, sweeps and phase diagrams."""

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import Rectangle

import giantstep as gs
from giantstep.plot import TRUSTED
from giantstep.plot.style import COLOURS, histogram

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def base():
    return gs.Setting(
        gs.Gaussian(30),
        gs.target("x1 + H2(x1)/sqrt(2)", noise=0.3),
        gs.Network(40, "relu", centred=True),
        gs.Protocol((gs.GiantStep(90, [0.0, 2.0, 20.0]),), gs.Ridge(90, 0.1)),
    )


@pytest.fixture(scope="module")
def two(base):
    return [gs.simulate(base.with_(activation=name), range(2), n_test=100) for name in ("relu", "tanh")]


def legends(figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for legend in ax.findobj(Legend) for text in legend.texts]


def dots(figure) -> list:
    return [line for line in figure.axes[0].get_lines() if line.get_marker() == "o" and np.size(line.get_xdata()) == 3]


def test_two_settings_have_two_colours_and_their_differences_as_names(two):
    figure = gs.plot(two)
    assert [to_hex(line.get_color()) for line in dots(figure)] == list(COLOURS[:2])
    assert legends(figure) == ["relu (centred)", "tanh (centred)"] or legends(figure) == ["relu", "tanh"]
    mean = two[1].mean().test_error
    np.testing.assert_allclose(dots(figure)[1].get_ydata(), mean)


def test_labels_name_outcomes_and_join_those_of_one_name(two):
    assert legends(gs.plot(two, labels=["first", "second"])) == ["first", "second"]
    figure = gs.plot(two, labels=["same", "same"])
    assert len({line.get_color() for line in dots(figure)}) == 1
    with pytest.raises(gs.InputError, match="needs 2 names"):
        gs.plot(two, labels=["one", "two", "three"])
    with pytest.raises(gs.InputError, match="list of names"):
        gs.plot(two, labels="ab")


def test_settings_without_an_axis_stand_beside_each_other(base):
    outcomes = [gs.simulate(base.with_(eta=2.0, n=n), n_test=50) for n in (60, 90)]
    ax = gs.plot(outcomes).axes[0]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["n = 60", "n = 90"]
    assert [float(np.ravel(line.get_xdata())[0]) for line in ax.get_lines() if line.get_marker() == "o"] == [0.0, 1.0]


def test_it_draws_on_given_axes(two):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert gs.plot(two, ax=left) is figure and left.has_data() and not right.has_data()
    assert gs.plot(gs.simulate(two[0].setting.with_(eta=2.0), spectrum=True, n_test=50), "spectrum", ax=right) is figure
    with pytest.raises(gs.InputError, match="one panel"):
        gs.plot(gs.simulate(two[0].setting, spectrum=True, n_test=50), "spectrum", ax=right)
    with pytest.raises(gs.InputError, match="axes of matplotlib"):
        gs.plot(two, ax=3)  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="explanation does not have it"):
        gs.plot(gs.explain("x1"), ax=left)


@pytest.mark.slow
def test_a_prediction_at_a_few_steps_is_a_smooth_line(base):
    p = gs.theory(base)
    lines = [np.asarray(line.get_xydata(), dtype=float) for line in gs.plot(p).axes[0].get_lines()]
    known = np.concatenate([line[np.isfinite(line[:, 1])] for line in lines])
    assert len(known) >= 60
    for eta, value in zip(p.eta, p.test_error, strict=True):
        np.testing.assert_allclose(known[np.isclose(known[:, 0], eta), 1], value, rtol=1e-6)


def test_a_sweep_is_drawn_from_its_dataset(base):
    s = base.with_(eta=2.0)
    found = gs.sweep(s, {"n": [60, 90], "activation": ["relu", "tanh"]}, seeds=range(2), routes=["simulate", "theory"])
    figure = gs.plot(found)
    (ax,) = figure.axes
    assert ax.get_xlabel() == "samples n" and ax.get_ylabel() == "test error"
    mean = found.test_error.sel(route="simulate", activation="tanh").mean("seed").values
    drawn = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines() if np.size(line.get_ydata()) == 2]
    assert any(np.allclose(y, mean) for y in drawn)
    own = Figure()
    assert gs.plot(found, ax=own.subplots()) is own
    with pytest.raises(gs.InputError, match="what"):
        gs.plot(found, "colour")
    with pytest.raises(gs.InputError, match="Dataset of a sweep"):
        gs.plot(found.drop_vars("ok"))


def test_the_prediction_of_a_sweep_is_smooth_and_its_legend_stays_on_the_page(base):
    axes = {"n": [60, 90, 120], "penalty": [0.1, 1.0]}
    figure = gs.plot(gs.sweep(base.with_(eta=2.0), axes, seeds=range(2), routes=["simulate", "theory"]))
    smooth = [line for line in figure.axes[0].get_lines() if np.size(line.get_xdata()) > 50]
    assert len({line.get_color() for line in smooth}) == 2
    figure.canvas.draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts][0] == "theory, λ = 0.1"
    box, page = legend.get_window_extent(), figure.bbox
    assert page.x0 <= box.x0 and box.x1 <= page.x1


def test_a_sweep_shades_the_bands_of_its_predictions_and_dashes_what_is_beyond_trust(base):
    axes = {"eta": [0.5, 4.0, 60.0]}
    found = gs.sweep(base.with_(d=200, width=150, n=400, eta=1.0), axes, seeds=range(2), routes=["simulate", "theory"])
    low, high = found.test_error_band.sel(route="theory").isel(seed=0).transpose("end", "eta").values
    value = found.test_error.sel(route="theory").isel(seed=0).values
    assert np.all(low < value) and np.all(value < high) and np.isnan(found.test_error_band.sel(route="simulate")).all()
    assert high[0] - low[0] < 2 * TRUSTED * value[0] and high[-1] - low[-1] > 2 * TRUSTED * value[-1]
    (ax,) = gs.plot(found).axes
    (shade,) = [each for each in ax.collections if isinstance(each, PolyCollection)]
    assert np.max(np.asarray(shade.get_paths()[0].vertices)[:, 1]) == pytest.approx(high.max())
    solid, dashed = [line for line in ax.get_lines() if np.size(line.get_xdata()) > 50]
    assert solid.get_linestyle() == "-" and dashed.get_linestyle() == "--"
    assert [np.isfinite(np.asarray(line.get_ydata())[[0, -1]]).tolist() for line in (solid, dashed)] == [
        [True, False],
        [False, True],
    ]
    assert "test_error_band" not in gs.sweep(base.with_(eta=1.0), {"n": [60, 90]})


def test_two_long_axes_are_a_phase_diagram(base):
    axes = {"eta": [0.5, 1.0, 2.0, 4.0, 8.0, 16.0], "n": [60, 70, 80, 90, 100]}
    found = gs.sweep(base.with_(eta=1.0), axes, seeds=range(2))
    figure = gs.plot(found)
    (mesh,) = [each for each in figure.axes[0].collections if isinstance(each, QuadMesh)]
    np.testing.assert_allclose(
        np.asarray(mesh.get_array()).reshape(5, 6),
        found.test_error.isel(route=0).mean("seed").transpose("n", "eta").values,
    )
    assert (
        figure.axes[0].get_xlabel() == "step size η" and figure.axes[0].get_xscale() == "log" and len(figure.axes) == 2
    )


def test_the_cells_of_a_phase_diagram_are_as_tall_as_each_other_on_a_logarithmic_axis(base):
    axes = {"eta": [2.0, 5.0, 10.0, 20.0, 40.0], "n": [60, 120, 240, 480, 960]}
    found = gs.sweep(base.with_(eta=1.0), axes, seeds=range(1))
    ax = gs.plot(found).axes[0]
    (mesh,) = [each for each in ax.collections if isinstance(each, QuadMesh)]
    corners = np.asarray(mesh.get_coordinates())
    assert ax.get_xscale() == ax.get_yscale() == "log"
    np.testing.assert_allclose(corners[0, 1:-1, 0], np.sqrt(np.array([2 * 5, 5 * 10, 10 * 20, 20 * 40])))
    heights = np.diff(np.log(corners[:, 0, 1]))
    np.testing.assert_allclose(heights, np.log(2))
    np.testing.assert_allclose(ax.get_ylim(), corners[[0, -1], 0, 1])


def test_a_prediction_at_a_few_points_that_is_not_computed_again_is_smooth_too():
    """Here on a mixture: the line goes through the predicted values, and so does the band."""
    mixture = gs.Mixture(20, (gs.Component(0.5), gs.Component(0.5, (gs.Spike(2.0),))))
    p = gs.theory(
        gs.Setting(
            mixture,
            gs.target("x1"),
            gs.Network(20, "relu", centred=True),
            gs.Protocol((gs.GiantStep(40, [0.0, 1.0, 4.0]),), gs.Ridge(40, 0.1)),
        )
    )
    (line,) = [each for each in gs.plot(p).axes[0].get_lines() if np.size(each.get_xdata()) > 50]
    np.testing.assert_allclose(np.interp([0.0, 1.0, 4.0], *np.asarray(line.get_data())), p.test_error, rtol=1e-3)


def test_a_spectrum_pools_its_seeds(base):
    setting = base.with_(eta=[0.0, 20.0])
    both = gs.simulate(setting, range(2), spectrum=True, n_test=50)
    alone = [[histogram(values) for values in seeds] for seeds in both.singular_values]
    for ax, seeds in zip(gs.plot(both, "spectrum").axes, alone, strict=True):
        bars = [bar for bar in ax.patches if isinstance(bar, Rectangle) and bar.get_height() > 0]
        assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(max(one[3][-1] for one in seeds))
        assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
        triangles = [x for line in ax.get_lines() if line.get_marker() == "v" for x in np.ravel(line.get_xdata())]
        assert triangles == [value for one in seeds for value in one[1]]
    assert sum(len(one[1]) for one in alone[1]) > 1
