"""Errors and shares of symmetric networks after one giant step, at a width of the order of d."""

import numpy as np

from giantstep._machine.backend import on_host
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory._band import bands
from giantstep.theory.one_step import _grid as grid
from giantstep.theory.one_step._predict import lowest_gcv, move, told
from giantstep.theory.one_step.parameters import parameters
from giantstep.theory.pairs._errors import path
from giantstep.theory.pairs._rows import stepped_pairs


def paired(setting: Setting) -> Answer:
    """Predict one step of a symmetric network; the arrays are (E, L), the shares (E, r)."""
    notes: list[str] = []
    given = setting.protocol.readout
    assert isinstance(given, Ridge)
    numbers, form = parameters(setting)
    etas = np.atleast_1d(numbers.eta)
    # A neuron alone moves as it does in a network without pairs: the shares and the strength are those
    alone = grid.curves(numbers._replace(penalty=np.ones(1)), form)
    with on_host():
        made = [stepped_pairs(numbers._replace(eta=eta), form) for eta in etas]
        if given.penalty == "gcv":
            score = lambda many: np.stack([path(one, own)[0][3] for one, own in zip(made, many, strict=True)])  # noqa: E731
            penalties = lowest_gcv(score, len(made))
        else:
            penalties = np.tile(penalties_of(setting, notes), (len(made), 1))
        paths = [path(one, own) for one, own in zip(made, penalties, strict=True)]
    found = np.stack([e for e, _ in paths], axis=1)
    worst = max(float(np.max(r)) for _, r in paths)
    notes = [*told(setting, etas, alone), *notes]
    values = {"test_error": found[0], "train_error": found[1], "train_objective": found[2]}
    values |= bands(values, setting, move(alone, setting), found[4])
    penalty = penalties if given.penalty == "gcv" else penalties[0]
    return Answer(
        values | {"captured": alone.captured, "null_level": alone.null, "penalty": penalty}, notes, residual=worst
    )
