"""python -m benchmarks.devices [--small]: all devices against one, and conjugate gradients against their floor.

Virtual devices of a CPU: XLA_FLAGS=--xla_force_host_platform_device_count=8; they share its cores, so the ratio is about one.
"""

import re
import sys

import giantstep as gs
from benchmarks.floor import best, gemm_rate
from giantstep._machine.backend import jax

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


def setting(n: int, d: int, p: int, penalty) -> gs.Setting:  # type: ignore[name-defined]
    protocol = gs.Protocol((gs.GiantStep(n, gs.power(0.3)),), gs.Ridge(n, penalty))
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5), gs.Network(p, "relu"), protocol)


def all_against_one(n: int, d: int, p: int) -> None:
    devices, made = jax.local_devices(), setting(n, d, p, 0.01)
    one, every = (
        best(lambda k=k: gs.simulate(made, n_test=n, method="dense", devices=k, progress=False), 2)
        for k in (1, len(devices))
    )
    print(f"one step, one penalty: d = {d}, n = {n}, p = {p}, {n} test samples, float64")
    print(f"  {len(devices)} {devices[0].platform} devices / one      {every / one:6.2f}   ({one:.2f} s on one)\n")


def against_the_floor(n: int, d: int, p: int) -> None:
    """Seconds of the fit alone: with the readout by conjugate gradients less without a readout."""
    made = setting(n, d, p, PENALTIES)
    bare = gs.Setting(made.data, made.target, made.network, gs.Protocol(made.protocol.steps))
    work = {"n_test": 100, "method": "dense", "devices": len(jax.local_devices()), "progress": False}
    outcome = gs.simulate(made, solver="cg", **work)
    fit = best(lambda: gs.simulate(made, solver="cg", **work), 2) - best(lambda: gs.simulate(bare, **work), 2)
    iterations = int(re.findall(r"after (\d+) iterations", str(outcome.status))[0])
    wide, narrow = gemm_rate(n, p, p), gemm_rate(n, p, len(PENALTIES))
    operations = 4.0 * n * p * len(PENALTIES) * iterations
    print(f"conjugate gradients, {len(PENALTIES)} penalties: d = {d}, n = {n}, p = {p}: {outcome.status}")
    print(
        f"  fit / floor              {fit * wide / operations:6.2f}   at {wide / 1e9:.1f} GFLOP/s of a square product"
    )
    print(
        f"  fit / narrow floor       {fit * narrow / operations:6.2f}   at {narrow / 1e9:.1f} of one as narrow as theirs"
    )


def main() -> None:
    gpu, small = jax.default_backend() != "cpu", "--small" in sys.argv[1:]
    d, n, p = (400, 2000, 1200) if small else ((4000, 64000, 16000) if gpu else (1000, 8000, 4000))
    all_against_one(n, d, p)
    against_the_floor(n, d, p)


if __name__ == "__main__":
    main()
