"""Charts of the page as plain data for plotly.js in the house style. The style sheet adapts their inks to the theme."""

import re
from collections.abc import Sequence
from typing import Any

from giantstep.plot.style import COLOURS, INK

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
BARE = {"showgrid": True, "zeroline": False, "ticks": "outside", "ticklen": 4, "fixedrange": True}


def chart(data: Sequence[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], **layout: Any) -> dict[str, Any]:
    """A figure with these traces and axes."""
    common = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": INK},
        "margin": {"l": 56, "r": 12, "t": 14, "b": 50},
        "hovermode": "closest",
        "dragmode": False,
        "showlegend": False,  # the page has its own: plotly's takes longer than the line
        "xaxis": {**BARE, **_axis(x)},
        "yaxis": {**BARE, "automargin": True, **_axis(y)},  # long numbers do not run into the title
    }
    return {"data": _known(data), "layout": {**common, **layout}}


def waiting(words: str = "Computing …") -> dict[str, Any]:
    """A chart without numbers that says so."""
    hidden = {"visible": False, "fixedrange": True}
    said = {"text": words, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    return chart([], {}, {}, xaxis=hidden, yaxis=hidden, annotations=[said])


def strip(x: Any, low: Any, high: Any, name: str, colour: int = 0) -> dict[str, Any]:
    """The area between two lines."""
    x, low, high = _list(x), _list(low), _list(high)
    area = {"fill": "toself", "fillcolor": f"{COLOURS[colour]}2b", "line": {"width": 0}, "mode": "lines"}
    return {"type": "scatter", "x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "name": name, "hoverinfo": "skip", **area}


def _known(data: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every trace its own id; otherwise plotly.js gives a trace the id, and the ink, of another."""
    return [{"uid": f"t{i}-{re.sub(r'[^a-z0-9]+', '-', one['name'])}", **one} for i, one in enumerate(data)]


def _axis(of: dict[str, Any]) -> dict[str, Any]:
    title = of.get("title", "")
    return {**of, "title": {"text": title, "standoff": 8}}


def curve(x: Any, y: Any, name: str, colour: int | None = 0, **style: Any) -> dict[str, Any]:
    """A predicted line; without a colour it has the ink of the theme."""
    line = {"color": INK if colour is None else COLOURS[colour], "width": 2, **style.pop("line", {})}
    uid = {"uid": style.pop("uid", "ink")} if colour is None else {}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _list(x),
        "y": _list(y),
        "name": name,
        "line": line,
        **uid,
        **style,
    }


def marks(x: Any, y: Any, error: Any, name: str, colour: int = 0, **style: Any) -> dict[str, Any]:
    """Measured dots with one standard error."""
    bars = {} if error is None else {"error_y": {"type": "data", "array": _list(error), "thickness": 1.2, "width": 3}}
    marker = {"color": COLOURS[colour], "size": 7, **style.pop("marker", {})}
    given = {"x": _list(x), "y": _list(y), "name": name, "marker": marker, **bars, **style}
    return {"type": "scatter", "mode": "markers", **given}


def band(edges: Any, heights: Any, name: str, colour: int = 0) -> dict[str, Any]:
    """A histogram."""
    edges = _list(edges)
    centres = [(a + b) / 2 for a, b in zip(edges, edges[1:], strict=False)]
    widths = [b - a for a, b in zip(edges, edges[1:], strict=False)]
    marker = {"color": COLOURS[colour], "opacity": 0.5, "line": {"width": 0}}
    return {"type": "bar", "x": centres, "y": _list(heights), "width": widths, "name": name, "marker": marker}


def rule(x: float, dash: str = "dot") -> dict[str, Any]:
    """A vertical line at x over the whole height."""
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1,
        "line": {"color": "#7a828a", "width": 1.2, "dash": dash},
    }  # fmt: skip


def _list(values: Any) -> list[Any]:
    """Plain numbers; NaN becomes a gap."""
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if isinstance(v, float) and v != v else v for v in plain]
