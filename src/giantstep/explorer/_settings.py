"""The settings behind a view, and the Python that builds them: shown, copied, and run by the tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer._state import GiantSteps, OneStep

ALPHAS = tuple(round(0.05 * k, 2) for k in range(15))  # exponents with dots
FAST = tuple(round(0.1 * k, 1) for k in range(8))  # exponents of the line that follows a slider: one block of tables
WIDEST = 2000  # neurons of a simulated network
LARGEST_BATCH = {"fresh": 2_000_000, "reuse": 50_000}  # samples of a simulated giant step
DIRECTIONS = 4


def sizes(s: OneStep) -> tuple[int, int]:
    """n and p."""
    n = max(round(s.n_over_d * s.d), 2)
    return n, max(round(s.p_over_n * n), 2)


def alphas(s: OneStep) -> tuple[float, ...]:
    """Where the theory is evaluated: at the dots, and at the slider."""
    return tuple(sorted({*ALPHAS, s.alpha}))


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
            readout=gs.Ridge(n=n, penalty=float(f"{10**s.penalty:.6g}")),
        ),
    )


def one_step_code(s: OneStep, *, errors: bool, spectrum: bool) -> str:
    """The Python behind the figures of one step; ``errors`` and ``spectrum`` say which of them are simulated."""
    n, _ = sizes(s)
    verbs = sorted({"compare" if simulated else "predict" for simulated in (errors, spectrum)})
    of_errors = f"compare(s, seed=range({s.seeds}))" if errors else "predict(s)"
    of_spectrum = "compare(one, seed=0, spectrum=True)" if spectrum else "predict(one, spectrum=True)"
    return f"""{to_python(one_step(s, ALPHAS))}
from dataclasses import replace
from giantstep.lab.compare import {", ".join(verbs)}

errors = {of_errors}
gs.plot(errors, "test_error").savefig("test.svg")
gs.plot(errors, "train_error").savefig("train.svg")

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


def giant_steps_code(s: GiantSteps, routes: Sequence[str]) -> str:
    """The Python behind the figures of the giant steps by these routes."""
    paths = "\n".join(f"    gs.{route}.evolution(s, seed={s.seed})," for route in routes)
    return f"""{to_python(giant_steps(s))}
paths = [
{paths}
]
gs.plot(paths, "neurons").savefig("neurons.svg")
gs.plot(paths, "shares").savefig("shares.svg")
"""


def to_python(setting: Any) -> str:
    """The Python that builds a setting of Gaussian data as ``s``; it leaves out the defaults."""
    plain = setting.to_plain()
    target = plain["target"]
    noise = f", noise={target['noise']!r}" if "noise" in target else ""
    steps = "".join(f"            {_call('GiantStep', step)},\n" for step in plain["protocol"]["steps"])
    readout = plain["protocol"].get("readout")
    ridge = f"        readout={_call('Ridge', readout)},\n" if readout else ""
    return f"""import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d={plain["data"]["d"]}),
    target=gs.target({target["formula"]!r}{noise}),
    network={_call("Network", plain["network"])},
    protocol=gs.Protocol(
        steps=(
{steps}        ),
{ridge}    ),
)
"""


def _call(name: str, fields: Mapping[str, Any]) -> str:
    """A call with named arguments; a table is a power."""
    values = {k: f"gs.power({v['alpha']!r})" if isinstance(v, dict) else repr(v) for k, v in fields.items()}
    return f"gs.{name}({', '.join(f'{k}={v}' for k, v in values.items())})"
