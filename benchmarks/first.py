"""python -m benchmarks.first: the first calls of a fresh process, by NumPy at once and by programs that are compiled first.

Every number is CPU time of a process of its own, without kept compilations, import of the package included.
"""

import os
import subprocess
import sys
import time

import giantstep as gs


def setting(formula: str, activation: str) -> gs.Setting:
    step, readout = gs.GiantStep(n=1000, eta=[0, 10, 30]), gs.Ridge(n=1000, penalty=[0.01, 0.1, 1.0, 10.0])
    network, protocol = gs.Network(200, activation), gs.Protocol((step,), readout)
    return gs.Setting(gs.Gaussian(100), gs.target(formula, noise=0.5), network, protocol)


def compiled_theory(setting: gs.Setting) -> object:
    """The errors at every step size and penalty, by a program."""
    from giantstep._machine.backend import jax, jnp, on_host
    from giantstep.theory import parameters
    from giantstep.theory.one_step import _conditional as conditional

    numbers, form = parameters(setting)
    eta, penalty = (x.ravel() for x in jnp.meshgrid(jnp.asarray(numbers.eta), jnp.asarray(numbers.penalty)))
    one = lambda eta, lam: conditional.predict(numbers._replace(eta=eta, penalty=lam), form)[0]  # noqa: E731
    with on_host():
        return jax.block_until_ready(jax.jit(jax.vmap(one))(eta, penalty))


def call(how: str, verb: str) -> None:
    """Print the CPU seconds of this process after a first call, and those of a call with another activation and target."""
    if how == "compiled":
        from giantstep._training import plan

        plan.AT_ONCE, plan.cores = -1.0, lambda: [0, 1]
    answer = {"simulate": gs.simulate, "theory": gs.theory if how == "now" else compiled_theory}[verb]
    answer(setting("x1 + H2(x1)/sqrt(2)", "relu"))
    start = time.process_time()
    answer(setting("x1 + H3(x1)/3", "tanh"))
    print(start, time.process_time() - start)


def spent(how: str, verb: str) -> tuple[float, float]:
    """CPU seconds of the first call with everything before it, and of one with another activation and target after it."""
    alone = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "0"}
    command = [sys.executable, "-m", "benchmarks.first", how, verb]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)
    first, other = map(float, run.stdout.split())
    return first, other


def main() -> None:
    print(f"{'':10s} {'':28s} {'NumPy':>8s} {'compiled':>9s} {'ratio':>6s}")
    for verb in ("simulate", "theory"):
        now, later = spent("now", verb), spent("compiled", verb)
        for what, a, b in zip(("first call", "another activation, target"), now, later, strict=True):
            print(f"{verb:10s} {what:28s} {a:6.2f} s {b:7.2f} s {b / a:6.1f}")


if __name__ == "__main__":
    call(*sys.argv[1:]) if sys.argv[1:] else main()
