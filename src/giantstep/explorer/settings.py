"""Recipes: the settings behind a view, and the Python that builds the same ones: shown, copied, and run by the tests."""

from collections.abc import Sequence
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.state import GiantSteps, OneStep

__all__ = [
    "ALPHAS", "FAST", "dimension", "giant_steps", "giant_steps_code", "giant_steps_figures", "one_step", "one_step_code",
    "one_step_figures", "sizes",
]  # fmt: skip

ALPHAS = tuple(round(0.05 * k, 2) for k in range(15))  # exponents with dots
FAST = tuple(
    round(0.1 * k, 1) for k in range(8)
)  # those of the line that follows a slider at once: one block of tables
WIDEST = 2000  # neurons of a simulated network
LARGEST_BATCH = {"fresh": 2_000_000, "reuse": 50_000}  # samples of a simulated giant step
DIRECTIONS = 4


def sizes(s: OneStep) -> tuple[int, int]:
    """n and p."""
    n = max(round(s.n_over_d * s.d), 2)
    return n, max(round(s.p_over_n * n), 2)


def one_step(s: OneStep, alpha: float | tuple[float, ...]) -> Any:
    """The setting of one step of size n^alpha."""
    import giantstep as gs

    target = gs.target(s.target, noise=s.noise)
    if target.rank != 1:
        raise InputError(f"One step takes a target of one direction: write it in x1 alone, without x{target.rank}.")
    n, p = sizes(s)
    return gs.Setting(
        data=gs.Gaussian(d=s.d),
        target=target,
        network=gs.Network(width=p, activation=s.activation, centred=True),
        protocol=gs.Protocol(
            steps=(gs.GiantStep(n=n, eta=gs.power(alpha)),),
            readout=gs.Ridge(n=n, penalty=_penalty(s)),
        ),
    )


def _penalty(s: OneStep) -> float:
    return float(f"{10**s.penalty:.6g}")


def one_step_code(s: OneStep, then: str) -> str:
    """The Python of ``one_step`` at all step sizes, and what is then done with the setting ``s``."""
    n, p = sizes(s)
    listed = ", ".join(f"{alpha:g}" for alpha in ALPHAS)
    return f"""import giantstep as gs

alphas = [{listed}]
s = gs.Setting(
    data=gs.Gaussian(d={s.d}),
    target=gs.target({s.target!r}, noise={s.noise!r}),
    network=gs.Network(width={p}, activation={s.activation!r}, centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n={n}, eta=gs.power(alphas)),),
        readout=gs.Ridge(n={n}, penalty={_penalty(s)!r}),
    ),
)
{then}"""


def one_step_figures(s: OneStep, *, errors: bool, spectrum: bool) -> str:
    """The Python that draws the setting ``s``: with the simulation of its errors, and of its spectrum, where it is there."""
    n, _ = sizes(s)
    verbs = sorted({"compare" if there else "predict" for there in (errors, spectrum)})
    of_errors = f"compare(s, seed=range({s.seeds}))" if errors else "predict(s)"
    of_spectrum = "compare(one, seed=0, spectrum=True)" if spectrum else "predict(one, spectrum=True)"
    return f"""
from dataclasses import replace
from giantstep.lab.compare import {", ".join(verbs)}

found = {of_errors}
gs.plot(found, "test_error").savefig("test.svg")
gs.plot(found, "train_error").savefig("train.svg")

step = gs.GiantStep(n={n}, eta=gs.power({s.alpha!r}))
one = replace(s, protocol=replace(s.protocol, steps=(step,)))
gs.plot({of_spectrum}, "spectrum").savefig("spectrum.svg")
"""


def dimension(s: GiantSteps) -> tuple[int, int]:
    """d and n."""
    d = round(10**s.d)
    return d, max(round(d**s.kappa), 2)


def giant_steps(s: GiantSteps) -> Any:
    """The setting of the giant steps."""
    import giantstep as gs

    target = gs.target(s.target)
    if target.rank > DIRECTIONS:
        raise InputError(f"This view takes targets of at most {DIRECTIONS} directions, not {target.rank}.")
    d, n = dimension(s)
    eta = round(s.eta * s.width, 6)
    first = gs.GiantStep(n=n, eta=eta, residual="full")
    later = gs.GiantStep(n=None, eta=eta, residual="full", batch="reuse") if s.batches == "reuse" else first
    return gs.Setting(
        data=gs.Gaussian(d=d),
        target=target,
        network=gs.Network(width=s.width, activation=s.activation, scale="1/p"),
        protocol=gs.Protocol(steps=(first, *[later] * (s.steps - 1))),
    )


def giant_steps_code(s: GiantSteps, then: str) -> str:
    """The Python of ``giant_steps``."""
    d, n = dimension(s)
    eta = round(s.eta * s.width, 6)
    first = f'gs.GiantStep(n={n}, eta={eta!r}, residual="full")'
    steps = f"({first},) * {s.steps}"
    if s.batches == "reuse":
        steps = f'({first}, *[gs.GiantStep(None, {eta!r}, residual="full", batch="reuse")] * {s.steps - 1})'
    return f"""import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d={d}),
    target=gs.target({s.target!r}),
    network=gs.Network(width={s.width}, activation={s.activation!r}, scale="1/p"),
    protocol=gs.Protocol(steps={steps}),
)
{then}"""


def giant_steps_figures(s: GiantSteps, routes: Sequence[str]) -> str:
    """The Python that draws the setting ``s`` by these routes."""
    known = "\n".join(f"    gs.{route}.evolution(s, seed={s.seed})," for route in routes)
    return f"""
paths = [
{known}
]
gs.plot(paths, "neurons").savefig("neurons.svg")
gs.plot(paths, "shares").savefig("shares.svg")
"""
