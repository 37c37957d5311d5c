"""The words of the page with their meanings. One file serves the labels, the view Words and docs/words.md."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Word:
    """A word of the page, its meaning in a sentence or two, and the page of the documentation that says more."""

    name: str
    meaning: str
    page: str


def _read() -> dict[str, Word]:
    text = files("giantstep.explorer").joinpath("glossary.toml").read_text(encoding="utf-8")
    return {each["name"]: Word(**each) for each in tomllib.loads(text)["words"]}


WORDS = _read()
