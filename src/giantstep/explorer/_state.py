"""The state of a view as frozen data, and its query in the address, which only this module reads.

Every field has bounds. A value that is not inside them is refused in one sentence and stands at its default.
"""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

LONGEST = 300  # characters of a target
LONGEST_OTHER = 1500  # characters of the query of another setting
MOST_QUERY = 4000  # characters of a query
ACTIVATIONS = ("relu", "tanh", "erf", "gelu", "softplus", "elu")


@dataclass(frozen=True)
class SliderRange:
    """Numbers from ``least`` to ``most``; a slider moves by ``step``."""

    least: float
    most: float
    step: float

    @property
    def whole(self) -> bool:
        return all(float(x).is_integer() for x in (self.least, self.most, self.step))


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """A formula, read by the library's own parser later on."""

    longest: int = LONGEST


def _number(default: float, least: float, most: float, step: float, label: str) -> Any:
    return field(default=default, metadata={"of": SliderRange(least, most, step), "label": label})


def _choice(default: str, options: tuple[str, ...], label: str) -> Any:
    return field(default=default, metadata={"of": Choice(options), "label": label})


def _text(default: str, label: str, longest: int = LONGEST) -> Any:
    return field(default=default, metadata={"of": Text(longest), "label": label})


def _beside() -> Any:
    return _text("", "Setting A", LONGEST_OTHER)


@dataclass(frozen=True)
class ViewState:
    """The base class of the states. ``beside`` is the query of a setting A that is shown beside this one, or nothing."""


@dataclass(frozen=True)
class Explain(ViewState):
    """Batch and width are exponents of d; ``steps`` 0 means until no more is found."""

    target: str = _text("x1 + H2(x1)*x2 + H3(x3)/2", "Target")
    batch: float = _number(1.0, 0.5, 4.0, 0.5, "Batch")
    width: float = _number(1.0, 0.0, 4.0, 0.5, "Width")
    steps: int = _number(0, 0, 8, 1, "Steps")
    batches: str = _choice("fresh", ("fresh", "reuse"), "Batches")
    activation: str = _choice("any", ("any", *ACTIVATIONS), "Activation")
    beside: str = _beside()


@dataclass(frozen=True)
class OneStep(ViewState):
    """The step size is n^alpha, n = ``n_over_d`` d and p = ``p_over_n`` n; ``penalty`` is its logarithm to the base 10."""

    target: str = _text("x1 + H2(x1)/sqrt(2)", "Target")
    activation: str = _choice("relu", ACTIVATIONS, "Activation")
    alpha: float = _number(0.3, 0.0, 0.7, 0.01, "Step size")
    n_over_d: float = _number(4.0, 0.25, 8.0, 0.05, "Samples")
    p_over_n: float = _number(0.5, 0.1, 3.0, 0.05, "Width")
    penalty: float = _number(-1.0, -6.0, 2.0, 0.1, "Penalty")
    noise: float = _number(0.5, 0.0, 2.0, 0.05, "Label noise")
    d: int = _number(200, 50, 400, 10, "Dimension")
    seeds: int = _number(5, 1, 10, 1, "Seeds")
    beside: str = _beside()


@dataclass(frozen=True)
class GiantSteps(ViewState):
    """``d`` is the logarithm of the dimension to the base 10, ``kappa`` that of a batch to the base d; step size eta = ``eta`` p.

    ``shown`` is the step after which the neurons are shown.
    """

    target: str = _text("x1 + x1*x2", "Target")
    activation: str = _choice("relu", ACTIVATIONS, "Activation")
    d: float = _number(5.0, 2.0, 9.0, 0.25, "Dimension")
    kappa: float = _number(1.1, 0.3, 2.5, 0.05, "Batch exponent")
    eta: float = _number(1.5, 0.1, 5.0, 0.1, "Step size")
    steps: int = _number(4, 1, 6, 1, "Steps")
    shown: int = _number(4, 0, 6, 1, "Show after step")
    batches: str = _choice("fresh", ("fresh", "reuse"), "Batches")
    width: int = _number(12, 2, 24, 2, "Width")
    seed: int = _number(0, 0, 99, 1, "Seed")
    beside: str = _beside()


