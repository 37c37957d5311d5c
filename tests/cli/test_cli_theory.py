"""predict and compare, from the command line and as functions, and the pictures that lay theory over simulation."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.legend import Legend

import giantstep as gs
from giantstep import cli, theory
from giantstep.lab import compare as lab
from giantstep.lab import optimum
from giantstep.results.outcome import LABELS, Status
from giantstep.results.table import within

SETTING = """
[data]
d = 60
[target]
formula = "x1 + H2(x1)/sqrt(2)"
noise = 0.3
[network]
width = 80
activation = "relu"
[protocol]
steps = [{ n = 120, eta = [0.0, 6.0] }]
readout = { n = 150, penalty = [0.1, 1.0] }
"""

LAWS = tuple(
    theory.Law(
        count=80,
        low=0.0,
        edge=1.0 + i,
        x=np.linspace(0.1, 0.9 + i, 20),
        density=np.full(20, 1 / (1.0 + i)),
        outliers=(theory.Outlier(5.0 + i, (0.9,)),) * i,
    )
    for i in range(2)
)


@pytest.fixture(scope="module")
def setting() -> gs.Setting:
    return gs.Setting.from_toml(SETTING)


@pytest.fixture(scope="module")
def compared(setting) -> lab.Comparison:
    return lab.compare(setting, range(6), n_test=500, equivalent="spiked")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the setting and some that theory refuses."""
    changes = {
        "small": {},
        "reuse": {
            "[{ n = 120, eta = [0.0, 6.0] }]": "[{ n = 120, eta = 1.0 }, { n = 120, eta = 1.0 }]",
            "readout = { n = 150,": "readout = { n = 120, batch = 'reuse',",
        },
        "again": {
            "[{ n = 120, eta = [0.0, 6.0] }]": "[{ n = 120, eta = 1.0 }, { n = 120, eta = 1.0 }, { eta = 1.0, batch = 'reuse' }]"
        },
        "bare": {"readout = { n = 150, penalty = [0.1, 1.0] }": ""},
        "full": {"eta = [0.0, 6.0]": "eta = [0.0, 6.0], residual = 'full'"},
        "one": {"[0.0, 6.0]": "6.0", "[0.1, 1.0]": "0.1"},
        "two": {"eta = [0.0, 6.0] }]": "eta = [0.0, 6.0, 12.0] }, { eta = 1.0, batch = 'reuse' }]"},
    }
    for name, change in changes.items():
        text = SETTING
        for old, new in change.items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


REFUSED = [
    (["predict", "reuse.toml"], "nearest setting"),
    (["predict", "again.toml"], "fresh batches"),
    (["predict", "bare.toml"], "ridge readout"),
    (["predict", "full.toml", "--regime", "limit"], "residual='target'"),
    (["predict", "small.toml", "--regime", "far"], "--regime"),
    (["predict", "small.toml", "--plot", "a.doc"], "--plot"),
    (["predict", "small.toml", "--optimal", "--spectrum"], "--optimal"),
    (["predict", "small.toml", "--optimal", "--plot", "a.svg"], "--optimal"),
    (["predict", "small.toml", "--verify"], "--optimal"),
    (["predict", "absent.toml"], "absent.toml"),
    (["predict"], "SETTING"),
    (["compare", "reuse.toml"], "nearest setting"),
    (["compare", "again.toml"], "fresh batches"),
    (["compare", "small.toml", "--equivalent", "exact"], "--equivalent"),
    (["compare", "two.toml", "--equivalent", "spiked"], "expands one step"),
    (["compare", "small.toml", "--seeds", "9-0"], "--seeds"),
    (["compare", "small.toml", "--memory", "0"], "--memory"),
    (["compare", "small.toml", "--test-samples", "1"], "--test-samples"),
    (["compare", "small.toml", "--dtype", "int8"], "--dtype"),
    (["compare", "small.toml", "--plot", "no/folder/a.svg"], "--plot"),
]


