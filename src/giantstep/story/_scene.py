"""Scene: a title, a text, an experiment and the controls of its figure."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import prod
from typing import Any

from giantstep.experiment.setting import Setting


@dataclass(frozen=True)
class Control:
    """A slider over a few values: ``name`` says what it changes, ``label`` is shown, ``begin`` is the value shown first."""

    name: str
    label: str
    values: tuple[float | str, ...]
    begin: float | str

    @property
    def first(self) -> int:
        """The place of the value shown first."""
        return self.values.index(self.begin)


@dataclass(frozen=True)
class Scene:
    """One scene of the story."""

    name: str  # its key, as in an address
    title: str  # its heading
    text: tuple[str, ...]  # paragraphs
    setting: Setting  # the experiment that the figure starts from
    controls: tuple[Control, ...]  # one or two; every combination of their values is a frame of the figure
    look: str  # what to try, in a sentence or two
    explorer: str  # the view of ``giantstep explore`` and its query, such as ``one-step?alpha=0.3``
    code: str  # the cells of the notebook, separated by lines ``# %%``; the setting is ``s``

    @property
    def frames(self) -> int:
        """How many combinations of the controls there are; the last control moves fastest."""
        return prod(len(control.values) for control in self.controls)

    @property
    def first(self) -> int:
        """The frame that is shown first."""
        at = 0
        for control in self.controls:
            at = at * len(control.values) + control.first
        return at


@cache
def scenes() -> tuple[Scene, ...]:
    """The scenes in their order."""
    text = files("giantstep.story").joinpath("scenes.toml").read_text(encoding="utf-8")
    return tuple(_scene(each) for each in tomllib.loads(text)["scenes"])


def _scene(plain: dict[str, Any]) -> Scene:
    controls = tuple(_control(each) for each in plain["controls"])
    rest = {key: plain[key] for key in ("name", "title", "look", "explorer")}
    return Scene(
        **rest,
        text=tuple(plain["text"]),
        setting=Setting.from_plain(plain["setting"]),
        controls=controls,
        code=plain["code"].strip(),
    )


def _control(plain: dict[str, Any]) -> Control:
    values = tuple(plain["values"])
    return Control(plain["name"], plain["label"], values, plain.get("begin", values[0]))
