"""Two steps at linear width: the signal matrix against averages over W0, closed forms, limits, and simulations."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import giantstep as gs
from giantstep import measure
from giantstep.cli import app
from giantstep.experiment import draw
from giantstep.simulate import train
from giantstep.theory.two_steps._null_matrix import initial, null, shuffles
from giantstep.theory.two_steps.predict import limit
from giantstep.theory.two_steps.signal import draws, outlier, second_slopes, signal

SMOOTH = "tanh(x+0.8)"


def preset(d=60, alpha1=0.35, alpha2: float | tuple[float, ...] = 0.4, **options):
    given = {"C1": 2.7, "C2": 4.4, "residual": "target", **options}
    return gs.presets.moniri_hassani(15 * d, d, 4 * d, alpha1, alpha2, **given)


def signal_of(setting, seed):
    given, etas = draws(setting, seed), tuple(setting.protocol.etas(setting.d, setting.p).tolist())
    return given, signal(given, second_slopes(given, etas[0]), etas)


def two_steps(setting, W, a, X1, y1, X2, y2):
    """Literally, from any W0."""
    s, (first, second) = 1 / len(a), setting.protocol.etas(setting.d, setting.p)
    for eta, X, y in ((first, X1, y1), (second, X2, y2)):
        r = y - s * np.tanh(X @ W.T + 0.8) @ a if setting.protocol.steps[0].residual == "full" else y
        W = W + eta * s / len(y) * ((r[:, None] * a) / np.cosh(X @ W.T + 0.8) ** 2).T @ X
    return W


@pytest.mark.parametrize(
    "batch,residual", [("fresh", "target"), ("reuse", "target"), ("fresh", "full"), ("reuse", "full")]
)
def test_the_signal_is_the_mean_over_initial_weights(batch, residual):
    """W2 - W0 averaged over W0 with a and the batches fixed, along the leading directions of S."""
    d, p, n, seed = 60, 40, 400, 5
    setting = gs.presets.moniri_hassani(n, d, p, 0.3, 0.35, C1=1.2, C2=2.0, batch=batch, residual=residual)
    given, S = signal_of(setting, seed)
    first, second = draw.step_batches(setting)
    batches = (*draw.rows(setting, seed, first), *draw.rows(setting, seed, second))
    rng, found = np.random.default_rng(1), []
    for _ in range(150):
        W0 = rng.standard_normal((p, d)) / np.sqrt(d)
        change = two_steps(setting, W0, given.a, *batches) - W0
        found.append(np.einsum("pk,pd,dk->k", S.left[:, :3], change, S.right[:, :3]))
    mean, error = measure.mean_and_error(np.array(found).T)
    np.testing.assert_array_less(np.abs(mean - S.strengths[:3]), 4 * error + 0.02 * S.strengths[0])
    assert np.abs(mean[0] / S.strengths[0] - 1) < 0.02
    assert np.abs(mean[1] / S.strengths[1] - 1) < 0.12


def test_the_own_term_of_a_reused_batch():
    """After a tiny first step v_1 = X^T (y o (A k + B (u - k))) / n with A = E sigma' sigma'' and B = mu_1 mu_2."""
    d, n, p, cosines = 400, 2000, 300, []
    setting = gs.Setting(
        gs.Gaussian(d), gs.target("(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)"),
        gs.Network(p, "softplus(2*(x-1))/2", rows="gaussian", scale="1/p"),
        gs.Protocol((gs.GiantStep(n, 0.05), gs.GiantStep(None, 20.0, batch="reuse"))),
    )  # fmt: skip
    z, w = np.polynomial.hermite_e.hermegauss(80)
    slope, w = np.asarray(setting.network.activation.slope(z)), w / w.sum()
    A, B = w @ (z * slope**2) / 2, (w @ slope) * (w @ (z * slope))  # E[z sigma'^2] = 2 E[sigma' sigma'']
    for seed in range(4):
        given, S = signal_of(setting, seed)
        X, y, powers = given.X1, given.r1, measure.gram_schmidt_powers(given.a, 2)
        k = np.sum(X**2, axis=1) * y / n
        v = X.T @ (y * (A * k + B * (X @ given.beta - k))) / n
        moved = S.moved(powers)[:, 1] * p**2 / (powers[:, 1] @ given.a**2)  # eta_1 eta_2 = 1
        assert np.linalg.norm(moved - v) < 0.03 * np.linalg.norm(v)
        cosines.append(measure.cosine(moved, np.eye(d)[0]))
    y = ((z**2 - 1) / np.sqrt(2) + (z**3 - 3 * z) / np.sqrt(6)) / np.sqrt(2)
    top = (w @ (y**2 * z)) ** 2
    limit = np.sqrt(top / (top + d / n * (w @ y**4) + (B / A) ** 2 * (w @ y**2) ** 2))
    mean, error = measure.mean_and_error(np.array(cosines))
    assert abs(mean - limit) < 4 * error + 0.02


