"""The charts of the view of giant steps, with their words and numbers."""

from typing import Any

import numpy as np

from giantstep.explorer import _controls as controls
from giantstep.explorer import _settings as settings
from giantstep.explorer._chart import chart, curve, marks, rule
from giantstep.explorer._state import GiantSteps
from giantstep.explorer.views.giant_steps._numbers import KnownPaths
from giantstep.measure import mean_and_error
from giantstep.plot._systems import in_plane, plane_names
from giantstep.plot.style import COLOURS

ORDER = ("first", "second", "third", "fourth")
GREY = "#9aa1a8"
DASHES = ("solid", "dash", "dot", "dashdot")  # of the directions: lines and dots that fall together are all seen
SIZES = (10, 7, 5, 4)
SMALL, LEAST = 0.25, 0.02  # shares that get an axis of their own, and its least top
CIRCLE = [{"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": "#7a828a", "width": 1}}]


def plane_marks(paths: KnownPaths) -> dict[str, Any]:
    """The legend of the plane."""
    own = {"disc first": "neuron with a > 0", "disc second": "neuron with a < 0", "line faint": "its path"}
    return (own if _known(paths) else {}) | ({"ring": "neuron of setting A"} if _known(paths.first) else {})


def _known(paths: KnownPaths | None) -> bool:
    return paths is not None and paths.best is not None


def plane_chart(s: GiantSteps, paths: KnownPaths) -> dict[str, Any]:
    """Every neuron's cosines with the first two directions: its place and its path."""
    axis = {"range": [-1.08, 1.08], "tickvals": [-1, -0.5, 0, 0.5, 1]}
    traces = []
    names = plane_names(settings.giant_steps(s).target.rank)
    if paths.best is not None:
        at = min(s.shown, s.steps)
        places = in_plane(paths.best)[0][: at + 1]  # (t, p, 2)
        gaps = np.concatenate([places, np.full((1, *places.shape[1:]), np.nan)])
        way = gaps.transpose(1, 0, 2).reshape(-1, 2)
        path = {"width": 1.2, "color": "rgba(122,130,138,0.55)"}
        traces.append(curve(way[:, 0], way[:, 1], "their paths", 0, line=path, hoverinfo="skip"))
        signs = np.where(paths.best.a > 0, COLOURS[0], COLOURS[1]).tolist()
        marker = {"color": signs, "size": 9, "line": {"width": 1, "color": "rgba(255,255,255,0.8)"}}
        words = [f"neuron {i + 1}, a = {a:.2f}" for i, a in enumerate(paths.best.a)]
        x, y = places[-1].T
        traces.append(marks(x, y, None, f"after step {at}", marker=marker, text=words, hoverinfo="text+x+y"))
    if paths.first is not None and paths.first.best is not None:
        there, _ = in_plane(paths.first.best)
        hollow = {"color": "rgba(0,0,0,0)", "size": 9, "line": {"width": 1.5, "color": GREY}}
        x, y = there[min(s.shown, len(there) - 1)].T
        traces.append(marks(x, y, None, "neurons of A", marker=hollow, hoverinfo="skip"))
    up = {**axis, "title": names[1], "scaleanchor": "x", "scaleratio": 1}
    moves = {"transition": {"duration": 500, "easing": "cubic-in-out"}}
    return chart(traces, {**axis, "title": names[0]}, up, shapes=CIRCLE, **moves)


def plane_words(s: GiantSteps, paths: KnownPaths) -> str:
    if paths.best is None:
        return "The neurons appear when they are simulated." if paths.busy else "There are no neurons to show."
    at = min(s.shown, s.steps)
    source = "simulation" if paths.chain is not None else "theory"
    shares, of_a = _along(paths.best, at), ""
    if paths.first is not None and paths.first.best is not None:
        of_a = f" Setting A has {_along(paths.first.best, at)}."
    chance = f"A random neuron has 1/d = {1 / settings.dimension(s)[0]:.2g}."
    signs = "Blue neurons have a positive second-layer weight, red ones a negative one."
    return f"After step {at} the mean share (cos²) of a neuron is {shares}, by {source}.{of_a} {chance} {signs}"


