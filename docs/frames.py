"""Tells a page how wide its figures are while it is built, so that a phone shrinks them only as far as their letters can be read.

A narrow figure then fits the screen. A wide one stays wider than the screen and scrolls, and ``javascripts/sideways.js`` says so.
"""

import re
from pathlib import Path
from typing import Any

FIGURE = re.compile(r'<img (?=[^>]*src="(?P<path>[^":]+\.svg)")')
WIDTH = re.compile(r'<svg[^>]* width="([\d.]+)pt"')
PIXELS = 96 / 72  # of a screen in a point of a figure
SMALLEST = 0.74  # of its natural size: letters of 8.5 to 9.5 pt then have 8.4 px at least


def on_page_content(content: str, *, page: Any, config: Any, **_: Any) -> str:
    """The page with the least width on a screen of each of its figures."""
    folder = Path(config["docs_dir"], page.file.src_uri).parent
    return FIGURE.sub(lambda found: framed(found[0], folder / found["path"]), content)


def framed(start: str, figure: Path) -> str:
    """The start of an image's tag with the least width of its figure, if the figure says how wide it is."""
    said = WIDTH.search(figure.read_text(encoding="utf-8")[:2000]) if figure.is_file() else None
    return f'{start}style="--least: {SMALLEST * PIXELS * float(said[1]):.0f}px" ' if said else start
