"""The scene of data with structure: a spike along the target's direction."""

from typing import Any

import numpy as np

from giantstep.experiment.data.mixture import Component, Mixture, Spike
from giantstep.results.table import with_error
from giantstep.simulate import simulate
from giantstep.story import _figure as figure
from giantstep.story._scene import Scene
from giantstep.theory import theory

SEEDS = range(8)
SAMPLES = (100, 200, 400, 800)


def spike(scene: Scene) -> dict[str, Any]:
    """The test error over the variance of the labels against n, without and with a giant step, for spikes of every strength."""
    (strength,) = scene.controls
    base, frames = scene.setting, []
    fine = np.geomspace(SAMPLES[0], SAMPLES[-1], 25).round().astype(int).tolist()
    eta = float(base.protocol.steps[0].eta)  # type: ignore[arg-type]
    for theta in map(float, strength.values):
        data = Mixture(base.d, (Component(1.0, (Spike(theta, "x1"),)),))
        marks, last = [], []
        for ink, (name, size) in enumerate((("one giant step", eta), ("random features", 0.0))):
            settings = [base.with_(data=data, n=n, eta=size) for n in SAMPLES]
            found = [simulate(s, SEEDS, progress=False).mean() for s in settings]
            scale = [o.normalised / o.test_error for o in found]
            errors = [o.test_error_se * c for o, c in zip(found, scale, strict=True)]
            line = [theory(base.with_(data=data, n=n, eta=size)).normalised for n in fine]
            marks += figure.line(fine, line, f"{name}, theory", ink)
            marks.append(figure.dots(SAMPLES, [o.normalised for o in found], errors, f"{name}, simulation", ink))
            last.append(with_error(found[-1].normalised, errors[-1]))
        words = f"With θ = {theta:g} random features end at an error of {last[1]}. "
        words += f"After a giant step the network ends at {last[0]}."
        frames.append(figure.frame(marks, words))
    x = figure.axis("samples n", SAMPLES[0], SAMPLES[-1], log=True)
    return figure.figure(x, figure.axis("test error / variance of the labels", 0), frames)
