"""Picture: a figure of matplotlib that a notebook shows, also one that never loads pyplot."""

from io import BytesIO

from matplotlib.figure import Figure


class Picture(Figure):
    """A Figure that has its own PNG for notebooks.

    Without it Jupyter prints ``<Figure size ...>`` until a cell has imported ``matplotlib.pyplot``, which draws on screens and
    which this package leaves alone.
    """

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()
