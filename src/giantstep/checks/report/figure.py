"""An SVG document made ready to stand inside a page, next to others."""

import re
from functools import lru_cache
from html import escape

_LEAST, _PHONE = 0.65, 260  # of the width of a figure, in report.css; points across a phone
_BEFORE_ID = (' id="', '\nid="', '\tid="', 'href="#', "url(#", "url('#", 'url("#')
_ENLARGED = 1.2  # letters of 10 points in a figure look as large as the text of the page


@lru_cache(maxsize=256)  # a page that grows is written after every claim, its figures again
def inline(svg: str, name: str, label: str, words: str = "") -> str:
    """The ``<svg>`` element of a document, with ``name`` as its id and as the prefix of every id inside it.

    A screen reader announces the picture as ``label`` and reads ``words`` as its description.

    Ids are global in a page, and figures of one program reuse them: without the prefix, a figure would show the
    clip paths and the glyphs of another. Style rules are confined to the figure for the same reason. The prolog and
    the metadata are removed. The size becomes a width, ``--width``, for the style of the page to use. A text without an
    ``<svg>`` gives an empty string.
    """
    element = re.search(r"<svg\b.*</svg>", svg, flags=re.DOTALL)
    if element is None:
        return ""
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", element.group(), flags=re.DOTALL)
    opening, rest = body.split(">", 1)
    width = re.search(r'\swidth="([\d.]+)(?:pt)?"', opening)
    style = f' style="--width: {_ENLARGED * float(width.group(1)):.0f}pt"' if width else ""
    opening = re.sub(r'\s(?:width|height|id|style)="[^"]*"', "", opening)
    for before in _BEFORE_ID:  # a figure holds thousands: a regular expression takes twenty times as long
        rest = rest.replace(before, f"{before}{name}-")
    rest = re.sub(r"(<style[^>]*>\s*)\*", rf"\g<1>#{name} *", rest)
    named = f' id="{name}"{style} role="img" aria-labelledby="{name}--title"'
    texts = f'<title id="{name}--title">{escape(label)}</title>'
    if words:
        named += f' aria-describedby="{name}--words"'
        texts += f'<desc id="{name}--words">{escape(words)}</desc>'
    return f"{opening}{named}>{texts}{rest}"


def wide(svg: str) -> bool:
    """Whether a figure that ``inline`` gave is wider than a phone at the least size that the style of the page allows."""
    width = re.search(r"--width: (\d+)pt", svg)
    return width is not None and _LEAST * float(width.group(1)) > _PHONE
