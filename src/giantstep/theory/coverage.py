"""Which settings the theories cover, and the sentence that refuses the others."""

from typing import Any

from giantstep.errors import InputError
from giantstep.experiment.data import Gaussian
from giantstep.experiment.dataset import Dataset
from giantstep.experiment.labels import labels
from giantstep.experiment.mixture import Mixture
from giantstep.experiment.protocol import SGD, Ridge
from giantstep.experiment.setting import Setting, need_gaussian

SIMULATE = "simulate it, or take p + r at most d/10, where the overlaps can be followed"


def is_narrow(setting: Setting) -> bool:
    """Whether the width is far below d: corrections are of relative order p/d."""
    return 10 * (setting.p + setting.target.rank) <= setting.d


def needs_overlaps(setting: Any) -> bool:
    """Whether the evolution of overlaps is the theory to ask: several steps or directions, or pairs, in a narrow network."""
    if not isinstance(setting, Setting) or not isinstance(setting.data, Gaussian):
        return False
    if not setting.protocol.steps or not is_narrow(setting):
        return False
    return len(setting.protocol.steps) > 1 or setting.target.rank != 1 or setting.network.symmetric


def needs_rows(setting: Any) -> bool:
    """Whether the law of the rows has to be followed: several steps, at a width of the order of d."""
    if not isinstance(setting, Setting) or not isinstance(setting.data, Gaussian):
        return False
    return len(setting.protocol.steps) > 1 and not is_narrow(setting)


def on_own_batch(setting: Any) -> bool:
    """Whether the readout is on the step's own batch, in a way that is covered: one rank-one update with the labels."""
    if not isinstance(setting, Setting) or not isinstance(setting.data, Gaussian):
        return False
    steps, readout = setting.protocol.steps, setting.protocol.readout
    if len(steps) != 1 or not isinstance(readout, Ridge) or readout.batch != "reuse" or readout.penalty == "gcv":
        return False
    return steps[0].update == "rank1" and steps[0].residual == "target" and not setting.network.symmetric


def check_theory(setting: Any, regime: str = "finite", *, spectrum: bool = False) -> None:
    """Refuse, in one sentence, what ``theory(setting, regime, spectrum=spectrum)`` does not cover."""
    finite = regime == "finite"
    errors = finite and not spectrum
    check(
        setting, narrow=finite and needs_overlaps(setting), mixed=finite, sgd=errors, several=errors and needs_rows(setting),
        own=errors and on_own_batch(setting),
    )  # fmt: skip


def check(
    setting: Any,
    *,
    narrow: bool = False,
    mixed: bool = False,
    sgd: bool = False,
    several: bool = False,
    own: bool = False,
) -> None:
    """Refuse, in one sentence, a setting the one-step theory does not cover, or that of ``narrow`` networks, ``mixed`` data,
    ``sgd`` readouts, ``several`` steps or a readout on the step's ``own`` batch."""
    if not isinstance(setting, Setting):
        raise InputError(f"theory takes a Setting, not {type(setting).__name__}")
    if isinstance(setting.data, Dataset):
        raise InputError(
            "theory needs a law of the data: replace the data set by the mixture fitted to it, data=setting.data.fitted()"
        )
    if not (mixed and isinstance(setting.data, Mixture)):
        need_gaussian(setting, "theory")
    protocol, network = setting.protocol, setting.network
    if isinstance(protocol.readout, SGD):
        if not sgd:
            raise InputError(
                "of an SGD readout theory knows the errors at finite sizes, gs.theory(setting), and nothing else"
            )
        return check_sgd(setting)
    refusals = {
        "theory predicts a ridge readout, and this protocol has none": protocol.readout is None,
        "this prediction covers one giant step or none at a width of the order of d, and this protocol has more: "
        "gs.theory(setting) has the errors of several, and of two steps theory.second_step has the spectrum of the first layer":
            not narrow and not several and len(protocol.steps) > 1,
        "theory of several steps at a width of the order of d covers fresh batches: take batch='fresh', or simulate it":
            several and any(step.batch == "reuse" for step in protocol.steps),
        "theory on a mixture covers targets of one direction; this one has more: simulate it": isinstance(setting.data, Mixture)
        and setting.target.rank != 1,
        "theory needs the law of the weights, and this network has weights of its own: simulate it": network.weights
        is not None,
        "theory covers a readout on the step's own batch after one step with update='rank1' and residual='target' on Gaussian "
        "data, with a penalty given: take these, or fresh samples for the readout": not own
        and protocol.readout is not None and protocol.readout.batch == "reuse",
        "theory covers deflate = 0 or 1; deflate = 2 removes the direction that one step learns": any(
            s.deflate > 1 for s in protocol.steps
        ),
        "theory covers a readout fitted to the labels as they are; deflate in Ridge fits what is left of them: simulate it":
            protocol.readout is not None and protocol.readout.deflate > 0,
        f"theory covers symmetric=True without a step only at a width of the order of d: {SIMULATE}": not narrow
        and network.symmetric and bool(protocol.steps),
        "theory needs labels that are not zero": labels(setting).power + setting.target.noise**2 == 0,
        "theory on a mixture takes second layers of random signs or values: a constant one has an initial output with a mean":
            isinstance(setting.data, Mixture) and network.second_layer == "constant" and bool(protocol.steps),
        "theory on a mixture covers update='gradient' only": isinstance(setting.data, Mixture)
        and any(s.update != "gradient" for s in protocol.steps),
    }  # fmt: skip
    for sentence, applies in refusals.items():
        if applies:
            raise InputError(sentence)


def check_sgd(setting: Setting) -> None:
    """Refuse, in one sentence, an SGD readout that the theory does not cover."""
    need_gaussian(setting, "theory")
    readout = setting.protocol.readout
    assert isinstance(readout, SGD)
    if setting.protocol.steps:
        raise InputError("theory of an SGD readout covers random features, without a giant step: simulate it")
    if readout.passes > 1:
        raise InputError("theory of an SGD readout covers one pass, in which every sample is new: simulate it")
