"""What stands around a picture: its title and its legend, on a figure of its own or on axes that the user gave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from giantstep.errors import InputError, quoted
from giantstep.experiment._header import folded
from giantstep.plot.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 72  # an inch
LETTER = 0.52  # mean width of a letter, in sizes of the font
MARGINS = 45  # points left of the axes of one panel
MARGIN, EACH = 0.05, 0.03  # shares of the axes that stay free at each end, and more for each place beside a point
GAP = 6  # points between a measured value and an equivalent one beside it
COMPACT: dict[str, Any] = {"handlelength": 1.5, "handletextpad": 0.5, "columnspacing": 1.0, "labelspacing": 0.3}


@dataclass(frozen=True)
class PictureFrame:
    """Where the legend lies and what the title says. On axes of the user there is no title unless one is asked for."""

    ax: "Axes | None" = None
    legend: Any = None
    title: Any = None

    @property
    def single(self) -> bool:
        """Whether the picture has one legend at most."""
        return self.ax is not None or self.legend is not None

    def entitle(self, ax: "Axes", *parts: str) -> None:
        """Write the title given, or these parts in lines as wide as the place allows; call it after the legend, which may lie
        below the title."""
        asked = self.ax is None if self.title is None else self.title
        if not asked:
            return
        legend = ax.get_legend()
        above = legend is not None and self.outside and self.single
        lift = POINTS / ax.figure.dpi * legend.get_window_extent().height if legend is not None and above else 0.0
        words = asked if isinstance(asked, str) else "\n".join(folded(parts, self._letters(ax)))
        ax.set_title(words, loc="left", pad=6 + lift)

    def _letters(self, ax: "Axes") -> int:
        """How many letters of a title fit above the axes; on a figure of one panel, up to its right end."""
        figure: Any = ax.figure
        alone = self.ax is None and len(figure.axes) == 1
        pixels = figure.bbox.width - MARGINS * figure.dpi / POINTS if alone else ax.get_window_extent().width
        return letters(pixels * POINTS / figure.dpi, float(ax.title.get_fontsize()))

    @property
    def outside(self) -> bool:
        return self.legend in (None, "outside")

    def explain(self, ax: "Axes", marks: Sequence[Any], colours: Sequence[Any] = ()) -> None:
        """Draw the one legend: above the axes, as wide as fits there, or over the data where there is most room."""
        handles = [*marks, *colours]
        if self.legend is False or len(handles) < 2:
            return
        if not self.outside:
            ax.legend(handles=handles, loc="best", **COMPACT)
            return
        for order, columns in _layouts(marks, colours):
            place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
            legend = ax.legend(handles=order, ncols=columns, frameon=False, borderpad=0.2, **place, **COMPACT)
            if legend.get_window_extent().width <= ax.get_window_extent().width:
                return


def _layouts(marks: Sequence[Any], colours: Sequence[Any]) -> Iterator[tuple[list[Any], int]]:
    """The entries and their columns, widest first; marks and colours have rows, or columns, of their own."""
    from matplotlib.lines import Line2D

    every, longest = [*marks, *colours], max(len(marks), len(colours))
    yield every, len(every)
    if marks and colours:
        empty = Line2D([], [], linestyle="none", label=" ")
        filled = [[*each, *[empty] * (longest - len(each))] for each in (marks, colours)]
        yield (
            [entry for pair in zip(*filled, strict=True) for entry in pair],
            longest,
        )  # a legend fills its columns first
        yield filled[0] + filled[1], 2
    for columns in range(len(every) - 1, 0, -1):
        yield every, columns


def explain_below(figure: Any, marks: Sequence[Any], colours: Sequence[Any] = ()) -> None:
    """Draw the one legend of a figure below all panels, in as many columns as its width lets it have."""
    for order, columns in _layouts(marks, colours):
        legend = figure.legend(handles=order, loc="outside lower center", ncols=columns, **COMPACT)
        if legend.get_window_extent().width <= figure.bbox.width:
            return
        if columns > 1:
            legend.remove()


def entry(label: str, marker: str = "", **look: Any) -> Any:
    """A mark or a line for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker=marker, label=label, **{"color": INK, "linestyle": "none", **look})


def letters(points: float, size: float) -> int:
    """How many letters of a size fit into so many points."""
    return max(1, int(points / (LETTER * size)))


OWN = PictureFrame()  # a figure of its own, as it looks where nothing is asked


def place_of_legend(value: Any, what: str) -> Any:
    """False, "inside" or "outside"."""
    if value is False or (isinstance(value, str) and value in ("inside", "outside")):
        return value
    raise InputError(f"{what} must be False, 'inside' or 'outside', not {quoted(value)}")


def words_of_title(value: Any, what: str) -> Any:
    """Words, or whether there is a title."""
    if isinstance(value, str | bool):
        return value
    raise InputError(f"{what} must be text, True or False, not {quoted(value)}")


def aside(ax: "Axes", places: int) -> Any:
    """The transform of marks that stand so many places beside their points."""
    from matplotlib.transforms import ScaledTranslation

    ax.margins(x=MARGIN + EACH * places)
    figure: Any = ax.figure
    return ax.transData + ScaledTranslation(places * GAP / POINTS, 0, figure.dpi_scale_trans)
