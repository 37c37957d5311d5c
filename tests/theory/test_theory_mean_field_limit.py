"""One-pass SGD as the width grows: the equations of Saad and Solla for p neurons tend to a flow of one neuron's law, as 1/p."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf

import giantstep as gs
from giantstep.functions.hermite import gauss_hermite
from giantstep.theory import sgd

TARGET, TIME, RECORDS = "erf(x1) + 0.5*erf(x2)", 15, 6


def risks(p, d=10**6):
    """The risk along the path of p neurons, by the equations for all their overlaps."""
    network = gs.Network(p, "erf", scale="1/p", second_layer="rademacher")
    setting = gs.Setting(gs.Gaussian(d), gs.target(TARGET), network, gs.Protocol((), None))
    return sgd(setting, TIME * d, p / d, records=RECORDS, start="limit").risk


def limit():
    """The flow of the law of one neuron (Rotskoff and Vanden-Eijnden, Mei et al. 2018), by quadrature.

    A neuron has the overlaps m with the target, q with itself and c with any other (up to the sign of its a: erf is odd). With g
    the field that all share, lambda = g + sqrt(q - c) z, so that f = E_z erf(lambda), and with Delta = f* - f

        dm = E[Delta sigma' x],    dq = 2 E[Delta sigma' lambda] + E[Delta^2 sigma'^2],    dc = 2 E[Delta S g] + E[Delta^2 S^2]

    where S = E_z sigma'(lambda).
    """
    (x, w) = gauss_hermite(24)
    points = np.stack([each.ravel() for each in np.meshgrid(x, x, x, indexing="ij")])
    weights = np.einsum("i,j,k->ijk", w, w, w).ravel()
    star = erf(points[0]) + 0.5 * erf(points[1])

    def field(state):
        m, q, c = state[:2], state[2], state[3]
        g = m @ points[:2] + np.sqrt(max(c - m @ m, 0.0)) * points[2]
        return g, 1 + 2 * (q - c), star - erf(g / np.sqrt(1 + 2 * (q - c)))

    def flow(_, state):
        g, wide, delta = field(state)
        S = 2 / np.sqrt(np.pi * wide) * np.exp(-(g**2) / wide)
        wider = 2 * wide - 1  # 1 + 4 (q - c)
        square = 4 / (np.pi * np.sqrt(wider)) * np.exp(-2 * g**2 / wider)  # E_z sigma'^2
        pull = weights @ (delta * S * g)
        noise = [weights @ (delta**2 * each) for each in (square, S**2)]
        return [*(points[:2] @ (weights * delta * S)), 2 * pull / wide + noise[0], 2 * pull + noise[1]]

    at = np.linspace(0, TIME, RECORDS)
    path = solve_ivp(flow, (0, TIME), [0.0, 0.0, 1.0, 0.0], t_eval=at, rtol=1e-7, atol=1e-9).y.T
    return np.array([weights @ field(state)[2] ** 2 for state in path])


def test_wide_networks_under_one_pass_sgd_follow_the_mean_field_flow():
    """The gap of p neurons to the flow halves as p doubles, and what is left after extrapolation is of order 1/p^2."""
    four, eight, flow = risks(4), risks(8), limit()
    gaps = (four - flow) / (eight - flow)
    assert np.all(np.abs(gaps - 2) < 0.3), gaps
    np.testing.assert_allclose(2 * eight - four, flow, rtol=0.03)
    assert np.all(np.abs(eight / flow - 1) > 0.02)  # eight neurons alone are not there yet
    assert flow[0] == pytest.approx(0.58, abs=0.01)
