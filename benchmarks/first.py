"""python -m benchmarks.first: the first calls of a fresh process, by NumPy at once and by programs that are compiled first.

Every number is CPU time of a process of its own, without kept compilations, import of the package included.
"""

import os
import subprocess
import sys

SETTING = """
import sys, time
import giantstep as gs
from giantstep import _plan
from giantstep.theory import curves

def setting(formula, activation):
    step, readout = gs.GiantStep(n=1000, eta=[0, 10, 30]), gs.Ridge(n=1000, penalty=[0.01, 0.1, 1.0, 10.0])
    return gs.Setting(gs.Gaussian(100), gs.target(formula, noise=0.5), gs.Network(200, activation), gs.Protocol((step,), readout))

if sys.argv[1] == "compiled":
    _plan.AT_ONCE, _plan._cores, curves.FEW = -1.0, lambda: 2, (0, 0)
first, other = setting("x1 + H2(x1)/sqrt(2)", "relu"), setting("x1 + H3(x1)/3", "tanh")
verb = gs.simulate if sys.argv[2] == "simulate" else gs.theory
verb(first)
start = time.process_time()
verb(other)
print(start, time.process_time() - start)
"""


def spent(how: str, verb: str) -> tuple[float, float]:
    """CPU seconds of the first call with everything before it, and of one with another activation and target after it."""
    alone = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "0"}
    run = subprocess.run(
        [sys.executable, "-c", SETTING, how, verb], capture_output=True, text=True, check=True, env=alone
    )
    first, other = map(float, run.stdout.split())
    return first, other


def main() -> None:
    print(f"{'':10s} {'':28s} {'NumPy':>8s} {'compiled':>9s} {'ratio':>6s}")
    for verb in ("simulate", "theory"):
        now, later = spent("now", verb), spent("compiled", verb)
        for what, a, b in zip(("first call", "another activation, target"), now, later, strict=True):
            print(f"{verb:10s} {what:28s} {a:6.2f} s {b:7.2f} s {b / a:6.1f}")


if __name__ == "__main__":
    main()
