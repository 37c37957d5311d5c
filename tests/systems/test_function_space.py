"""The kernel's eigenmodes by independent routes: Galerkin, sampling, quadrature in the limit, closed forms; and the system."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import giantstep as gs
from giantstep import measure, system
from giantstep.cli import run
from giantstep.functions.activation import activation, normalised
from giantstep.functions.hermite import gauss_hermite, hermite_table
from giantstep.lab.compare._systems import compare_system as beside
from giantstep.measure.kernel_modes import galerkin, profile
from giantstep.systems.function_space.simulate import covariance as covariance_of
from giantstep.systems.function_space.simulate import direction
from giantstep.theory import kernel
from giantstep.theory.kernel import Reshaped

SMOOTH = "tanh(x+0.8)"


def setting(
    d=60,
    p=480,
    n=120,
    eta: float | tuple[float, ...] = 1.5,
    *,
    sigma="relu",
    law="gaussian",
    scale="1/sqrt(p)",
    target="tanh(2*x1)",
    **step,
):
    """eta is eta~: the step size over the scale."""
    factor = {"1/sqrt(p)": p**0.5, "1/p": float(p), "1": 1.0}[scale]
    etas = tuple(e * factor for e in eta) if isinstance(eta, tuple) else eta * factor
    network = gs.Network(p, sigma, rows="gaussian", second_layer=law, scale=scale)
    return gs.Setting(gs.Gaussian(d), gs.target(target), network, gs.Protocol((gs.GiantStep(n, etas, **step),)))


def reshaped(case: gs.Setting, **options) -> Reshaped:
    """What theory says at a single step size."""
    said = gs.theory.kernel(case, **options)
    assert not isinstance(said, tuple)
    return said


@pytest.mark.parametrize("sigma", ["relu", SMOOTH, "relu(x-0.5)", "sin(x+pi/4)"])
def test_the_profile_is_that_of_the_stretched_activation(sigma):
    """alpha_k(nu) against the Hermite coefficients of the formula sigma(nu x)."""
    lengths = np.array([0.5, 1.0, 1.7, 3.0])
    found = profile(activation(sigma), lengths, 12)
    for nu, column in zip(lengths, found.T, strict=True):
        stretched = activation(sigma.replace("x", f"({nu}*x)") if "x" in sigma else f"relu({nu}*x)")
        np.testing.assert_allclose(column, normalised(stretched.hermite(12)), atol=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.integers(3, 9), st.integers(0, 10**6), st.floats(0.2, 3.0))
def test_a_rotation_changes_nothing_and_the_trace_is_bounded(d, seed, size):
    rng = np.random.default_rng(seed)
    W, u = size * rng.standard_normal((5, d)) / d**0.5, rng.standard_normal(d)
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    one, other = measure.kernel(W, "relu", u), measure.kernel(W @ Q, "relu", 7 * u @ Q)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-7, atol=1e-12)
    # sum of all eigenvalues: E K(x, x) = (1/p) sum_i E sigma(nu_i z)^2 = mean |w_i|^2 / 2
    assert one.values.sum() + (d - 1) * (one.transverse or 0) <= 0.5 * np.mean(np.sum(W**2, axis=1)) * (1 + 1e-9)


def test_one_neuron_along_u_is_its_own_eigenfunction():
    """W = nu u: K has the one eigenvalue E sigma(nu z)^2, and the eigenfunction sigma(nu tau)/its norm."""
    u, nu = np.eye(12)[3], 1.3
    modes = measure.kernel(nu * u[None], SMOOTH, u, order=60)
    sigma = activation(SMOOTH)
    x, w = gauss_hermite(150)
    power = w @ sigma(nu * x) ** 2
    assert modes.values[0] == pytest.approx(power, rel=1e-6) and modes.values[1] < 1e-12
    tau = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(modes.on(tau)[0], sigma(nu * tau) / power**0.5, atol=2e-3)


def test_the_basis_is_that_of_functions_of_tau_and_the_length_across():
    """One neuron in d = 3: its eigenvalue is E E[sigma(<w, x>) | tau, r]^2, by quadrature in tau, r^2 and the angle."""
    along, across = 0.7, 0.9
    sigma = activation("0.3*H1 + H2 + 0.2*H3 + 0.5*H4")
    modes = galerkin(sigma, np.array([along]), np.array([across]), np.ones(1), 3)
    (tau, w), (half, v) = gauss_hermite(12), np.polynomial.laguerre.laggauss(12)  # r^2/2 is exponential
    angle = 2 * np.pi * np.arange(16) / 16
    given = sigma(along * tau[:, None, None] + across * np.sqrt(2 * half)[:, None] * np.cos(angle)).mean(-1)
    assert modes.values[0] == pytest.approx(w @ given**2 @ v, rel=1e-9)
    radial = (tau[:, None] ** 2 + 2 * half - 3) / 6**0.5
    assert abs(modes.radial[0]) == pytest.approx(abs(w @ (given * radial) @ v) / modes.values[0] ** 0.5, rel=1e-9)
    # across: <sigma, f x_2> over all f(tau, r); the part of first harmonic, half of it along each of the two directions
    first = 2 * (
        sigma(along * tau[:, None, None] + across * np.sqrt(2 * half)[:, None] * np.cos(angle)) * np.cos(angle)
    ).mean(-1)
    assert modes.transverse == pytest.approx(w @ (first**2 / 2) @ v / 2, rel=1e-9)


@pytest.mark.parametrize("sigma", ["relu", SMOOTH])
def test_sampled_modes_agree_with_the_exact_ones(sigma):
    """All of the kernel on fresh points; sampling errors of sqrt(2/points), and 1/p for what the basis leaves out."""
    case = setting(30, 600, 300, 2.0, sigma=sigma)
    W, u = gs.simulate.train(case, 1).final, direction(case, 1)
    exact, sampled = measure.kernel(W, sigma, u), measure.kernel(W, sigma, u, points=6000, seed=3)
    assert sampled.points == 6000 and sampled.transverse is None
    for k in (exact.constant, exact.aligned):
        assert sampled.values[k] == pytest.approx(exact.values[k], rel=4 * (2 / 6000) ** 0.5)
    assert sampled.mixing == pytest.approx(exact.mixing, abs=2.0)
    k = exact.constant
    assert np.abs(sampled.radial[k]) == pytest.approx(np.abs(exact.radial[k]), abs=0.05)


def smoothed(sigma, t, b):
    """E sigma(b z + t): for ReLU b phi(t/b) + t Phi(t/b), else by Gauss-Hermite quadrature."""
    if sigma == "relu":
        return b * norm.pdf(t / b) + t * norm.cdf(t / b)
    z, w = gauss_hermite(60)
    return activation(sigma)(b[..., None] * z + t[..., None]) @ w


@pytest.mark.parametrize(
    ("sigma", "law"), [("relu", "gaussian"), ("relu", "rademacher"), (SMOOTH, "gaussian"), (SMOOTH, "constant")]
)
def test_theory_in_high_dimension_is_the_kernel_of_one_variable(sigma, law):
    """d to infinity: singular values of E_z sigma(b z + s a tau), a matrix over quadratures of tau and a."""
    case = setting(10**6, 2000, 4 * 10**6, sigma=sigma, law=law)
    said, (rows,) = reshaped(case), kernel.rows(case)
    tau, w = gauss_hermite(100)
    t = rows.strength * rows.a * tau[:, None]
    phi = smoothed(sigma, t, np.broadcast_to(rows.width, t.shape))
    left, values, _ = np.linalg.svd(np.sqrt(w)[:, None] * phi * np.sqrt(rows.weights), full_matrices=False)
    np.testing.assert_allclose(said.after.values[: min(2, values.size)], values[:2] ** 2, rtol=1e-4)
    one, two = (hermite_table(2, tau)[[0, 2]] * np.sqrt(w)) @ left[:, 0]
    if said.after.constant == 0:
        assert said.mixing == pytest.approx(np.degrees(np.arctan(two / one)), abs=0.01)


def test_closed_forms():
    """ReLU is x/2 + |x|/2: its odd block is h_1 alone, (s^2 + b^2/d)/4; before, 1/(4d), across and along."""
    case = setting(200, 800, 400)
    said, (rows,) = reshaped(case), kernel.rows(case)
    d, b2 = 200, float(rows.weights @ rows.width**2)
    assert said.before.transverse == pytest.approx(1 / (4 * d), rel=1e-3)
    aligned = (rows.strength**2 + b2 / d) / 4
    assert said.after.values[said.after.aligned] == pytest.approx(aligned, rel=1e-6)
    assert said.amplification == pytest.approx(4 * d * aligned, rel=1e-6)
    assert said.after.transverse == pytest.approx(b2 / (4 * d), rel=1e-3)
    # small steps: tan = (mu_2/mu_0) s^2/sqrt(2) = s^2/2 for ReLU, with s^2 + b^2/d for s^2 (mu_2 = mu_0 = 1/sqrt(2 pi))
    small, (few,) = (
        reshaped(setting(10**5, 800, 4 * 10**5, 0.1)),
        kernel.rows(setting(10**5, 800, 4 * 10**5, 0.1)),
    )
    assert np.tan(np.radians(small.mixing)) == pytest.approx(few.strength**2 / 2**0.5, rel=0.02)


@pytest.mark.parametrize(
    "options",
    [{}, {"law": "rademacher", "scale": "1/p"}, {"law": "constant"}, {"residual": "full"},
     {"law": "constant", "target": "relu(x1)"}, {"target": "relu(x1)", "deflate": 1},
     {"update": "rank1"}],
    ids=str,
)  # fmt: skip
def test_theory_given_the_second_layer_is_what_a_network_has(options):
    """At n = 2d; the eigenvalues of six networks over theory at 5 s.e. or 3%."""
    case = setting(60, 480, 120, 1.5, sigma=SMOOTH, **options)
    ratios = []
    for seed in range(6):
        found, beta = gs.simulate.train(case, seed), direction(case, seed)
        modes = measure.kernel(found.final, SMOOTH, beta)
        said = reshaped(case, second_layer=found.second_layer, beta=float(np.linalg.norm(beta))).after
        pairs = [(m.values[m.constant], m.values[m.aligned], m.transverse, m.mixing) for m in (modes, said)]
        ratios.append(np.divide(np.array(pairs[0], float), np.array(pairs[1], float)))
    mean, error = measure.mean_and_error(np.array(ratios), 0)
    assert np.all(np.abs(mean - 1) < np.maximum(5 * error, 0.03)) and np.all(error < 0.03), (mean, error)


def test_rho_is_seen_where_n_is_d():
    """Without it the variance of the rows, the radial eigenvalue and the angle are off; a rank-one step has none."""
    case = setting(60, 480, 60, 2.0)
    with_rho, without = reshaped(case), reshaped(case, rho=False)
    assert with_rho.spread > 1.3 and without.spread == pytest.approx(1.0)
    assert with_rho.after.values[0] > 1.1 * without.after.values[0] and with_rho.mixing < 0.9 * without.mixing
    assert reshaped(setting(60, 480, 60, 2.0, update="rank1")).spread == pytest.approx(1.0)
    found = [gs.simulate(gs.FunctionSpace(case), seed).numbers["spread"].value for seed in range(4)]
    assert np.mean(found) == pytest.approx(with_rho.spread, rel=0.04)


def test_the_spectrum_of_a_spiked_covariance_near_its_threshold(seed):
    """Rows drawn from the law itself: top eigenvalue and overlap where q is not small; below the threshold there is none."""
    d, p, s = 200, 800, 0.09
    case = setting(d, p, 400, update="rank1")
    law = kernel.RowLaw(np.array([-1.0, 1.0]), np.full(2, 0.5), s, 0.0, np.full(2, 1.2), np.ones(1))
    said, found = kernel.layer(case, law), []
    rng = np.random.default_rng(seed)
    for _ in range(12):
        W = 1.2 * rng.standard_normal((p, d)) / d**0.5
        W[:, 0] += s * rng.choice([-1.0, 1.0], p)
        values = covariance_of(W, np.eye(d)[0])
        found.append([values[name] for name in ("spread", "top", "overlap", "edge")])
    mean, error = measure.mean_and_error(np.array(found), 0)
    assert np.all(np.abs(mean - said) < np.maximum(5 * error, 0.03 * np.array(said))), (mean, error, said)
    weak = kernel.layer(case, replace(law, strength=0.04))
    assert weak.overlap == 0 and weak.top == weak.edge


def test_the_second_layer_by_quadrature_is_the_second_layer():
    a = np.random.default_rng(0).standard_normal(700)
    nodes, weights = kernel._gauss(a)
    for k in range(8):
        assert weights @ nodes**k == pytest.approx(np.mean(a**k), rel=1e-9)


def test_the_system_is_a_file_and_a_table(tmp_path, capsys):
    case = gs.FunctionSpace(setting(60, 480, 120, (0.5, 1.5)))
    path = tmp_path / "kernel.toml"
    path.write_text(case.to_toml())
    assert system.read(path) == case and gs.FunctionSpace(case.setting, rho=False).id != case.id
    again = system.from_plain(json.loads(json.dumps(gs.FunctionSpace(case.setting, rho=False).to_plain())))
    assert isinstance(again, gs.FunctionSpace) and again.rho is False
    assert run(["compare", str(path), "--seeds", "0-2", "--plot", str(tmp_path / "k.svg")]) == 0
    assert "amplification" in capsys.readouterr().out and (tmp_path / "k.svg").stat().st_size > 5000
    found = beside(case, range(3))
    assert set(found.simulation.numbers) == set(found.theory.numbers) and "mixings" in found.curves
    assert all(abs(found.gaps[k].percent) < 25 for k in ("top", "spread", "radial_after", "aligned_after", "strength"))
    note = gs.theory(gs.FunctionSpace(setting(60, 480, 120, law="constant"))).status.notes
    assert "A constant second layer" in note[0] and "white noise" in note[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: measure.kernel(np.ones((3, 4)), "relu", np.zeros(4)), "direction must be finite and not zero"),
        (lambda: measure.kernel(np.ones((3, 4)), "relu", np.ones(5)), "direction has d = 5 and W has d = 4"),
        (lambda: measure.kernel(np.ones((3, 4)), "relu", np.ones(4), order=400), "order must be a whole number from 4 to 100"),
        (lambda: measure.kernel(np.ones((3, 4)), "relu", np.ones(4), points=10**12), "GiB of memory"),
        (lambda: gs.theory.kernel(setting(sigma="x^2 - 1")), "c_1"),
        (lambda: gs.theory.kernel(setting(), second_layer=[np.nan]), "second_layer must be"),
        (lambda: gs.FunctionSpace(3), "setting must be a Setting"),  # type: ignore[arg-type]
        (lambda: gs.FunctionSpace(gs.presets.mei_montanari(50, 20, 30, 0.1)), "one giant step, not 0"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(gs.InputError) as error:
        call()
    assert sentence in str(error.value)
