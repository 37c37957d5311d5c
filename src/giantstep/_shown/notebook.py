"""A progress bar in a notebook: a line of HTML that is drawn again in its place. It needs nothing but the notebook itself."""

import sys
import time
from html import escape
from typing import Any

PAUSE = 0.2  # seconds between two drawings


def inside_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A bar of ``total`` units of work; ``add`` and ``move`` move it, and it is removed when the work ends."""

    def __init__(self, label: str, total: float) -> None:
        from IPython.display import display  # type: ignore[import-not-found]

        self._label, self._total, self._done = label, max(total, 1e-300), 0.0
        self._drawn = time.monotonic()
        self._handle: Any = display(_Bar(label, 0.0), display_id=True)

    def add(self, work: float, label: str | None = None) -> None:
        """Some work is done; the label may change."""
        self.move(self._done + work, label)

    def move(self, done: float, label: str | None = None) -> None:
        """So much work is done in all; a new label is drawn at once."""
        renamed = label is not None and label != self._label
        self._done, self._label = done, label or self._label
        if renamed or time.monotonic() - self._drawn >= PAUSE:
            self._drawn = time.monotonic()
            self._handle.update(_Bar(self._label, min(self._done / self._total, 1.0)))

    def __enter__(self) -> "NotebookBar":
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.update(_Bar("", None))


class _Bar:
    """The bar as it is now; None shows nothing."""

    def __init__(self, label: str, share: float | None) -> None:
        self._label, self._share = label, share

    def __repr__(self) -> str:
        return "" if self._share is None else f"{self._label}: {100 * self._share:.0f}%"

    def _repr_html_(self) -> str:
        if self._share is None:
            return "<span></span>"
        return f'{escape(self._label)} <progress value="{self._share:.4f}"></progress> {100 * self._share:.0f}%'
