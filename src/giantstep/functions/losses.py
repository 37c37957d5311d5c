"""Losses of a prediction f: their slopes, their conjugates, and the step of dual coordinate ascent. NumPy or JAX.

    square        l(f) = (f - y)^2 / 2
    logistic      l(f) = log(1 + exp(-y f)),   y = +1 or -1
    exponential   l(f) = exp(-y f), without the last two

The conjugate is ``l*(g) = max_f g f - l(f)``; ``l(f) + l*(g) - g f >= 0`` is zero where ``g = l'(f)`` (Fenchel and Young).
"""

from giantstep.functions._named import Array, namespace

LOSSES = ("square", "logistic")  # with a conjugate here
CLASSES = ("square", "exponential", "logistic")  # of a margin y f
SMOOTH = {"square": 1.0, "logistic": 0.25}  # the largest l''


def value(loss: str, f: Array, y: Array | float) -> Array:
    """The loss l(f)."""
    if loss == "square":
        return (f - y) ** 2 / 2
    if loss == "exponential":
        return namespace(f).exp(-y * f)
    return namespace(f).logaddexp(0.0, -y * f)


def slope(loss: str, f: Array, y: Array | float) -> Array:
    """The derivative l'(f)."""
    if loss == "square":
        return f - y
    if loss == "exponential":
        return -y * namespace(f).exp(-y * f)
    xp = namespace(f)
    return -y * xp.exp(-xp.logaddexp(0.0, y * f))


def bend(loss: str, f: Array, y: Array | float) -> Array:
    """The second derivative l''(f)."""
    if loss == "square":
        return namespace(f).ones_like(f)
    if loss == "exponential":
        return y * y * namespace(f).exp(-y * f)
    s = -y * slope(loss, f, y)
    return s * (1 - s)


def conjugate(loss: str, g: Array, y: Array) -> Array:
    """The conjugate l*(g): g^2/2 + g y, or a log a + (1 - a) log(1 - a) with a = -y g in [0, 1], infinite beyond."""
    if loss == "square":
        return g * g / 2 + g * y
    xp = namespace(g)
    a = -y * g
    inside = xp.clip(a, 1e-300, 1 - 1e-16)
    entropy = inside * xp.log(inside) + (1 - inside) * xp.log1p(-inside)
    return xp.where((a < -1e-12) | (a > 1 + 1e-12), xp.inf, entropy)


def ascent(loss: str, g: Array, f: Array, y: Array, k: Array | float) -> Array:
    """The g' that maximises ``-l*(g') + g' f - (k/2) (g' - g)^2`` (JAX)."""
    if loss == "square":
        return (f - y + k * g) / (1 + k)
    from giantstep._machine.backend import jax  # the other functions serve nouns, which do without it

    a0 = -y * g

    # v = logit a solves v + y f + k (a - a0) = 0, which increases in v
    def halve(_: Array | int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        v = (low + high) / 2
        above = v + y * f + k * (jax.nn.sigmoid(v) - a0) > 0
        return jax.numpy.where(above, low, v), jax.numpy.where(above, v, high)

    low, high = jax.lax.fori_loop(0, 50, halve, (-y * f - k * (1 - a0), -y * f + k * a0))
    return -y * jax.nn.sigmoid((low + high) / 2)


def steepest(loss: str, bound: float, labels: Array) -> float:
    """The largest |l'(f)| for |f| <= bound, which is also how much the loss changes with f."""
    return 1.0 if loss == "logistic" else bound + float(abs(labels).max())
