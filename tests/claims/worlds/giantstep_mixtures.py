"""Wrong worlds for this project's own claims."""

from worlds.altered_settings import World, length, networks, penalty, reused, unscaled

WORLDS: dict[str, dict[str, World]] = {
    "giantstep/mixtures": {
        "the penalty is 1.7 times as large": networks(penalty(1.7)),
        "the step is forgotten": networks(length(0.0)),
        "the readout reuses the batch of the step": networks(reused),
    },
    "giantstep/fitted": {
        "the penalty is counted twice": networks(penalty(2.0)),
        "the penalty is half as large": networks(penalty(0.5)),
    },
    "giantstep/labels-shrink": {
        "labels are not scaled": networks(unscaled),
        "the step is forgotten": networks(length(0.0)),
    },
}
