"""The scenes of one giant step on white noise, or of none."""

from typing import Any

import numpy as np

from giantstep import measure
from giantstep.explain import explain
from giantstep.lab.optimum import optimal
from giantstep.plot import TRUSTED
from giantstep.plot.style import histogram, law_line
from giantstep.results.outcome import Outcome
from giantstep.results.table import with_error
from giantstep.simulate import simulate
from giantstep.story import _figure as figure
from giantstep.story._scene import Scene
from giantstep.theory import spectrum, theory

SEEDS = range(8)
SAMPLES = (50, 75, 100, 150, 200, 300, 400, 600, 800)
ETAS = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
BEND = 4.0  # the axis of step sizes is asinh(eta / BEND): it has a zero, and is logarithmic far from it
BINS = 41


def random_features(scene: Scene) -> dict[str, Any]:
    """The test error against n, without any step, and the floor that random features cannot cross."""
    (width,) = scene.controls
    s = scene.setting
    least = float(explain(s.target).floor["random_features"])
    frames = []
    for p in width.values:
        fine = np.geomspace(SAMPLES[0], SAMPLES[-1], 33).round().astype(int)
        line = [theory(s.with_(width=p, n=int(n))).test_error for n in fine]
        found = [simulate(s.with_(width=p, n=n), SEEDS, progress=False).mean() for n in SAMPLES]
        last = found[-1]
        words = f"With {p} neurons the test error ends at {with_error(last.test_error, last.test_error_se)}. "
        words += f"A perfect fit of the linear part would leave {least:g}."
        marks = [
            figure.level(least, "floor of random features"),
            *figure.line(fine, line, "theory"),
            figure.dots(
                SAMPLES, [o.test_error for o in found], [o.test_error_se for o in found], "simulation, 8 networks"
            ),
        ]
        frames.append(figure.frame(marks, words))
    x = figure.axis("samples n", SAMPLES[0], SAMPLES[-1], log=True)
    return figure.figure(x, figure.axis("test error", 0), frames)


def cosines(scene: Scene) -> dict[str, Any]:
    """The histogram of the cosines of the neurons with the target's direction at every step size."""
    (eta,) = scene.controls
    seeds = SEEDS[:4]
    o = simulate(scene.setting.with_(eta=tuple(map(float, eta.values))), seeds, progress=False)
    mean, edges = o.mean(), np.linspace(-1, 1, BINS)
    frames = []
    for i, size in enumerate(eta.values):
        cosine = np.ravel(o.overlaps[i, :, :, 0] / o.norms[i])
        heights = np.histogram(cosine, edges, density=True)[0]
        error = with_error(mean.test_error[i], mean.test_error_se[i])
        words = f"With η = {size} a neuron has cos² = {mean.captured[i, 0]:.3f} on average. "
        words += f"Chance gives {1 / scene.setting.d:.3f}. The test error is {error}."
        frames.append(figure.frame([figure.bars(edges, heights, "neurons of 4 networks")], words))
    x = figure.axis("cosine of a neuron with the target's direction", -1, 1)
    return figure.figure(x, figure.axis("density", 0), frames)


def spikes(scene: Scene) -> dict[str, Any]:
    """The singular values of the features, their predicted density and the predicted places of the outliers."""
    from giantstep.experiment.protocol import power

    (alpha,) = scene.controls
    s = scene.setting.with_(eta=power([float(a) for a in alpha.values]))
    laws, o = spectrum(s), simulate(s, SEEDS[:4], spectrum=True, progress=False)
    assert isinstance(laws, tuple)
    frames = []
    for i, (a, law) in enumerate(zip(alpha.values, laws, strict=True)):
        values = o.singular_values[i]  # (seeds, index)
        out = [each for own in values for each in measure.outliers(own, measure.bulk_edge(own))]
        edge = np.mean([measure.bulk_edge(own) for own in values])
        _, _, heights, bins = histogram(np.ravel(values)[np.ravel(values) <= edge])
        count, seen = len(law.visible), float(np.mean(o.outliers[i]))
        eta = s.protocol.sizes()[0] ** float(a)
        spikes = f"{count or 'no'} spike{'s' * (count > 1)}"
        words = f"With α = {a} the step size is η = {eta:.3g}. Theory expects {spikes} above the bulk. "
        words += f"The simulated networks have {f'{seen:.3g} on average' if seen else 'none'}."
        if seen > len(law.outliers):  # without the noise they have as many as theory
            words += " The rest comes mostly from the noise of the gradient."
        elif seen > count:
            words += " The next spike is just leaving the bulk."
        marks = [
            figure.bars(bins, heights, "bulk, 4 networks"),
            figure.wedges(out, "outliers, 4 networks"),
            *figure.line(*law_line(law), "bulk, theory", 3),
        ]
        if law.visible:
            marks.append(figure.upright([each.position for each in law.visible], "spikes, theory"))
        frames.append(figure.frame(marks, words))
    return figure.figure(figure.axis("singular values of F/√n", 0), figure.axis("density", 0), frames)


