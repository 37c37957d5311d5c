"""The static page of the story: one file with its numbers, styles and script inside, and the notebooks beside it."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from giantstep._shown.typeset import typeset
from giantstep.plot.formula import formula
from giantstep.story._notebook import code, notebook
from giantstep.story._scene import scenes

NUMBERS = "numbers.json"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def numbers() -> dict[str, Any]:
    """The figures of all scenes by name, as ``python -m giantstep.story --measure`` computed them."""
    return json.loads(_own(NUMBERS))


def page() -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=PackageLoader("giantstep.story", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"formula": formula, "typeset": lambda text: Markup(typeset(text))}
    inside = json.dumps(numbers(), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return environment.get_template("page.html.jinja").render(
        scenes=scenes(), code=code, policy=_POLICY, css=_own("story.css"), script=_own("story.js"), numbers=inside
    )


def write(folder: Path) -> Path:
    """Write ``folder/index.html`` and ``folder/notebooks/*.ipynb``, and return the page's path."""
    (folder / "notebooks").mkdir(parents=True, exist_ok=True)
    for scene in scenes():
        (folder / "notebooks" / f"{scene.name}.ipynb").write_text(notebook(scene), encoding="utf-8")
    (folder / "index.html").write_text(page(), encoding="utf-8")
    return folder / "index.html"


def _own(name: str) -> str:
    return files("giantstep.story").joinpath(name).read_text(encoding="utf-8")
