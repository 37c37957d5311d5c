"""Each paper's experiment from its own parameters, as a Setting in our notation (docs/notation.md has the table).

Arguments carry the papers' letters; step sizes are not comparable across presets. A test runs every preset literally as
its paper writes it and compares with ours to 1e-10.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from giantstep._given.declared import at_least, given, number, one_of
from giantstep._given.plain import as_numbers, flag, real, reals, whole
from giantstep.errors import InputError, hint
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.data.mixture import COUNTS, Component, Mixture, Spike
from giantstep.experiment.network import ROWS, SECOND_LAYERS, Network
from giantstep.experiment.protocol import BATCHES, RESIDUALS, UPDATES, GiantStep, Power, Protocol, Ridge
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target, target

LARGEST = 20.0  # exponent of the dimension
TARGET = "x1 + H2(x1)/sqrt(2)"


def _target(source: Any, noise: float, scale: str = "1") -> Target:
    if isinstance(source, Target) and noise:
        raise InputError("give the noise either with the target or as an argument, not both")
    return target(source, noise=noise, scale=scale) if not isinstance(source, Target) else source


@given(n=whole, d=whole, N=whole, C=real, noise=number(0.0), rows=one_of(*ROWS), residual=one_of(*RESIDUALS))
def moniri(
    n: int,
    d: int,
    N: int,
    alpha: Any,
    penalty: Any,
    *,
    C: float = 1.0,
    target: Any = TARGET,
    noise: float = 0.0,
    activation: Any = "relu",
    rows: str = "sphere",
    residual: str = "full",
) -> Setting:
    """Moniri, Lee, Hassani, Dobriban (arXiv 2310.07891): a step ``C n^alpha``, ``f(x) = a^T sigma(W x)``, ``a ~ N(0, I/N)``.

    Ridge: ``(1/n) ||y - F a||^2 + lambda ||a||^2`` on n new samples; sigma is centred. ``residual="target"`` drops the
    initial output, which this scaling leaves of order one (see the claim moniri/normalisation-trap).

    Examples:
        >>> s = gs.presets.moniri(n=500, d=300, N=400, alpha=[0.1, 0.3], penalty=0.01, target="x1", noise=1.0)
        >>> s.d, s.p, s.protocol.sizes()
        (300, 400, (500,))
    """
    step = GiantStep(n, Power(alpha, "n", C), residual=residual)
    network = Network(N, activation, rows=rows, centred=True)
    return Setting(Gaussian(d), _target(target, noise), network, Protocol((step,), Ridge(n, penalty)))


@given(n=whole, d=whole, N=whole, noise=number(0.0), update=one_of(*UPDATES))
def ba(
    n: int,
    d: int,
    N: int,
    eta: float | Iterable[float] | Power,
    penalty: Any,
    *,
    target: Any = TARGET,
    noise: float = 0.0,
    activation: Any = "tanh",
    update: str = "gradient",
) -> Setting:
    """Ba et al. (arXiv 2205.01445): ``f(x) = N^(-1/2) a^T sigma(W^T x)``, ``a_j ~ N(0, 1/N)``, ``W_ij ~ N(0, 1/d)``.

    Step: ``W <- W + eta sqrt(N) G``. Ridge: ``(1/n) ||y - N^(-1/2) sigma(X W) a||^2 + (lambda/N) ||a||^2``.

    Examples:
        >>> gs.presets.ba(n=400, d=200, N=300, eta=1.0, penalty=0.1).network.scale
        '1/p'
    """
    step = GiantStep(n, _times(eta, N**0.5), residual="full", update=update)
    network = Network(N, activation, rows="gaussian", scale="1/p")
    return Setting(Gaussian(d), _target(target, noise), network, Protocol((step,), Ridge(n, penalty)))


@given(
    n=whole,
    d=whole,
    N=whole,
    C1=real,
    C2=real,
    batch=one_of(*BATCHES),
    noise=number(0.0),
    second_layer=one_of(*SECOND_LAYERS),
    residual=one_of(*RESIDUALS),
)
def moniri_hassani(
    n: int,
    d: int,
    N: int,
    alpha1: Any,
    alpha2: Any,
    *,
    C1: float = 1.0,
    C2: float = 1.0,
    batch: str = "fresh",
    penalty: Any = None,
    target: Any = "x1 + x1*x2 + H2(x1)*x3/sqrt(2)",
    noise: float = 0.0,
    activation: Any = "tanh(x+0.8)",
    second_layer: str = "gaussian",
    residual: str = "full",
) -> Setting:
    """Moniri and Hassani (arXiv 2605.17767): two steps ``C1 N^alpha1``, ``C2 N^alpha2``, fresh batches or one.

    ``f(x) = N^(-1/2) a^T sigma(W x)``, ``a_i ~ N(0, 1/N)`` (or signs over sqrt(N)), ``W_ij ~ N(0, 1/d)``, and
    ``W <- W + eta (1/n) [(a r^T) o sigma'(W X^T)] X``: eta of order one makes the first outlier. The exponents may be lists that
    move together. A penalty adds a readout on n new samples, as in ``ba``.

    Examples:
        >>> s = gs.presets.moniri_hassani(n=1500, d=100, N=400, alpha1=0.4, alpha2=0.45)
        >>> len(s.protocol.steps)
        2
    """
    first = GiantStep(n, _raised(alpha1, C1), residual=residual)
    second = GiantStep(None if batch == "reuse" else n, _raised(alpha2, C2), batch=batch, residual=residual)
    network = Network(N, activation, rows="gaussian", second_layer=second_layer, scale="1/p")
    readout = None if penalty is None else Ridge(n, penalty)
    return Setting(Gaussian(d), _target(target, noise), network, Protocol((first, second), readout))


def _raised(alpha: Any, factor: float) -> Power:
    """sqrt(p) C p^alpha: a of unit second moment and the scale 1/p have the paper's gradient over sqrt(p)."""
    power = Power(alpha, "p", factor)
    return Power((np.asarray(power.alpha) + 0.5).tolist(), "p", power.times)


@given(n=whole, d=whole, p=whole, steps=at_least(0), half=flag, noise=number(0.0), deflate=at_least(0))
def dandi(
    n: int,
    d: int,
    p: int,
    eta: Any,
    penalty: Any,
    *,
    steps: int = 1,
    half: bool = False,
    target: Any = "x1 + x2 + x1^2 - x2^2",
    noise: float = 0.0,
    activation: Any = "relu",
    deflate: int = 0,
) -> Setting:
    """Dandi et al. (arXiv 2305.18270): ``f(x) = (1/p) sum a_i sigma(<w_i, x>)``, ``a_i = +-1`` in pairs that cancel.

    Every step has a fresh batch. Second layer: ``(1/n) sum loss + (lambda/p) ||a||^2`` with loss ``(y - f)^2``, or half
    of it with ``half=True``.

    Examples:
        >>> s = gs.presets.dandi(n=400, d=100, p=200, eta=200.0, penalty=0.1, steps=2)
        >>> s.network.symmetric, s.protocol.sizes()
        (True, (400, 400))
    """
    many = (GiantStep(n, eta, residual="full", deflate=deflate),) * steps
    network = Network(p, activation, second_layer="rademacher", scale="1/p", symmetric=True)
    return Setting(
        Gaussian(d), _target(target, noise), network, Protocol(many, Ridge(n, _times(penalty, (2 if half else 1) * p)))
    )


@given(n0=whole, n=whole, d=whole, p=whole, noise=number(0.0))
def cui(
    n0: int,
    n: int,
    d: int,
    p: int,
    eta: float | Iterable[float] | Power,
    penalty: Any,
    *,
    target: Any = "tanh(x1)",
    noise: float = 0.0,
    activation: Any = "tanh",
) -> Setting:
    """Cui et al. (arXiv 2402.04980): ``f(x) = p^(-1/2) sum a_i sigma(<w_i, x>)``, ``a_i = p^(-1/2)``, correlation loss.

    Step on n0 samples: ``w_i <- w_i + eta (1/n0) sum y sigma'(<w_i, x>) x``. Readout on n samples:
    ``sum (y - theta^T phi / sqrt(p))^2 + lambda ||theta||^2``.

    Examples:
        >>> s = gs.presets.cui(n0=400, n=200, d=100, p=100, eta=2.0, penalty=0.1)
        >>> s.protocol.steps[0].n, s.protocol.readout.n
        (400, 200)
    """
    step = GiantStep(n0, _times(eta, p))
    network = Network(p, activation, second_layer="constant", scale="1/p")
    readout = Ridge(n, _times(penalty, p / n))
    return Setting(Gaussian(d), _target(target, noise), network, Protocol((step,), readout))


@given(
    n=whole,
    m=whole,
    k=whole,
    alpha=number(0.0, LARGEST),
    beta=number(0.0, LARGEST),
    rho=real,
    alignment=real,
    strengths=reals,
    spiked_target=flag,
    counts=one_of(*COUNTS),
    seed=at_least(0),
    noise=number(0.0),
)
def demir(
    n: int,
    m: int,
    k: int,
    eta: Any = None,
    penalty: Any = 1e-4,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    rho: float = 0.5,
    alignment: float = 0.0,
    strengths: Iterable[float] = (1.0,),
    spiked_target: bool = False,
    counts: str = "exact",
    seed: int = 0,
    target: Any = "relu(x1)",
    noise: float = 0.0,
    activation: Any = "relu",
) -> Setting:
    """Demir and Dogan (ICLR 2025): input n, samples m, width k, on two components ``N(0, I + theta gamma_c gamma_c^T)``.

    ``theta = n^(beta (1 - alpha))`` and, unless given, ``eta = n^(beta alpha)``; ``rho`` is the weight of the first component,
    ``alignment`` the cosine of gamma_1 and gamma_2, and every component has a spike ``t theta`` for each t of ``strengths``.
    Labels are ``target(xi^T x)``, or ``target`` = "-1 | 1" by component, with xi of length ``||Sigma||^(-1/2)``, random or, with
    ``spiked_target``, along gamma_1 + gamma_2. Without alpha and beta the data are isotropic.

    ``f(x) = k^(-1/2) w^T sigma(F x)``, ``w_i ~ N(0, 1/k)``, ``F_ij ~ N(0, 1/Tr Sigma)``. Readout:
    ``(1/2m) ||y - k^(-1/2) sigma(X F^T) w||^2 + (lambda/2) ||w||^2``. Their plots show half our test error.

    Examples:
        >>> s = gs.presets.demir(n=200, m=200, k=100, alpha=0.5, beta=1.0)
        >>> s.d, s.p, len(s.data.components)
        (200, 100, 2)
    """
    readout = Ridge(m, _times(penalty, k))
    if alpha is None and beta is None:
        step, network = GiantStep(m, eta, residual="full"), Network(k, activation, rows="gaussian", scale="1/p")
        return Setting(Gaussian(n), _target(target, noise), network, Protocol((step,), readout))
    alpha, beta = real(alpha, "alpha", least=0.0), real(beta, "beta", least=0.0)
    theta = n ** (beta * (1 - alpha))
    strengths = tuple(np.atleast_1d(reals(strengths, "strengths")).tolist())
    spikes = _spikes(theta, strengths, _cosine(alignment), spiked_target)
    parts = tuple(Component(w, own) for w, own in zip((rho, 1 - rho), spikes, strict=True))
    step = GiantStep(m, Power(beta * alpha, "d") if eta is None else eta, residual="full")
    network = Network(k, activation, rows="trace", scale="1/p")
    labels = _target(target, noise, scale="1/sqrt(spread)")
    return Setting(Mixture(n, parts, seed, counts), labels, network, Protocol((step,), readout))


@given(m=whole, k=whole)
def fashion(
    m: int = 500,
    k: int = 500,
    classes: tuple[int, int] = (0, 1),
    eta: Any = 1.0,
    penalty: Any = 1e-4,
    *,
    activation: Any = "relu",
    centre: str = "class",
    signal: float | None = 1.0,
    counts: str = "exact",
    path: Any = None,
) -> Setting:
    """Demir and Dogan (ICLR 2025) on Fashion-MNIST: two classes with labels -1 and 1, samples m, width k, d = 784.

    ``x = sqrt(signal d / Tr S_c) (pixels - mean of the class) + N(0, I)`` with S_c the covariance of class c; network, step and
    readout as in ``demir``. The paper's inputs are samples of a generative model trained on the images, here the images. Their
    plots show half our test error. Two stages of m take at most 12,000 images, or 2,800 of the sample that comes with giantstep,
    and a test at most 2,000; ``path`` is that of ``Dataset``.

    Examples:
        >>> s = gs.presets.fashion(m=200, k=100, classes=(5, 9))
        >>> s.d, s.data.classes
        (784, (5, 9))
    """
    data = Dataset("fashion-mnist", classes, path, centre, signal, counts)
    if len(data.classes) != 2:
        raise InputError(f"fashion takes two classes, not {len(data.classes)}")
    network = Network(k, activation, rows="trace", scale="1/p")
    protocol = Protocol((GiantStep(m, eta, residual="full"),), Ridge(m, _times(penalty, k)))
    return Setting(data, target("-1 | 1"), network, protocol)


def _cosine(alignment: float) -> float:
    if abs(real(alignment, "alignment")) > 1:
        raise InputError(f"alignment is a cosine, between -1 and 1, not {alignment:g}")
    return float(alignment)


def _spikes(theta: float, strengths: tuple[float, ...], s: float, axes: bool) -> tuple[tuple[Spike, ...], ...]:
    """Spikes of two components, in pairs of cosine s; with ``axes`` x1 lies along the sum of the first pair."""
    first: list[Any] = [f"u{i + 1}" for i in range(len(strengths))]
    second: list[Any] = [{u: s, f"v{i + 1}": (1 - s * s) ** 0.5} for i, u in enumerate(first)]
    if axes:
        if s == -1:
            raise InputError("spiked_target needs an alignment above -1: opposite directions have no sum")
        c, r = ((1 + s) / 2) ** 0.5, ((1 - s) / 2) ** 0.5
        first[0], second[0] = {"x1": c, "x2": r}, {"x1": c, "x2": -r}
    return tuple(tuple(map(Spike, (np.array(strengths) * theta).tolist(), own)) for own in (first, second))


@given(n=whole, d=whole, N=whole, noise=number(0.0))
def mei_montanari(
    n: int, d: int, N: int, penalty: Any, *, target: Any = "x1", noise: float = 0.0, activation: Any = "relu"
) -> Setting:
    """Mei and Montanari (2022): random features, no step; ``(1/n) ||y - F a||^2 + (N lambda / d) ||a||^2``.

    Inputs are Gaussian here, on a sphere in the paper.

    Examples:
        >>> gs.presets.mei_montanari(n=300, d=100, N=200, penalty=0.01).protocol.steps
        ()
    """
    readout = Ridge(n, _times(penalty, N / d))
    return Setting(Gaussian(d), _target(target, noise), Network(N, activation), Protocol((), readout))


def _times(values: Any, factor: float) -> Any:
    """A number or several times a factor; what is neither ("gcv", or bad input) goes on as it is, to be judged there."""
    if isinstance(values, Power):
        return Power(values.alpha, values.of, factor * values.times)
    array = as_numbers(values)
    return values if array is None or array.dtype.kind == "b" else (factor * array.astype(float)).tolist()


def __getattr__(name: str) -> Any:
    """Answer a mistyped preset with the nearest one."""
    presets = [
        key for key, value in globals().items() if getattr(value, "__module__", "") == __name__ and key[0] != "_"
    ]
    raise AttributeError(f"there is no preset {name!r}{hint(name, presets)}")
