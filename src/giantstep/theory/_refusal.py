"""Settings that a theory does not cover: the sentence that refuses them, and the nearest setting that is covered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from giantstep.errors import InputError
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import target

PENALTY = 0.1  # of the ridge readout that stands for another one


@dataclass(frozen=True)
class Refusal:
    """What is refused.

    Attributes:
        sentence: why, in words; {p}, {d}, {rank} and {steps} are those of the setting.
        applies: whether it concerns a setting.
        change: the nearest setting that it does not concern.
        named: that change in words, after "has".
    """

    sentence: str
    applies: Callable[[Setting], bool]
    change: Callable[[Setting], Setting]
    named: str


def nearest(setting: Setting, refusals: Sequence[Refusal]) -> tuple[Setting, tuple[Refusal, ...]]:
    """The nearest setting that none of the refusals concerns, and those that were in the way."""
    met: list[Refusal] = []
    while (own := next((each for each in refusals if each.applies(setting)), None)) is not None:
        if own in met:
            raise AssertionError(f"the change {own.named!r} does not lift the refusal {own.sentence!r}")
        setting, met = own.change(setting), [*met, own]
    return setting, tuple(met)


def refuse(setting: Setting, refusals: Sequence[Refusal], who: str = "theory") -> None:
    """Raise the first refusal that concerns the setting, with the changes that lead to the nearest one covered."""
    _, met = nearest(setting, refusals)
    if not met:
        return
    steps, rank = len(setting.protocol.steps), setting.target.rank
    why = met[0].sentence.format(p=setting.p, d=setting.d, rank=rank, steps=steps)
    raise InputError(f"{why}; the nearest setting that {who} covers has {_listed([each.named for each in met])}")


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def only_gaussian(who: str) -> Refusal:
    """Data that are not N(0, I)."""
    return Refusal(
        f"{who} covers isotropic Gaussian data only",
        lambda s: not isinstance(s.data, Gaussian), gaussian, "data=gs.Gaussian(d)",
    )  # fmt: skip


def own_weights(who: str) -> Refusal:
    """A network whose weights have no law."""
    return Refusal(
        f"{who} needs the law of the weights, and this network has weights of its own",
        lambda s: s.network.weights is not None, with_network(weights=None), "weights=None",
    )  # fmt: skip


# The changes


def with_network(**changes: Any) -> Callable[[Setting], Setting]:
    """The network with these fields."""
    return lambda setting: replace(setting, network=replace(setting.network, **changes))


def with_dimension(setting: Setting, d: int) -> Setting:
    """Gaussian data of that dimension, the target along the first axes."""
    return replace(setting, data=Gaussian(d), target=replace(setting.target, directions=None))


def with_steps(**changes: Any) -> Callable[[Setting], Setting]:
    """Every step with these fields; the sizes of reused batches are written out."""

    def change(setting: Setting) -> Setting:
        old = zip(setting.protocol.steps, setting.protocol.sizes(), strict=True)
        steps = tuple(replace(step, **({"n": n} | changes)) for step, n in old)
        return replace(setting, protocol=replace(setting.protocol, steps=steps))

    return change


def first_steps(count: int) -> Callable[[Setting], Setting]:
    """Only the first steps; a readout on the batch of the last one keeps its size."""

    def change(setting: Setting) -> Setting:
        protocol, readout = setting.protocol, setting.protocol.readout
        if not count and readout is not None and readout.batch == "reuse":
            readout = replace(readout, n=protocol.readout_size, batch="fresh")
        return replace(setting, protocol=replace(protocol, steps=protocol.steps[:count], readout=readout))

    return change


def with_readout(**changes: Any) -> Callable[[Setting], Setting]:
    """The readout with these fields; its size is written out."""

    def change(setting: Setting) -> Setting:
        protocol = setting.protocol
        assert protocol.readout is not None
        readout = replace(protocol.readout, **({"n": protocol.readout_size} | changes))
        return replace(setting, protocol=replace(protocol, readout=readout))

    return change


def ridge(setting: Setting) -> Setting:
    """A ridge readout in the place of another one, or of none."""
    protocol = setting.protocol
    size = protocol.readout_size if protocol.readout is not None else max((setting.d, *protocol.sizes()))
    return replace(setting, protocol=replace(protocol, readout=Ridge(size, PENALTY)))


def gaussian(setting: Setting) -> Setting:
    """The same on N(0, I) data."""
    network, own = setting.network, setting.target
    if network.rows == "trace":
        network = replace(network, rows="gaussian")
    if own.components > 1:
        own = target("x1", noise=own.noise)
    return replace(setting, data=Gaussian(setting.d), network=network, target=own)