def _along(evolution: Any, at: int) -> str:
    """The mean share along every direction after a step, or after the last one before it."""
    means = evolution.shares[min(at, len(evolution.shares) - 1)].mean(axis=0)
    return ", ".join(f"{x:.3g} along w{k + 1}" for k, x in enumerate(means))


def plane_rows(s: GiantSteps, paths: KnownPaths) -> Any:
    """The table behind the plane."""
    if paths.best is None:
        return []
    at = min(s.shown, s.steps)
    places, names = in_plane(paths.best)
    rows = [[str(i + 1), f"{paths.best.a[i]:.3f}", *(f"{x:.4f}" for x in place)] for i, place in enumerate(places[at])]
    return controls.numbers(["neuron", "a", *names], rows, f"After step {at}")


def share_marks(paths: KnownPaths) -> dict[str, Any]:
    """The legend of the shares: the directions that the target has, and what is drawn."""
    count = 0 if paths.best is None else paths.best.M.shape[2]
    found: dict[str, Any] = {f"disc {ORDER[k]}": f"w{k + 1}" for k in range(count)}
    if paths.chain is not None:
        found["dots"] = "simulation"
    if paths.theory is not None:
        found["line ink"] = "theory"
    return found | ({"line faint": "setting A"} if _known(paths.first) else {})


def share_chart(s: GiantSteps, paths: KnownPaths) -> dict[str, Any]:
    """The mean share against the steps: simulated dots and predicted lines."""
    traces = [] if paths.first is None else _first(paths.first)
    for k in range(0 if paths.best is None else paths.best.M.shape[2]):
        if paths.theory is not None:
            y = paths.theory.shares[:, :, k].mean(axis=1)
            traces.append(curve(list(range(len(y))), y, f"w{k + 1}, theory", k, line={"dash": DASHES[k]}))
        if paths.chain is not None:
            mean, error = mean_and_error(paths.chain.shares[:, :, k])
            size = {"size": SIZES[k]}
            traces.append(marks(list(range(len(mean))), mean, error, f"w{k + 1}, simulated", k, marker=size))
    x = {"title": "step", "range": [-0.2, s.steps + 0.2], "dtick": 1}
    here, top = [rule(min(s.shown, s.steps))], _top(paths)
    return chart(traces, x, {"title": "mean cos² with the direction", "range": [-0.02 * top, 1.02 * top]}, shapes=here)


def _top(paths: KnownPaths) -> float:
    """The top of the axis: 1, or less where all shares are small, as after two steps on a reused batch."""
    every = [*paths.known, *(paths.first.known if paths.first is not None else [])]
    largest = max((float(one.shares.mean(axis=1).max()) for one in every), default=1.0)
    return 1.0 if largest > SMALL else max(LEAST, 1.2 * largest)


def _first(paths: KnownPaths) -> list[dict[str, Any]]:
    """The shares of the setting A, the theory's if there is one."""
    best = paths.theory if paths.theory is not None else paths.best
    if best is None:
        return []
    means, line = best.shares.mean(axis=1), {"color": GREY, "width": 1.6}  # (t, r)
    return [
        curve(list(range(len(y))), y, f"A: w{k + 1}", 0, line={**line, "dash": DASHES[k]})
        for k, y in enumerate(means.T)
    ]


def share_words(s: GiantSteps, paths: KnownPaths) -> str:
    if paths.theory is None:
        dots = "" if paths.chain is None else "Dots are the simulation, with the standard error over neurons. "
        return f"{dots}{paths.refusal}"
    if paths.chain is None:
        return "Lines are the limit d → ∞ at this n/d."
    gap = float(np.max(np.abs(paths.chain.shares.mean(axis=1) - paths.theory.shares.mean(axis=1))))
    return f"Dots are the simulation and lines the limit d → ∞ at this n/d; they differ by {gap:.2g} at most."


def share_rows(s: GiantSteps, paths: KnownPaths) -> Any:
    """The table behind the shares."""
    both = [(name, one) for name, one in (("simulated", paths.chain), ("theory", paths.theory)) if one is not None]
    columns = [
        (f"w{k + 1}, {name}", one.shares[:, :, k].mean(axis=1)) for name, one in both for k in range(one.M.shape[2])
    ]
    rows = [[str(t), *(f"{values[t]:.5g}" for _, values in columns)] for t in range(s.steps + 1)]
    return controls.numbers(["step", *(name for name, _ in columns)], rows) if columns else []
