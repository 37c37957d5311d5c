"""The conditional theory's fixed point by a damped loop in plain NumPy: same equations, same tolerance."""

import numpy as np


def damped(features, penalty: float, tolerance: float = 1e-9, damping: float = 0.5, most: int = 20_000):
    """q, delta and the number of sweeps of the loop q, delta <- half old, half new."""
    omega, pi, modes, gain, noise, variance, p_over_d, p_over_n = (np.asarray(x) for x in features[:8])
    J, K = gain.shape
    q, delta = np.full(J, 1 / (penalty + 1)), np.full(K, float(p_over_n) / (penalty + 1))
    for sweep in range(1, most + 1):
        alpha = pi / (1 + delta)
        right, trace = penalty + noise @ alpha, (omega * q) @ noise
        for weight, V in zip(modes, variance, strict=True):
            G = p_over_d * (gain.T * (omega * q * V)) @ gain
            inner = np.linalg.inv(np.diag(1 / alpha) + G)  # (A^{-1} + G)^{-1}
            right = right + weight * V * np.einsum("jk,kl,jl->j", gain, inner, gain)
            trace = trace + weight / p_over_d * np.diag(G - G @ inner @ G)  # S = G - G (A^{-1} + G)^{-1} G
        change = max(np.max(np.abs(q * right - 1)), np.max(np.abs(p_over_n * trace / delta - 1)))
        if change < tolerance:
            return q, delta, sweep
        q, delta = damping * q + (1 - damping) / right, damping * delta + (1 - damping) * p_over_n * trace
    return q, delta, most
