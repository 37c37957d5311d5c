"""The gallery: ``page`` makes docs/gallery.md from the scripts in examples/, and running this file draws their figures.

While the site is built, a page of the API names the examples that use what it describes.
The figures go to docs/assets/gallery/, which git does not hold. ``make docs`` draws those that the tests have not left there.
"""

import os
import re
import runpy
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))
PICTURES = HERE / "assets/gallery"
USED = re.compile(r"\bgs\.(\w+)|\bfrom giantstep\.(\w+)")  # public names and modules in a script
DESCRIBED = re.compile(
    r"^::: giantstep\.(\w+)|members: \[(.*)\]", re.MULTILINE
)  # modules and names of a page of the API
MANY = 8  # examples that a page names


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """A page of the API with links to the examples that use what it describes."""
    folder, _, name = page.file.src_uri.rpartition("/")
    found = examples_of(f"{name.removesuffix('.md')}\n{markdown}") if folder == "api" else []
    if not found:
        return markdown
    links = [f"[{_title(path)}](../gallery.md#{_anchor(_title(path))})" for path in found]
    said = " · ".join(links) if len(links) <= MANY else "Most examples of [the gallery](../gallery.md) use it."
    return f"{markdown}\n\n## In the gallery\n\n{said}\n"


def examples_of(text: str) -> list[Path]:
    """The examples that use a name or a module which a page of the API describes; the text begins with the page's name."""
    name, _, markdown = text.partition("\n")
    described = {name, *re.findall(r"\w+", " ".join(" ".join(found) for found in DESCRIBED.findall(markdown)))}
    return [
        path for path in EXAMPLES if described & {name for found in USED.findall(_code(path)) for name in found if name}
    ]


def page(note: str) -> str:
    """Every example: its text, its code and its figure."""
    parts = [
        f"# Gallery\n\n{note}Every example is a script of a few lines in the folder `examples/`. It runs in seconds, and a test "
        "runs it. "
        "Editors that know percent cells (`# %%`) run it cell by cell.\n"
    ]
    for path in EXAMPLES:
        parts.append(f"\n## {_title(path)}\n\n{' '.join(_text(path)[1:])}\n")
        parts.append(f"\n![{_title(path)}](assets/gallery/{path.stem}.svg)\n")
        parts.append(f"\n```python\n{_code(path)}\n```\n\n`examples/{path.name}`\n")
    return "".join(parts)


def _cells(path: Path) -> list[tuple[str, str]]:
    """The cells of a script: what stands after ``# %%``, and the lines below it."""
    cells = [cell.partition("\n") for cell in path.read_text(encoding="utf-8").split("# %%")[1:]]
    return [(head.strip(), body.strip("\n")) for head, _, body in cells]


def _text(path: Path) -> list[str]:
    (text, *_) = [body for head, body in _cells(path) if head == "[markdown]"]
    return [line.removeprefix("# ") for line in text.splitlines()]


def _title(path: Path) -> str:
    return _text(path)[0].removeprefix("# ")


def _anchor(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip())


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
