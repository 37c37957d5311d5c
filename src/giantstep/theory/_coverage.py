"""Which settings the theories cover, which theory answers, and the refusals of the others."""

from dataclasses import replace
from typing import Any

from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.labels import labels
from giantstep.experiment.protocol import SGD, Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory._refusal import (
    Refusal,
    first_steps,
    gaussian,
    only_gaussian,
    own_weights,
    refuse,
    ridge,
    with_network,
    with_readout,
    with_steps,
)

BEYOND = (
    "overlaps",
    "mixture",
    "sgd",
    "rows",
    "one batch",
    "own batch",
    "pairs",
    "terms",
)  # theories besides that of one step at a width of order d
MOST = 100  # passes of SGD: the time of their theory grows as their cube
MANY = 100  # samples over d of a step with deflate = 2, at least: its theory leaves out what is of relative order d/n


def is_narrow(setting: Setting) -> bool:
    """Whether the width is far below d: corrections are of relative order p/d."""
    return 10 * (setting.p + setting.target.rank) <= setting.d


def on_own_batch(setting: Setting) -> bool:
    """Whether the readout is on the step's own batch, in a way that is covered."""
    steps, readout = setting.protocol.steps, setting.protocol.readout
    if not isinstance(setting.data, Gaussian) or len(steps) != 1 or not isinstance(readout, Ridge):
        return False
    if readout.batch != "reuse" or readout.penalty == "gcv" or readout.deflate or setting.network.symmetric:
        return False
    return steps[0].residual == "target" or setting.network.second_layer != "constant"


def on_one_batch(setting: Setting) -> bool:
    """Whether a step reuses the batch of the one before, in a way that is covered."""
    steps, network = setting.protocol.steps, setting.network
    if not isinstance(setting.data, Gaussian) or not isinstance(setting.protocol.readout, Ridge) or len(steps) != 2:
        return False
    if network.symmetric or is_narrow(setting) or steps[0].update != "gradient" or steps[0].deflate != steps[1].deflate:
        return False
    small_output = network.scale == "1/p" or all(step.residual == "target" for step in steps)
    return steps[1].batch == "reuse" and small_output


def after_a_deflated_step(setting: Setting) -> bool:
    """Whether the only step has deflate = 2, in a way that is covered."""
    steps, readout, network = setting.protocol.steps, setting.protocol.readout, setting.network
    if not isinstance(setting.data, Gaussian) or not isinstance(readout, Ridge) or len(steps) != 1:
        return False
    if readout.penalty == "gcv" or network.symmetric or network.weights is not None or setting.target.rank > 2:
        return False
    small_output = steps[0].residual == "target" or network.scale == "1/p"
    many = setting.protocol.sizes()[0] >= MANY * setting.d
    return steps[0].deflate == 2 and steps[0].update == "gradient" and small_output and many


def route(setting: Setting, regime: str = "finite") -> str:
    """The name of the theory that answers for the errors of a setting, if one does."""
    steps = len(setting.protocol.steps)
    if isinstance(setting.protocol.readout, SGD):
        return "sgd"
    if isinstance(setting.data, Mixture | Dataset):
        return "mixture"
    if not steps:
        return "random features"
    if regime == "limit":
        return "limit"
    if after_a_deflated_step(setting):
        return "terms"
    if on_own_batch(setting):
        return "own batch"
    if is_narrow(setting) and (steps > 1 or setting.target.rank != 1 or setting.network.symmetric):
        return "overlaps"
    if steps > 1:
        return "one batch" if on_one_batch(setting) else "rows"
    return "pairs" if setting.network.symmetric else "one step"


def check_theory(setting: Any, regime: str = "finite", *, spectrum: bool = False) -> None:
    """Refuse, in one sentence, what ``theory(setting, regime, spectrum=spectrum)`` does not cover."""
    finite = regime == "finite"
    check(setting, BEYOND if finite and not spectrum else ("overlaps", "mixture", "rows") if finite else ())
    if not finite:
        refuse(setting, LIMIT, "regime='limit'")