def test_the_series_of_a_fresh_batch():
    """S^T p_2 is along X2^T (y2 o X2 beta) for a small first step, and spikes of a second layer of signs are two."""
    setting = preset(80, 0.0, 0.4, C1=1e-3)
    given, S = signal_of(setting, 3)
    moved = S.moved(measure.gram_schmidt_powers(given.a, 2))[:, 1]
    assert measure.cosine(moved, given.X2.T @ (given.y2 * (given.X2 @ given.beta))) ** 2 > 0.999
    _, S = signal_of(preset(80, second_layer="rademacher"), 3)
    assert S.strengths[1] > 1 and np.all(S.strengths[2:] < 1e-9)
    _, S = signal_of(preset(80, second_layer="constant"), 3)
    assert np.all(S.strengths[1:] < 1e-9)


def test_outliers_of_a_white_matrix():
    rng, p, d = np.random.default_rng(2), 1200, 300
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(p), rng.standard_normal(d)))
    found = measure.spectrum(rng.standard_normal((p, d)) / np.sqrt(d) + 2.5 * np.outer(u, v), vectors=1)
    position, right, left = outlier(2.5, p / d)
    assert found.values[0] == pytest.approx(position, rel=0.02)
    assert (found.right[:, 0] @ v) ** 2 == pytest.approx(right, abs=0.04)
    assert (found.left[:, 0] @ u) ** 2 == pytest.approx(left, abs=0.04)
    assert outlier(1.0, 4.0) == (3.0, 0.0, 0.0)
    below, above = outlier(4**0.25 - 1e-9, 4.0)[0], outlier(4**0.25 + 1e-9, 4.0)[0]
    assert below == pytest.approx(above)


def test_without_steps_the_null_matrix_is_its_own_initial_one():
    setting = preset(50)
    given = draws(setting, 1)
    slopes = second_slopes(given, 0.0)
    Y = null(given, slopes, shuffles(given, slopes), (0.0, 0.0), 1, False)
    np.testing.assert_allclose(Y, initial(1, 200, 50, False))
    assert abs(np.corrcoef(Y.ravel(), draw.weights(setting, 1)[0].ravel())[0, 1]) < 0.05  # not the seed's own W0


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
@pytest.mark.parametrize("rows", ["target", "full"])
def test_the_prediction_and_a_simulation(batch, rows):
    setting = preset(80, 0.4, 0.45, batch=batch, residual=rows)
    said = gs.theory.second_step(setting, 7)
    assert not isinstance(said, tuple)
    seen = measure.layer(train(setting, 7, dtype="float32").final.astype(float), setting.target.orthonormal(80))
    assert said.count == seen.count == 3 and said.limit == 5
    np.testing.assert_allclose(said.positions[:2], seen.positions[:2], rtol=0.04)
    np.testing.assert_allclose(said.layer.alignment[:2], seen.alignment[:2], atol=0.08)
    assert said.layer.edge == pytest.approx(seen.edge, rel=0.03)
    assert ("output enters" in str(said)) == (rows == "full")


