"""The picture of spectra: histograms of the singular values of F/√n, and the predicted densities over them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.plot.frame import OWN, PictureFrame
from giantstep.plot.style import canvas, law_panel, spectrum_panel
from giantstep.results.outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from giantstep.theory import Law

PANELS = 4  # step sizes whose spectrum is shown


def picture(outcomes: Sequence[Outcome], laws: "Sequence[Law] | None", frame: PictureFrame = OWN) -> "Figure":
    """Singular values of F / sqrt(n), one panel for each step size: the histogram of all seeds and the predicted density."""
    measured = next((o for o in outcomes if o.singular_values is not None), None)
    predicted = next((o for o in outcomes if o.route == "theory"), None)
    shape = measured or predicted
    if shape is None:
        raise InputError("this outcome has no spectrum: simulate with spectrum=True")
    etas = [None] if shape.eta is None else list(np.ravel(shape.eta))
    shown = np.unique(np.linspace(0, len(etas) - 1, min(len(etas), PANELS)).astype(int))
    with canvas(frame.ax, len(shown), width=3.2) as (fig, axes):
        if laws is not None:
            laws = [laws[e] for e in shown]
        elif predicted is not None:
            laws = _laws(shape.setting, shown)
        for i, (own, e) in enumerate(zip(np.atleast_1d(axes), shown, strict=True)):
            if measured is not None:
                spectrum_panel(own, _of_seeds(measured)[e], show_edge=laws is None)
            if laws is not None:
                law_panel(own, laws[i])
        every = np.atleast_1d(axes)
        if len(every) == 1 and frame.single:
            frame.explain(every[0], _first_labels(every)[0])
        elif frame.legend is not False:
            columns = 4 if len(shown) > 1 else 2
            fig.legend(*_first_labels(every), loc="outside lower center", ncols=columns)
        for own, e in zip(every, shown, strict=True):
            if etas[e] is not None:
                frame.entitle(own, f"η = {etas[e]:.3g}")
    return fig


def _of_seeds(o: Outcome) -> np.ndarray:
    """The singular values of every seed, for each step size: shape (step sizes, seeds, values)."""
    values = np.asarray(o.singular_values)
    return values.reshape(len(values) if "eta" in o.axes else 1, -1, values.shape[-1])


def _first_labels(axes: Iterable["Axes"]) -> tuple[list, list]:
    """The handles and labels of a legend, with every label once."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return list(handles.values()), list(handles)


def _laws(setting: Setting, shown: np.ndarray) -> "list[Law]":
    """The spectra at some places of the lists of step sizes, which move together."""
    from giantstep.theory import spectrum

    protocol = setting.protocol
    some = [
        replace(step, eta=tuple(step.etas(n, setting.d, setting.p)[shown].tolist())) if step.listed else step
        for step, n in zip(protocol.steps, protocol.sizes(), strict=True)
    ]
    setting = replace(setting, protocol=replace(protocol, steps=tuple(some)))
    laws = spectrum(setting)
    return list(laws) if isinstance(laws, tuple) else [laws]
