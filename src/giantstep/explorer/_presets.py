"""Presets: for every paper a setting of a view to start from, or its first claim; and the scenes of the story."""

from dataclasses import dataclass, replace

from giantstep.citations import paper
from giantstep.claims import TEXTS
from giantstep.explorer._state import VIEWS, Claims, Explain, GiantSteps, OneStep, ViewState, read_query, write
from giantstep.story._scene import scenes

TALK = {"d": 300, "n_over_d": 1.6667, "p_over_n": 0.8, "penalty": -2.0}  # d : n : p = 3 : 5 : 4

PEAK = OneStep(target="x1", alpha=0.0, p_over_n=1.0, penalty=-4.0)

TEACHERS = {"target": "erf(x1) + erf(x2)", "activation": "erf", "kappa": 1.2, "steps": 6, "shown": 6}

CUBIC = {"target": "H3(x1)", "activation": "tanh", "d": 3.5, "kappa": 1.3, "eta": 5.0, "steps": 2, "shown": 2}


@dataclass(frozen=True)
class Preset:
    """A state to start from. One step keeps the network of Moniri et al., so other papers lend it their sizes and functions.

    A scene of the story is named after the story and not after a paper.
    """

    paper: str
    title: str
    state: ViewState
    scene: int | None = None

    @property
    def label(self) -> str:
        """The paper, or the number of the scene, and the title, as the page names them."""
        return f"{paper(self.paper).short}: {self.title}" if self.scene is None else f"Story {self.scene}: {self.title}"


_CHOSEN = (
    Preset("moniri", "the figure of the talk", OneStep(target="x1", noise=1.0, alpha=0.3, **TALK)),
    Preset("moniri", "a quadratic part is learned", replace(OneStep(alpha=0.4, noise=0.0, **TALK), penalty=0.0)),
    Preset("ba", "one large step", OneStep(activation="tanh", target="tanh(x1)", alpha=0.5, noise=0.1)),
    Preset("cui", "tanh learns tanh", OneStep(activation="tanh", target="tanh(x1)", alpha=0.5, noise=0.0, p_over_n=0.25)),
    Preset("dandi_spectrum", "the spectrum after a large step", OneStep(activation="tanh", target="x1", alpha=0.6, noise=0.0)),
    Preset("benaych_georges", "a spike just outside the bulk", OneStep(target="x1", alpha=0.18, noise=0.0)),
    Preset("mei_montanari", "the peak at p = n, beside p = 2n", replace(PEAK, beside=write(replace(PEAK, p_over_n=2.0)))),
    Preset("hu_lu", "random features act like a linear model", OneStep(activation="tanh", target="x1", alpha=0.0, n_over_d=2.0)),
    Preset("mei_misiakiewicz_montanari", "degree two is out of reach", OneStep(alpha=0.0, n_over_d=8.0, noise=0.0)),
    Preset("dandi", "the staircase x1, then x2", GiantSteps(target="x1 + x1*x2", kappa=1.1)),
    Preset("dandi", "too few samples", GiantSteps(target="x1 + x1*x2", kappa=0.7)),
    Preset("dandi_reuse", "a reused batch finds H3(x1)", GiantSteps(batches="reuse", **CUBIC)),
    Preset("saad_solla", "two teachers, not yet told apart", GiantSteps(**TEACHERS)),
    Preset("abbe", "a staircase of leap one", Explain(target="x1 + x1*x2 + x1*x2*x3")),
    Preset("abbe", "a leap of three", Explain(target="x1 + H2(x1)*x2 + H3(x3)/2")),
    Preset("dandi", "the sum first, then the difference", Explain(target="x1 + x2 + x1^2 - x2^2", activation="relu")),
    Preset("damian", "information exponent three", Explain(target="H3(x1)", batches="reuse")),
    Preset("damian_leap", "a product of three", Explain(target="x1*x2*x3", batches="reuse")),
    Preset("giantstep", "tanh(x1) + x2*x3", Explain(target="tanh(x1) + x2*x3")),
)  # fmt: skip


def _first_claims() -> tuple[Preset, ...]:
    """The first claim of every paper that has no other preset."""
    have = {preset.paper for preset in _CHOSEN}
    first = {claim.paper: claim.name for claim in reversed(TEXTS)}
    return tuple(Preset(key, name, Claims(claim=name)) for key, name in reversed(first.items()) if key not in have)


def _scenes() -> tuple[Preset, ...]:
    """The scenes of the story, in the view that each of them names."""
    made = []
    for number, scene in enumerate(scenes(), 1):
        view, _, query = scene.explorer.partition("?")
        made.append(Preset("giantstep", scene.title, read_query(VIEWS[view], query)[0], number))
    return tuple(made)


PRESETS = (*_CHOSEN, *_scenes(), *_first_claims())


def of_view(kind: type[ViewState]) -> tuple[Preset, ...]:
    """The presets of a view, in their order."""
    return tuple(preset for preset in PRESETS if isinstance(preset.state, kind))