def test_step_sizes_in_a_list_share_the_first():
    setting = preset(60, 0.35, (0.2, 0.4))
    both = gs.theory.second_step(setting, 2)
    alone = gs.theory.second_step(preset(60, 0.35, 0.4), 2)
    assert isinstance(both, tuple) and not isinstance(alone, tuple)
    np.testing.assert_allclose(both[1].layer.values, alone.layer.values)
    assert [one.limit for one in both] == [2, 3] and both[0].count <= both[1].count


@pytest.mark.parametrize(
    "alphas,expected", [((0.0, 0.3), 1), ((0.25, 0.25), 2), ((0.2, 0.3), 2), ((0.4, 0.45), 5), ((0.5, 0.2), None)]
)
def test_the_limit(alphas, expected):
    assert limit(preset(50, *alphas)) == expected


def test_notes_and_refusals():
    assert "k = 3" in str(gs.theory.second_step(preset(50, activation="relu"), 0))
    assert "two spikes at most" in str(gs.theory.second_step(preset(50, second_layer="rademacher", penalty=0.1), 0))
    base = preset(50)
    with pytest.raises(gs.InputError, match="has 1"):
        gs.theory.second_step(gs.presets.ba(600, 50, 200, 1.0, 0.1))
    with pytest.raises(gs.InputError, match="at least 40"):
        gs.theory.second_step(preset(30))
    with pytest.raises(gs.InputError, match="scale='1/p' only"):
        network = gs.Network(200, "tanh")
        steps = (gs.GiantStep(600, 1.0, residual="full"), gs.GiantStep(600, 1.0))
        gs.theory.second_step(gs.Setting(gs.Gaussian(50), gs.target("x1"), network, gs.Protocol(steps)))
    with pytest.raises(gs.InputError, match="GiB"):
        gs.theory.second_step(base, memory=0.001)


def test_the_law_of_the_rows_has_the_same_outliers():
    """Positions within 10% and cos^2 within 0.1 of one draw's: each outlier learns one more direction of the target."""
    s = gs.presets.moniri_hassani(1500, 300, 400, 0.4, 0.45, C1=2.7, C2=4.4, residual="target", penalty=0.1)
    law, drawn = gs.theory.spectrum(s, "weights", density=False), gs.theory.second_step(s)
    assert isinstance(law, gs.theory.Law) and isinstance(drawn, gs.theory.SecondStep)
    assert law.edge == pytest.approx(drawn.layer.edge, rel=0.1)
    for k, own in enumerate(law.outliers[:3]):
        assert own.position == pytest.approx(drawn.positions[k], rel=0.1)
        assert own.alignments == pytest.approx(drawn.layer.alignment[k], abs=0.1)
        assert np.argmax(own.alignments) == k


def test_predict_on_the_command_line(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(preset(50, 0.35, (0.2, 0.4)).to_toml())
    result = CliRunner().invoke(app, ["predict", str(path), "--json", "--plot", str(tmp_path / "two.svg")])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["predictions"]
    assert [one["limit"] for one in found] == [2, 3] and (tmp_path / "two.svg").exists()
    assert "bulk edge" in CliRunner().invoke(app, ["predict", str(path)]).stdout
    assert CliRunner().invoke(app, ["predict", str(path), "--regime", "limit"]).exit_code != 0


def test_powers_have_the_sign_of_a():
    a = np.random.default_rng(0).standard_normal(500)
    basis = measure.gram_schmidt_powers(a, 4)
    assert all(basis[:, k] @ a ** (k + 1) > 0 for k in range(4))
    np.testing.assert_allclose(measure.moved(np.outer(a, [1.0, 2.0]), a, 1)[:, 0], np.linalg.norm(a) * np.array([1, 2]))
