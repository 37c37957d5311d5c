"""Where a target of several directions is taken: links to the other views, with the setting."""

import math
from typing import Any

from dash import dcc, html

from giantstep.errors import InputError
from giantstep.explorer import _settings as settings
from giantstep.explorer._state import VIEWS, Explain, GiantSteps, OneStep, ViewState, within, write

ROOM = 10  # dimensions for every neuron and direction, from which the theory there holds


def elsewhere(s: OneStep) -> list[Any]:
    """The views that take the target of a refused state."""
    from giantstep import target

    try:
        rank = target(s.target).rank
    except InputError:
        return []
    if rank < 2:
        return []
    found = [_lead("Explain", "says which directions a step finds", _explained(s))]
    if rank <= settings.DIRECTIONS:
        found.insert(0, _lead("Giant steps", f"takes up to {settings.DIRECTIONS} directions", giant_steps(s, rank)))
    return found


def _lead(title: str, does: str, to: ViewState) -> html.P:
    name = next(name for name, kind in VIEWS.items() if isinstance(to, kind))
    link = dcc.Link("open it with this setting", href=f"/{name}?{write(to)}")
    return html.P([f"{title} {does}: ", link, "."])


def giant_steps(s: OneStep, rank: int) -> GiantSteps:
    """The same target, activation, dimension, samples and length of the step, as far as that view has them.

    The network is narrow enough for the theory there. It has the scale 1/p in the place of 1/sqrt(p):
    a step eta' p moves neurons as far as eta if eta' = eta/sqrt(p).
    """
    n, p = settings.sizes(s)
    chosen: dict[str, Any] = {"d": within(GiantSteps, "d", math.log10(s.d))}
    chosen["kappa"] = within(GiantSteps, "kappa", math.log10(n) / chosen["d"])
    chosen["eta"] = within(GiantSteps, "eta", n**s.alpha / math.sqrt(p))
    chosen["width"] = int(within(GiantSteps, "width", min(GiantSteps.width, s.d / ROOM - rank)))
    return GiantSteps(target=s.target, activation=s.activation, **chosen)


def _explained(s: OneStep) -> Explain:
    return Explain(target=s.target, activation=s.activation, steps=1)