def check_spectrum(setting: Any) -> None:
    """Refuse, in one sentence, what ``theory.spectrum(setting)`` does not cover."""
    check(setting, ("rows",))


def check(setting: Any, allowed: tuple[str, ...] = ()) -> None:
    """Refuse, in one sentence, a setting that neither the theory of one step covers nor one of those ``allowed``."""
    if not isinstance(setting, Setting):
        raise InputError(f"theory takes a Setting, not {type(setting).__name__}")
    refuse(setting, refusals(allowed))
    if setting.network.activation.mean_square == 0:  # one without a second moment is refused here
        raise InputError("theory needs an activation that is not zero")
    if isinstance(setting.protocol.readout, Ridge) and labels(setting).power + setting.target.noise**2 == 0:
        raise InputError("theory needs labels that are not zero")


def refusals(allowed: tuple[str, ...] = BEYOND) -> tuple[Refusal, ...]:
    """What theory does not cover, where these theories may answer besides that of one step."""

    def by(setting: Setting, *routes: str) -> bool:
        own = route(setting)
        return own in allowed and own in routes

    sgd = lambda s: isinstance(s.protocol.readout, SGD)  # noqa: E731
    mixed = lambda s: isinstance(s.data, Mixture | Dataset) and not sgd(s)  # noqa: E731
    reads_again = lambda s: s.protocol.readout.batch == "reuse"  # noqa: E731
    weights = own_weights("theory")
    ridge_named = "a ridge readout, gs.Ridge(n, penalty)"
    no_sgd = Refusal(
        "of an SGD readout theory knows the errors at finite sizes, gs.theory(setting), and nothing else",
        sgd,
        ridge,
        ridge_named,
    )
    several = "this prediction covers several giant steps at a width of the order of d, and a width of {p} is far below d = {d}"
    again = Refusal(
        "theory of several steps covers fresh batches, and one batch in two steps of update='gradient' with the same deflate, on "
        "Gaussian data at a width of the order of d, without symmetric=True and, where residual='full', with scale='1/p', for a "
        "ridge readout"
        if "one batch" in allowed else "this prediction covers fresh batches (gs.theory(setting) has the errors after two steps "
        "on one batch, and gs.theory.second_step(setting) the spectrum of their first layer)",
        lambda s: any(step.batch == "reuse" for step in s.protocol.steps) and not by(s, "one batch"),
        with_steps(batch="fresh"), "batch='fresh' in every step",
    )  # fmt: skip
    no_more = Refusal(
        several if "rows" in allowed else "this prediction covers one giant step or none at a width of the order of d, and this "
        "protocol has {steps} (gs.theory(setting) has the errors, and gs.theory.spectrum(setting) the spectra)",
        lambda s: len(s.protocol.steps) > 1 and not by(s, "overlaps", "rows", "one batch"), first_steps(1), "one step",
    )  # fmt: skip
    no_pairs = Refusal(
        "this prediction covers symmetric=True without a step only, or where the width is far below d, p + r at most d/10 "
        "(gs.theory(setting) has the errors)",
        lambda s: s.network.symmetric and bool(s.protocol.steps) and not by(s, "overlaps"), with_network(symmetric=False),
        "symmetric=False",
    )  # fmt: skip
    return (
        Refusal(
            "theory predicts a readout, and this protocol has none", lambda s: s.protocol.readout is None, ridge, ridge_named
        ),
        *(() if "mixture" in allowed else (only_gaussian("this prediction"),)),
        *(() if "sgd" in allowed else (no_sgd,)),
        Refusal(
            "theory of an SGD readout after giant steps covers isotropic Gaussian data only",
            lambda s: sgd(s) and bool(s.protocol.steps) and not isinstance(s.data, Gaussian), gaussian, "data=gs.Gaussian(d)",
        ),
        Refusal(
            "theory of an SGD readout after giant steps covers fresh samples",
            lambda s: sgd(s) and reads_again(s), with_readout(batch="fresh"), "batch='fresh' in the readout",
        ),
        Refusal(
            "theory of an SGD readout covers symmetric=True without a step only",
            lambda s: sgd(s) and s.network.symmetric and bool(s.protocol.steps), with_network(symmetric=False),
            "symmetric=False",
        ),
        Refusal(
            f"theory of an SGD readout covers at most {MOST} passes",
            lambda s: isinstance(s.protocol.readout, SGD) and s.protocol.readout.passes > MOST, with_readout(passes=MOST),
            f"passes={MOST}",
        ),
        Refusal(
            "theory of an SGD readout covers several passes at a constant rate",
            lambda s: isinstance(s.protocol.readout, SGD) and s.protocol.readout.passes > 1 and s.protocol.readout.decay > 0,
            with_readout(decay=0.0), "decay=0",
        ),
        replace(weights, applies=lambda s: weights.applies(s) and not (sgd(s) and not s.protocol.steps)),
        Refusal(
            "theory on a mixture covers targets of one direction, and this one has {rank}",
            lambda s: mixed(s) and s.target.rank != 1, gaussian, "data=gs.Gaussian(d)",
        ),
        Refusal(
            "theory on a mixture covers one giant step or none, and this protocol has {steps}",
            lambda s: mixed(s) and len(s.protocol.steps) > 1, first_steps(1), "one step",
        ),
        again,
        *(() if {"rows", "overlaps"} <= set(allowed) else (no_more,)),
        Refusal(
            f"theory covers deflate = 2 in one step on Gaussian data with at least {MANY} d samples, for a target of up to two "
            "directions and a penalty given, without symmetric=True and, where residual='full', with scale='1/p'",
            lambda s: any(step.deflate > 1 for step in s.protocol.steps) and not by(s, "terms"), with_steps(deflate=1),
            "deflate=1 in every step",
        ),
        Refusal(
            "theory covers deflate in the readout after a step with deflate = 2 only",
            lambda s: isinstance(s.protocol.readout, Ridge) and s.protocol.readout.deflate > 0 and not by(s, "terms"),
            with_readout(deflate=0), "deflate=0 in the readout",
        ),
        Refusal(
            "theory on a mixture covers symmetric=True without a step only",
            lambda s: mixed(s) and s.network.symmetric and bool(s.protocol.steps), with_network(symmetric=False),
            "symmetric=False",
        ),
        *(() if "pairs" in allowed else (no_pairs,)),
        Refusal(
            "theory covers a readout on the step's own batch after one step on Gaussian data, with a penalty given, without "
            "symmetric=True and, where residual='full', without a constant second layer",
            lambda s: not sgd(s) and reads_again(s) and not by(s, "own batch", "terms"), with_readout(batch="fresh"),
            "batch='fresh' in the readout",
        ),
        Refusal(
            "theory on a mixture takes no constant second layer, whose initial output has a mean",
            lambda s: mixed(s) and s.network.second_layer == "constant" and bool(s.protocol.steps),
            with_network(second_layer="rademacher"), "second_layer='rademacher'",
        ),
        Refusal(
            "theory on a mixture covers update='gradient' only",
            lambda s: mixed(s) and any(step.update != "gradient" for step in s.protocol.steps), with_steps(update="gradient"),
            "update='gradient'",
        ),
    )  # fmt: skip


LIMIT = (
    Refusal(
        "regime='limit' is published for residual='target'",
        lambda s: any(step.residual != "target" for step in s.protocol.steps), with_steps(residual="target"),
        "residual='target'",
    ),
    Refusal(
        "regime='limit' is published for a Gaussian second layer",
        lambda s: bool(s.protocol.steps) and s.network.second_layer != "gaussian", with_network(second_layer="gaussian"),
        "second_layer='gaussian'",
    ),
    Refusal(
        "after a step regime='limit' is published for a penalty given",
        lambda s: bool(s.protocol.steps) and s.protocol.readout is not None and s.protocol.readout.path == "gcv",
        with_readout(penalty=0.1), "a penalty that is a number, such as 0.1",
    ),
)  # fmt: skip
