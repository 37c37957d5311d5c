"""The picture of outcomes. Measured values are dots with error bars; predicted ones are lines."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from giantstep._given.callable import callable_module
from giantstep._given.declared import given, list_of, text
from giantstep._given.plain import choice, several
from giantstep.errors import InputError, quoted
from giantstep.explain.explanation import Explanation
from giantstep.plot import _errors as _errors
from giantstep.plot import _spectra as _spectra
from giantstep.plot import _sweep as _sweep
from giantstep.plot._band import TRUSTED
from giantstep.plot._systems import neurons, panels, shares
from giantstep.plot.frame import PictureFrame, place_of_legend, words_of_title
from giantstep.plot.style import drawable, svg
from giantstep.results.outcome import LABELS, Outcome
from giantstep.results.system import Finding
from giantstep.results.trajectory import Evolution

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TRUSTED", "plot", "svg"]


class Explains(Protocol):
    """A fitted estimator."""

    def explain(self) -> Any: ...


@given(what=text, labels=list_of(text, "names"), ax=drawable, legend=place_of_legend, title=words_of_title)
def plot(
    outcome: "Outcome | Iterable[Outcome | Finding | Evolution] | Finding | Evolution | Explanation | Explains | xr.Dataset",
    what: str = "test_error",
    *,
    labels: Sequence[str] | None = None,
    ax: "Axes | None" = None,
    legend: Literal[False, "inside", "outside"] | None = None,
    title: str | bool | None = None,
) -> "Figure":
    """An error against the step size, the penalty or the rate; or what="spectrum": histograms of the singular values.

    Several outcomes are drawn over each other: measured ones as dots (equivalent models hollow), those of ``theory`` as lines,
    the published limit as dashed lines. Several step sizes are the x axis, and each penalty is a colour; without them the
    penalties are the x axis. Outcomes of different settings have different colours. Seeds are averaged; bars are one standard
    error. The band of a prediction is shaded, and its line is dashed where the band is wider than 10% on either side. A
    prediction at a few step sizes or penalties is computed at more of them, so that its line is smooth.

    Args:
        outcome: an outcome or several, also a Comparison; or findings about one system, whose curves are then drawn.
            Evolutions, simulated or predicted, are drawn as "neurons" (the first of them) or what="shares". An
            explanation is drawn as its staircase with the terms that are fitted. The Dataset of a sweep is drawn against its
            longest axis, predictions with their bands; one with two axes of at least five numbers each is drawn as a phase
            diagram. Its title says what all points have in common. A fitted estimator is drawn as what it has learned:
            ``model.explain().plot()``.
        what: "test_error", "risk", "train_error", "train_objective" or "spectrum"; of a sweep any of its measures.
        labels: names for the legend, one for each outcome or one for each setting. Outcomes of one name share a colour, and
            so do a simulation, its equivalent model and its theory.
        ax: axes of matplotlib to draw on, for a picture of one panel; by default a new figure. A figure that has no layout
            of its own then gets matplotlib's constrained layout, so that no label is cut.
        legend: "outside" is one legend above the axes, or below several panels; "inside" is one over the data, and False is
            none. On axes of yours it is outside.
        title: the words above the picture; True writes its setting there and False nothing. On axes of yours there is none.

    Texts of its own figures are TrueType fonts in PDF and PS files, as publishers ask. For a figure of yours write
    ``matplotlib.rcParams.update({"pdf.fonttype": 42, "ps.fonttype": 42})`` before you save it.

    Beside an outcome of ``theory`` a spectrum is predicted (``theory.spectrum``), which takes a while; a Comparison made with
    ``spectrum=True`` has it already.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=[0.0, 0.4], penalty=0.1)
        >>> fig = gs.plot([gs.simulate(s, seed=range(3)), gs.theory(s)])
        >>> fig.savefig("errors.png")
    """
    frame = PictureFrame(ax, legend, title)
    if callable(getattr(outcome, "explain", None)):  # an estimator, which may not be fitted and then says so
        outcome = outcome.explain()  # type: ignore[union-attr]
    if isinstance(outcome, Explanation):
        from giantstep.plot._staircase import picture

        _refuse("an explanation", ax=ax, labels=labels, legend=legend, title=title)
        return picture(outcome)
    if hasattr(outcome, "directions") and callable(getattr(outcome, "plot", None)):
        _refuse("an estimator", ax=ax, labels=labels, legend=legend, title=title)
        return outcome.plot()  # type: ignore[union-attr]
    if hasattr(outcome, "data_vars"):
        _refuse("a sweep", labels=labels)
        return _sweep.picture(outcome, None if what == "test_error" else what, frame)
    if what == "spectrum" and hasattr(outcome, "laws"):
        # a Prediction or a Comparison has its theory at the step sizes listed, and may have the spectra already
        _refuse("a spectrum", labels=labels)
        own = [getattr(outcome, name) for name in ("theory", "simulation") if hasattr(outcome, name)]
        return _spectra.picture(own, outcome.laws, frame)  # type: ignore[union-attr]
    entries = several(outcome, "outcome")
    given = (outcome,) if entries is None else entries
    paths = [e for e in given if isinstance(e, Evolution)]
    if paths:
        what = choice("neurons" if what == "test_error" else what, ("neurons", "shares"), "what")
        _refuse("an evolution", labels=labels)
        return neurons(paths[0], frame) if what == "neurons" else shares(paths, frame)
    findings = [f for f in given if isinstance(f, Finding)]
    if findings:
        _refuse("a finding", ax=ax, labels=labels, legend=legend, title=title)
        return panels(findings)
    outcomes = _several(given)
    if what == "spectrum":
        _refuse("a spectrum", labels=labels)
        return _spectra.picture((outcomes[-1], *outcomes), None, frame)
    for o in outcomes:
        if not isinstance(what, str) or what not in LABELS or getattr(o, what) is None:
            known = ", ".join(k for k in LABELS if getattr(o, k) is not None)
            raise InputError(f"cannot plot {quoted(what)}: this outcome has {known}")
    return _errors.picture([o.mean() for o in outcomes], what, labels, frame)


def _several(outcomes: tuple[Any, ...]) -> tuple[Outcome, ...]:
    if not outcomes or not all(isinstance(o, Outcome) for o in outcomes):
        wrong = next((type(o).__name__ for o in outcomes if not isinstance(o, Outcome)), "nothing")
        advice = ": draw gs.simulate(setting) or gs.theory(setting)" if wrong == "Setting" else ""
        raise InputError(
            "plot takes an Outcome or several, an Explanation, the Dataset of a sweep, an Evolution, a Finding or a fitted "
            f"estimator, not {wrong}{advice}"
        )
    if len({_errors.axis_of(o) for o in outcomes}) > 1:
        raise InputError(
            "outcomes drawn together need one axis: list the step sizes in all of them, or in none, and the penalties too"
        )
    return outcomes


def _refuse(what: str, **options: Any) -> None:
    """Refuse options that a picture does not have."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name}= is an option for outcomes; the picture of {what} does not have it")


callable_module(__name__, plot)
