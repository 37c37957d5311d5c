"""The gallery: ``page`` makes docs/gallery.md from the scripts in examples/, and running this file draws their figures.

The figures go to docs/assets/gallery/, which git does not hold. ``make docs`` draws those that the tests have not left there.
"""

import os
import runpy
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))
PICTURES = HERE / "assets/gallery"


def page(note: str) -> str:
    """Every example: its text, its code and its figure."""
    parts = [
        f"# Gallery\n\n{note}Every example is a script of a few lines in the folder `examples/`. It runs in seconds, and a test "
        "runs it. "
        "Editors that know percent cells (`# %%`) run it cell by cell.\n"
    ]
    for path in EXAMPLES:
        heading, *text = _text(path)
        parts.append(f"\n## {heading.removeprefix('# ')}\n\n{' '.join(text)}\n")
        parts.append(f"\n![{heading.removeprefix('# ')}](assets/gallery/{path.stem}.svg)\n")
        parts.append(f"\n```python\n{_code(path)}\n```\n\n`examples/{path.name}`\n")
    return "".join(parts)


def _cells(path: Path) -> list[tuple[str, str]]:
    """The cells of a script: what stands after ``# %%``, and the lines below it."""
    cells = [cell.partition("\n") for cell in path.read_text(encoding="utf-8").split("# %%")[1:]]
    return [(head.strip(), body.strip("\n")) for head, _, body in cells]


def _text(path: Path) -> list[str]:
    (text, *_) = [body for head, body in _cells(path) if head == "[markdown]"]
    return [line.removeprefix("# ") for line in text.splitlines()]


def _code(path: Path) -> str:
    return "\n\n".join(body for head, body in _cells(path) if head != "[markdown]")


def draw(path: Path, folder: Path) -> None:
    """Run an example in a folder of its own and save its figure."""
    with tempfile.TemporaryDirectory() as place, chdir(place), redirect_stdout(StringIO()):
        figure = runpy.run_path(str(path))["figure"]
    figure.savefig(folder / f"{path.stem}.svg")


def main() -> int:
    """Draw the figures that are older than their scripts."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for path in EXAMPLES:
        drawn = PICTURES / f"{path.stem}.svg"
        if not drawn.exists() or drawn.stat().st_mtime < path.stat().st_mtime:
            draw(path, PICTURES)
            print(path.name, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
