"""Picture: a figure of matplotlib that a notebook shows, also one that never loads pyplot."""

from io import BytesIO, StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure

POINTS = 72  # an inch
TRUETYPE: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}


class Picture(Figure):
    """A Figure that has its own PNG for notebooks.

    Without it Jupyter prints ``<Figure size ...>`` until a cell has imported ``matplotlib.pyplot``, which draws on screens and
    which this package leaves alone. In PDF and PS files its texts are TrueType: publishers refuse the Type 3 fonts that
    matplotlib writes unless it is told otherwise.
    """

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save the figure as matplotlib does, with its texts as TrueType fonts in PDF and PS."""
        with mpl.rc_context(TRUETYPE):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


class SvgCanvas(FigureCanvasSVG):
    """Lays a figure out and draws it with one renderer, which then knows how large every text is; matplotlib takes two."""

    def written(self) -> str:
        """The figure as SVG text."""
        text, dpi, (width, height) = StringIO(), self.figure.dpi, self.figure.get_size_inches()
        self.figure.dpi, unstamped = POINTS, {"Date": None, "Creator": None}
        lines = RendererSVG(POINTS * width, POINTS * height, text, image_dpi=dpi, metadata=unstamped)  # type: ignore[arg-type]
        self._renderer = MixedModeRenderer(self.figure, width, height, dpi, lines)  # a few parts are images
        self.figure.draw(self._renderer)  # type: ignore[arg-type]  # it passes everything on to a renderer
        self._renderer.finalize()
        return text.getvalue()

    def get_renderer(self) -> MixedModeRenderer:
        """What the layout measures texts with."""
        return self._renderer
