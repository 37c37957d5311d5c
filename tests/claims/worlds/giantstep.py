"""Worlds in which our own claims on one giant step are wrong."""

from worlds.altered import Change, longer, noisier, reused

import giantstep as gs
from giantstep_papers.giantstep import images
from giantstep_papers.shared import paired


def _other(**changes: float) -> Change:
    """The experiment on images with another width, batch or penalty."""

    def wrong(size, first, second, ratio):
        m = round(images.SIZES[size] * changes.get("batch", 1.0))
        k = round(ratio * images.SIZES[size] * changes.get("width", 1.0))
        penalty = images.PENALTY * changes.get("penalty", 1.0)
        return gs.presets.fashion(m, k, (first, second), images.ETA, penalty, path="sample")

    return lambda patch: patch.setattr(images, "experiment", wrong)


WORLDS: dict[str, dict[str, Change]] = {
    "giantstep/one-curve": {
        "the readout uses the batch of the step": reused,
        "labels have additional noise of variance 1": noisier(1.0),
    },
    "giantstep/images": {
        "the network has a third of the neurons": _other(width=1 / 3),
        "the batches have a quarter of the images": _other(batch=0.25),
    },
    "giantstep/optimal": {
        "the step is three times as long": longer(paired, 3.0),
        "labels have additional noise of variance 1": noisier(1.0),
    },
}