@dataclass(frozen=True)
class Claims(ViewState):
    """The claim whose page is open: its name in the registry, or nothing."""

    claim: str = _text("", "Claim")


@dataclass(frozen=True)
class Words(ViewState):
    """The word that is looked up, or nothing."""

    word: str = _text("", "Word")


VIEWS: dict[str, type[ViewState]] = {
    "one-step": OneStep,
    "giant-steps": GiantSteps,
    "explain": Explain,
    "claims": Claims,
    "words": Words,
}

S = TypeVar("S", bound=ViewState)


def read_query(kind: type[S], query: str) -> tuple[S, list[str]]:
    """The state of a query such as ``?alpha=0.3``, and a sentence for every value that was refused."""
    if not isinstance(query, str) or len(query) > MOST_QUERY:
        return kind(), [f"The address is too long: at most {MOST_QUERY} characters are read."]
    try:
        pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True, max_num_fields=40)
    except ValueError:
        return kind(), ["The address holds too many values."]
    return read(kind, dict(pairs))


def read(kind: type[S], given: Mapping[str, Any]) -> tuple[S, list[str]]:
    """The state of raw values by field, and a sentence for every value that was refused."""
    known = {f.name: f for f in fields(kind)}
    refused = [f"There is no {_shown(name)} in this view: it was left out." for name in given if name not in known]
    state = kind()
    for name, raw in given.items():
        if name in known:
            try:
                state = replace(state, **{name: _value(known[name], raw)})
            except ValueError as problem:
                refused.append(str(problem))
    return state, refused


def write(state: ViewState) -> str:
    """The query of a state with all its fields."""
    return urlencode([(f.name, as_text(getattr(state, f.name))) for f in fields(state)])


def alone(state: S) -> S:
    """The state without the setting beside it."""
    return replace(state, beside="") if getattr(state, "beside", "") else state


def other(state: S) -> S | None:
    """The setting A beside a state, if there is one; values of it that are refused stand at their defaults."""
    query = getattr(state, "beside", "")
    return alone(read_query(type(state), query)[0]) if query else None


def within(kind: type[ViewState], name: str, value: float) -> float:
    """The place of a view's slider that is nearest to a value."""
    law = next(f for f in fields(kind) if f.name == name).metadata["of"]
    nearest = law.least + law.step * round((value - law.least) / law.step)
    return round(min(max(nearest, law.least), law.most), 6)


def as_text(value: Any) -> str:
    """A value as text in a query; a number reads back as the same number."""
    if isinstance(value, str):
        return value
    short = f"{value:.6g}"
    return short if float(short) == value else repr(value)


def _value(of: Field[Any], raw: Any) -> Any:
    """The raw value of a field, or a ValueError with a sentence."""
    law, label = of.metadata["of"], of.metadata["label"]
    if isinstance(law, SliderRange):
        return _read_number(law, label, raw)
    if isinstance(law, Choice):
        if not isinstance(raw, str) or raw not in law.options:
            raise ValueError(f"{label} must be one of {', '.join(law.options)}, not {_shown(raw)}.")
        return raw
    if not isinstance(raw, str):
        raise ValueError(f"{label} must be text, not {_shown(raw)}.")
    if len(raw) > law.longest:
        raise ValueError(f"{label} has {len(raw)} characters; at most {law.longest} are read.")
    if not raw.isprintable():
        raise ValueError(f"{label} must be one line of printable characters.")
    return raw


def _read_number(law: SliderRange, label: str, raw: Any) -> float:
    right = f"a {'whole ' if law.whole else ''}number from {law.least:g} to {law.most:g}"
    wrong = ValueError(f"{label} must be {right}, not {_shown(raw)}.")
    if isinstance(raw, bool) or not isinstance(raw, str | int | float) or len(str(raw)[:40]) == 40:
        raise wrong
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        raise wrong from None
    if not math.isfinite(value) or not law.least <= value <= law.most or (law.whole and not value.is_integer()):
        raise wrong
    return int(value) if law.whole else value


def _shown(raw: Any) -> str:
    """The given value in at most 40 characters."""
    text = repr(raw) if isinstance(raw, str | int | float | bool) or raw is None else f"a {type(raw).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"
