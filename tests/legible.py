"""What is wrong with a picture: texts on each other, texts, legends and axes beyond the edge, lines through texts."""

from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

SLACK = 0.5  # points by which boxes may overlap


def shown(figure: Figure) -> list[Text]:
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_visible() and text.get_text().strip() and ticked(text)
    ]


def ticked(text: Text) -> bool:
    """Whether a text is within its axes, if it is the name of a tick."""
    for axis in [axis for ax in getattr(text.figure, "axes", []) for axis in (ax.xaxis, ax.yaxis)]:
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        if any(text is label for tick in ticks for label in (tick.label1, tick.label2)):
            drawn = axis._update_ticks()  # the ticks that are drawn
            return any(text in (tick.label1, tick.label2) for tick in drawn)
    return True


def faults(figure: Figure) -> list[str]:
    """Texts on each other and texts, legends and axes beyond the edge, in words."""
    figure.draw_without_rendering()
    texts, page, slack = shown(figure), figure.bbox, SLACK * figure.dpi / 72
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    found = [
        f"{one!r} lies on {other!r}"
        for (one, a), (other, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    ]
    boxes += [("a legend", legend.get_window_extent()) for legend in legends(figure)]
    boxes += [("axes", box) for ax in figure.axes if (box := ax.get_tightbbox()) is not None]
    cut = [
        f"{name!r} is cut"
        for name, box in boxes
        if min(box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1) < -slack
    ]
    return found + cut


def legends(figure: Figure) -> list[Legend]:
    return [each for each in figure.findobj(Legend) if isinstance(each, Legend)]


def struck(figure: Figure) -> list[str]:
    """Texts of the axes that a line runs through."""
    figure.draw_without_rendering()
    found = []
    for ax in figure.axes:
        paths = [line.get_transform().transform_path(line.get_path()) for line in ax.get_lines()]
        for text in ax.texts:
            box = text.get_window_extent()
            found += [text.get_text() for path in paths if path.intersects_bbox(box, filled=False)]
    return found


def smallest(figure: Figure, width: float) -> float:
    """Points of the smallest text where the figure is so many inches wide."""
    return min(float(text.get_fontsize()) for text in shown(figure)) * width / figure.get_size_inches()[0]
