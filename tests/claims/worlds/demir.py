"""Wrong worlds for the claims of Demir and Dogan: the networks are altered, the equivalent models and theory are not."""

from worlds.altered_settings import World, length, networks, penalty, reused

NO_STEP = networks(length(0.0))
FOUR = networks(penalty(4.0))
REUSED = networks(reused)
PANEL = {"the penalty is four times as large": FOUR, "the step is forgotten": NO_STEP}
QUARTER = networks(penalty(0.25))
WORLDS: dict[str, dict[str, World]] = {
    "demir/width": {"the penalty is a quarter as large": QUARTER, "the step is forgotten": NO_STEP},
    "demir/weighting": PANEL,
    "demir/strength": PANEL,
    "demir/ratio": PANEL,
    "demir/alignment": PANEL,
    "demir/rank": PANEL,
    "demir/conditional": {
        "the penalty is 1.4 times as large": networks(penalty(1.4)),
        "the step is forgotten": NO_STEP,
        "the readout reuses the batch of the step": REUSED,
    },
    "demir/hermite": {
        "the penalty is 1.4 times as large": networks(penalty(1.4)),
        "the step is forgotten": NO_STEP,
    },
    "demir/fashion": {
        "the penalty is a tenth": networks(penalty(0.1)),
        "the step is five times as long": networks(length(5.0)),
    },
    "demir/fashion-step": {"the step is forgotten": NO_STEP, "the step is a tenth as long": networks(length(0.1))},
}