@pytest.mark.parametrize(("arguments", "word"), REFUSED, ids=[" ".join(a) for a, _ in REFUSED])
def test_what_is_refused_is_one_sentence_and_exit_code_2(arguments, word, folder, capsys):
    code, out, err = called(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1 and word in err and "Traceback" not in err


def test_predict_prints_the_table_and_one_json_object(folder, setting, capsys):
    code, out, err = called(capsys, "predict", "small.toml")
    expected = gs.theory(setting)
    assert code == 0 and err == "" and out.startswith("theory: x1 + H2(x1)/sqrt(2)")
    assert f"{expected.test_error[1, 0]:.2g}" in out  # as many digits as its band allows
    code, out, _ = called(capsys, "predict", "small.toml", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["route"] == "theory" and answer["setting_id"] == setting.id
    np.testing.assert_allclose(answer["test_error"], expected.test_error, rtol=1e-12)


def test_predict_in_the_limit_says_when_there_is_none(folder, capsys):
    code, out, err = called(capsys, "predict", "small.toml", "--regime", "limit", "--json")
    assert code == 0 and np.all(np.isfinite(json.loads(out)["test_error"]))
    text = (folder / "small.toml").read_text(encoding="utf-8").replace("6.0", "60.0")
    (folder / "giant.toml").write_text(text, encoding="utf-8")
    code, out, err = called(capsys, "predict", "giant.toml", "--regime", "limit", "--json")
    assert code == 1 and json.loads(out)["test_error"][1] == [None, None] and "1/2" in err


def test_predict_draws_a_curve(folder, capsys):
    code, _, err = called(capsys, "predict", "small.toml", "--plot", "theory.svg")
    assert code == 0 and "Wrote theory.svg" in err and "<svg" in (folder / "theory.svg").read_text(encoding="utf-8")


def test_predict_spectrum(folder, monkeypatch, capsys):
    monkeypatch.setattr(lab, "predicted_spectrum", lambda setting: LAWS)
    code, out, _ = called(capsys, "predict", "small.toml", "--spectrum", "--plot", "law.png", "--json")
    answer = json.loads(out)
    assert code == 0 and (folder / "law.png").stat().st_size > 1000
    assert answer["bulk_edge"] == [1.0, 2.0] and answer["outliers"] == [0.0, 1.0]


def test_predict_optimal(folder, setting, monkeypatch, capsys):
    best = theory.Optimum(setting, 3.0, 0.2, 0.5, 0.8, Status(False, ("eta is at an end of the range searched",)))
    monkeypatch.setattr(optimum, "optimal", lambda setting, verify: best)
    code, out, err = called(capsys, "predict", "small.toml", "--optimal", "--json")
    answer = json.loads(out)
    assert set(answer) == {"eta", "penalty", "test_error", "test_error_band", "random_features", "status", "setting"}
    assert answer["eta"] == 3.0 and gs.Setting.from_plain(answer["setting"]) == setting
    assert code == 1 and "end of the range" in err  # what cannot be trusted ends with 1
    seen = replace(best, status=Status(), measured=0.55, measured_se=0.01)
    monkeypatch.setattr(optimum, "optimal", lambda setting, verify: seen if verify else replace(best, status=Status()))
    code, out, err = called(capsys, "predict", "small.toml", "--optimal")
    assert (code, err) == (0, "") and "eta = 3, penalty = 0.2" in out and "simulated" not in out
    code, out, err = called(capsys, "predict", "small.toml", "--optimal", "--verify")
    assert (code, err) == (0, "") and "off by -9.1%" in out
    _, out, _ = called(capsys, "predict", "small.toml", "--optimal", "--verify", "--json")
    assert json.loads(out)["measured"] == 0.55 and json.loads(out)["measured_se"] == 0.01


def test_compare_prints_one_json_object(folder, setting, capsys):
    arguments = ["compare", "small.toml", "--seeds", "0-2", "--test-samples", "200", "--equivalent", "gaussian"]
    code, out, _ = called(capsys, *arguments, "--json")
    answer = json.loads(out)
    assert code == 0 and set(answer) == {"setting_id", "theory", "simulation", "equivalent", "comparison"}
    assert answer["setting_id"] == setting.id and answer["simulation"]["seeds"] == [0, 1, 2]
    rows = answer["comparison"]
    assert [(row["eta"], row["penalty"]) for row in rows] == [(0, 0.1), (0, 1), (6, 0.1), (6, 1)]
    mean = np.mean(answer["simulation"]["test_error"], axis=-1)
    first = rows[0]["test_error"]
    assert first["measured"] == pytest.approx(mean[0, 0])
    assert first["predicted"] == pytest.approx(answer["theory"]["test_error"][0][0])
    assert first["gap_percent"] == pytest.approx(100 * (first["predicted"] / first["measured"] - 1))
    assert first["gap_se"] == pytest.approx((first["predicted"] - first["measured"]) / first["se"])
    assert first["band"] == pytest.approx(answer["theory"]["test_error_band"][0][0])
    keys = {"measured", "se", "predicted", "equivalent", "equivalent_se", "gap_percent", "gap_se"}
    assert set(first) == keys | {"band"} and set(rows[0]["train_objective"]) == keys


def test_compare_prints_predictions_with_the_digits_of_their_bands_or_standard_errors(compared):
    lines = str(compared).splitlines()
    columns = compared.theory.axes
    for name in ("test_error", "train_objective"):
        row, start = compared.rows[0], lines.index(LABELS[name])
        gap = getattr(row, name)
        simulated, shown = lines[start + 2].split()[len(columns)], lines[start + 2].split()[len(columns) + 3]
        if gap.band is None:  # the digits of the standard error
            assert len(shown) == len(simulated)
        else:
            assert shown == within(gap.predicted, *gap.band) and len(shown) <= 4


def test_compare_prints_a_table_and_draws(folder, capsys):
    code, out, err = called(capsys, "compare", "one.toml", "--seeds", "0-1", "--test-samples", "200", "--plot", "c.svg")
    assert code == 0 and "Wrote c.svg" in err and "<svg" in (folder / "c.svg").read_text(encoding="utf-8")
    for word in ("compare: ", "simulated", "predicted", "gap", "in s.e.", "training objective", "status of the theory"):
        assert word in out
    assert max(len(line) for line in out.splitlines() if not line.startswith("status")) < 110


def test_compare_takes_lists_of_step_sizes_and_penalties_in_two_steps(folder, capsys):
    arguments = ["compare", "two.toml", "--seeds", "0-1", "--test-samples", "200", "--json", "--plot", "two.svg"]
    code, out, err = called(capsys, *arguments)
    rows = json.loads(out)["comparison"]
    assert code == 0 and "Wrote two.svg" in err
    assert [(row["eta"], row["penalty"]) for row in rows] == [(e, p) for e in (0, 6, 12) for p in (0.1, 1)]


def test_theory_and_simulation_agree(compared):
    """Two seeds in a thousand settings would fail this; the perturbed prediction always does."""
    for row in compared.rows:
        for gap in (row.test_error, row.train_error, row.train_objective):
            assert abs(gap.in_se) < 5 or abs(gap.percent) < 8
    wrong = replace(compared.rows[0].test_error, predicted=1.5 * compared.rows[0].test_error.measured)
    assert wrong.percent == pytest.approx(50) and wrong.in_se > 5


def test_the_curve_is_fine_and_goes_through_the_prediction(compared, setting):
    curve, prediction = compared.prediction.curve, compared.theory
    assert len(curve.eta) >= 60 and prediction.eta == (0.0, 6.0) and prediction.setting == setting
    direct = gs.theory(setting)
    for name in ("test_error", "train_error", "train_objective", "risk", "captured", "null_level"):
        np.testing.assert_allclose(getattr(prediction, name), getattr(direct, name), rtol=1e-10)
    places = [curve.eta.index(eta) for eta in prediction.eta]
    np.testing.assert_allclose(np.asarray(curve.test_error)[places], prediction.test_error)
    assert compared.prediction.limit.eta == curve.eta


def test_a_curve_in_the_penalty_and_none_at_all(setting):
    protocol = setting.protocol
    flat = replace(setting, protocol=replace(protocol, steps=(), readout=gs.Ridge(150, [10.0, 0.1, 1.0])))
    found = lab.predict(flat)
    assert found.theory is not None and found.curve is not None and found.curve.penalty is not None
    assert found.theory.penalty == (10.0, 0.1, 1.0) and len(found.curve.penalty) >= 60 and found.limit is None
    np.testing.assert_allclose(found.theory.test_error, gs.theory(flat).test_error)
    single = replace(setting, protocol=replace(protocol, steps=(), readout=gs.Ridge(150, 0.1)))
    assert lab.predict(single).curve is None
    assert list(lab.predict(single)) == [lab.predict(single).theory] or len(list(lab.predict(single))) == 1


def test_a_penalty_chosen_by_gcv_is_told_twice(setting):
    protocol = replace(setting.protocol, steps=(), readout=gs.Ridge(150, "gcv"))
    found = lab.compare(replace(setting, protocol=protocol), range(3), n_test=200)
    row = found.rows[0].to_dict()
    assert row["penalty"] > 0 and row["penalty_predicted"] > 0 and row["eta"] is None
    assert "penalty predicted" in str(found)


def test_one_seed_has_no_error_for_the_training_error(setting):
    protocol = replace(setting.protocol, steps=(), readout=gs.Ridge(150, 0.1))
    found = lab.compare(replace(setting, protocol=protocol), 0, n_test=200)
    (row,) = found.rows
    assert row.train_error is not None and row.train_error.in_se is None
    assert row.test_error is not None and row.test_error.in_se is not None
    assert found.rows[0].to_dict()["train_error"]["gap_se"] is None and "simulated" in str(found)


def drawn(figure) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in figure.axes[0].get_lines()]


def test_a_comparison_is_dots_over_a_line(compared):
    figure = gs.plot(compared)
    lines = drawn(figure)
    for k in range(2):
        assert any(np.array_equal(y, compared.simulation.mean().test_error[:, k]) for y in lines)
        assert any(len(y) >= 60 and np.array_equal(y, compared.prediction.curve.test_error[:, k]) for y in lines)
        assert any(len(y) >= 60 and np.allclose(y, compared.prediction.limit.test_error[:, k]) for y in lines)
    told = [text.get_text() for legend in figure.axes[0].findobj(Legend) for text in legend.texts]
    assert {"simulation", "equivalent model", "theory", "published limit", "0.1", "1"} <= set(told)


def test_one_outcome_or_several(compared):
    theory_line = gs.plot(compared.prediction.curve).axes[0].get_lines()
    assert len(theory_line) == 2  # one a penalty
    both = drawn(gs.plot([compared.simulation, compared.theory], "train_error"))
    assert any(len(y) >= 60 and np.isclose(y, compared.theory.train_error[1, 0]).any() for y in both)  # a smooth line
    single = replace(
        compared.setting, protocol=replace(compared.setting.protocol, steps=(), readout=gs.Ridge(150, 0.1))
    )
    assert gs.plot([gs.simulate(single, n_test=100), gs.theory(single)]).axes
    with pytest.raises(gs.InputError, match="one axis"):
        gs.plot([compared.simulation, gs.theory(single)])
    with pytest.raises(gs.InputError, match="takes an Outcome"):
        gs.plot([compared.simulation, 3])  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="takes an Outcome"):
        gs.plot([])


def test_a_spectrum_has_the_predicted_law_on_top(setting, monkeypatch):
    monkeypatch.setattr(lab, "predicted_spectrum", lambda setting: LAWS)
    found = lab.compare(setting, range(2), n_test=100, spectrum=True)
    assert list(found.theory.outliers) == [0, 1] and "bulk edge" in str(found)
    figure = gs.plot(found, "spectrum")
    assert len(figure.axes) == 2
    for ax, law in zip(figure.axes, LAWS, strict=True):
        lines = [line for line in ax.get_lines() if np.size(line.get_xdata()) == 21]
        assert np.allclose(np.asarray(lines[0].get_ydata())[:-1], law.density) and ax.patches
    assert any(np.allclose(line.get_xdata(), 6.0) for line in figure.axes[1].get_lines())


def test_a_setting_is_checked_before_anything_runs(setting):
    with pytest.raises(gs.InputError, match="setting must be a Setting"):
        lab.compare("setting.toml")  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="equivalent"):
        lab.compare(setting, equivalent="exact")
