"""One giant step on given data: the gradient of the first layer, for every route that trains one.

The loss and minus its gradient in W, with s the scale of the network:

    loss = (1/2n) sum_mu (y_mu - f(x_mu))^2,   f(x) = s sum_i a_i sigma(<w_i, x>)
    -gradient = (s/n) [(r a^T) o sigma'(X W^T)]^T X,   r = y - f(X), or r = y for residual="target"
"""

from jaxtyping import Float

from giantstep._machine.arrays import Array, compiled
from giantstep.functions.activation import Activation


def residuals(
    H: Float[Array, "n p"],
    a: Float[Array, " p"],
    y: Float[Array, " n"],
    *,
    sigma: Activation,
    scale: float | Float[Array, ""],
    full: bool,
) -> Float[Array, " n"]:
    """r from the preactivations H = X W^T."""
    return y - scale * (sigma(H) @ a) if full else y


def descent_rows(
    H: Float[Array, "n p"],
    a: Float[Array, " p"],
    y: Float[Array, " n"],
    *,
    sigma: Activation,
    scale: float | Float[Array, ""],
    full: bool,
) -> Float[Array, "n p"]:
    """C = s (r a^T) o sigma'(H): n times minus the gradient is C^T X, so a step needs only H and C^T X from X."""
    return weighted_slopes(H, a, y, sigma=sigma, scale=scale, full=full) * (scale * a)


def weighted_slopes(
    H: Float[Array, "n p"],
    a: Float[Array, " p"],
    y: Float[Array, " n"],
    *,
    sigma: Activation,
    scale: float | Float[Array, ""],
    full: bool,
) -> Float[Array, "n p"]:
    """diag(r) sigma'(H), which the neurons' own factors s a make C."""
    return residuals(H, a, y, sigma=sigma, scale=scale, full=full)[:, None] * sigma.slope(H)


@compiled(static_argnames=("sigma", "full"))
def descent_sum(
    H: Float[Array, "n p"],
    a: Float[Array, " p"],
    X: Float[Array, "n d"],
    y: Float[Array, " n"],
    *,
    sigma: Activation,
    scale: float | Float[Array, ""],
    full: bool,
) -> Float[Array, "p d"]:
    """n times minus the gradient, summed over the rows given (so that chunks add up); H = X W^T."""
    if X.shape[1] > a.shape[0]:
        return descent_rows(H, a, y, sigma=sigma, scale=scale, full=full).T @ X
    # C^T X = s diag(a) sigma'(H)^T diag(r) X: fewer numbers of X than of C meet a factor
    r = residuals(H, a, y, sigma=sigma, scale=scale, full=full)
    return (scale * a)[:, None] * (sigma.slope(H).T @ (r[:, None] * X))


@compiled(static_argnames=("sigma", "full"))
def direction_sum(
    H: Float[Array, "n p"],
    a: Float[Array, " p"],
    X: Float[Array, "n d"],
    y: Float[Array, " n"],
    *,
    sigma: Activation,
    scale: float | Float[Array, ""],
    full: bool,
) -> Float[Array, " d"]:
    """n times ``beta = X^T r / n`` over the rows given: the direction of the gradient's rank-one part ``c_1 s a beta^T``."""
    return X.T @ residuals(H, a, y, sigma=sigma, scale=scale, full=full)
