"""Worlds in which our own claims on one giant step are wrong."""

from worlds.altered import Change, longer, noisier, reused

from giantstep.claims import paired

WORLDS: dict[str, dict[str, Change]] = {
    "giantstep/one-curve": {
        "the readout uses the batch of the step": reused,
        "labels have additional noise of variance 1": noisier(1.0),
    },
    "giantstep/optimal": {
        "the step is three times as long": longer(paired, 3.0),
        "labels have additional noise of variance 1": noisier(1.0),
    },
}