def best_step(scene: Scene) -> dict[str, Any]:
    """The test error against the step size for every penalty, with the predicted optimum."""
    (penalty,) = scene.controls
    frames = []
    for value in penalty.values:
        s = scene.setting.with_(penalty=float(value))
        best = optimal(s, over="eta")
        o = simulate(s.with_(eta=ETAS), SEEDS, progress=False).mean()
        least = int(np.argmin(o.test_error))
        error = with_error(o.test_error[least], o.test_error_se[least])
        words = f"With λ = {value} theory finds the best step at η = {best.eta:.3g}. "
        words += f"Of the simulated steps η = {ETAS[least]:g} is best. Its test error is {error}."
        even = BEND * np.sinh(np.linspace(0, np.arcsinh(ETAS[-1] / BEND), 61))  # evenly spaced on the axis
        line = theory(s.with_(eta=tuple(even.tolist())))
        marks = [*_predicted(line, line.eta), _measured(o, o.eta), figure.upright([best.eta], "best step, theory")]
        frames.append(figure.frame(marks, words))
    return figure.figure({**figure.axis("step size η", 0, ETAS[-1]), "asinh": BEND}, figure.axis("test error"), frames)


def limits(scene: Scene) -> dict[str, Any]:
    """The test error against the exponent of the step size at every dimension, at fixed ratios."""
    from giantstep.experiment.protocol import power

    (dimension,) = scene.controls
    alphas: Any = scene.setting.protocol.steps[0].eta.alpha  # type: ignore[union-attr]
    frames = []
    for d in map(int, dimension.values):
        s = scene.setting.with_(d=d, n=4 * d, p=2 * d)
        o = simulate(s, SEEDS, progress=False).mean()
        fine = np.linspace(alphas[0], alphas[-1], 29)
        line = theory(s.with_(eta=power(fine.tolist())))
        gaps = [
            100 * (np.interp(a, fine, line.test_error) / o.test_error[alphas.index(a)] - 1) for a in (0.2, alphas[-1])
        ]
        small, large = map(_gap, gaps)
        words = f"In {d} dimensions the prediction is {small} at α = 0.2. At α = {alphas[-1]:g} it is {large}."
        frames.append(figure.frame([*_predicted(line, fine), _measured(o, alphas)], words))
    return figure.figure(
        figure.axis("exponent α of the step size n^α", 0, alphas[-1]), figure.axis("test error"), frames
    )


def _gap(percent: float) -> str:
    if not round(percent):
        return "less than 1% off"
    return f"{abs(round(percent))}% too {'high' if percent > 0 else 'low'}"


def _predicted(o: Outcome, x: Any) -> list[figure.Mark]:
    """The band and the line of a prediction; the line is dashed where the band is wide, as in ``gs.plot``."""
    low, high = np.moveaxis(np.asarray(o.test_error_band), -1, 0)
    unsure = high - low > 2 * TRUSTED * np.abs(o.test_error)
    return [figure.band(x, low, high), *figure.line(x, o.test_error, "theory", dashed=unsure)]


def _measured(o: Outcome, x: Any) -> figure.Mark:
    return figure.dots(x, o.test_error, o.test_error_se, "simulation, 8 networks")
