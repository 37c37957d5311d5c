"""How close the prediction of one giant step is to simulation.

    python -m benchmarks.accuracy measure FILE [D] [SEEDS] [SECONDS]
    python -m benchmarks.accuracy report FILE

``measure`` appends one line a network and seed to FILE (what is there already is not run again; an accelerator is advisable
at d = 2000); ``report`` compares every cell with the prediction and writes docs/accuracy.md, worst first.
"""

import json
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

import giantstep as gs
from benchmarks.block import blocks
from giantstep.results.outcome import LABELS

ACTIVATIONS = ("relu", "tanh", "gelu", "sin(x + pi/4)", "0.5*H1 + 0.2*H2 + 0.1*H3")
TARGETS = ("H1(x1)", "H1(x1) + H2(x1)/sqrt(2)", "relu(x1)")
SAMPLES = (0.7, 2.0, 5.0)  # n/d, of the step and of the readout
WIDTHS = (0.3, 0.75, 2.0)  # p/n
ALPHAS = tuple(round(0.05 * i, 2) for i in range(11))  # eta = n^alpha
PENALTIES = (1e-3, 1e-1)
NOISE = 0.5
D = 2000
FIELDS = ("test_error", "train_error", "train_objective")
PICTURE = (
    "![The gaps between prediction and simulation along the exponent of the step: half of them lie within 1%]"
    "(assets/built/accuracy.svg)"
)  # docs/figures.py draws it from the page
EXPLANATION = """Two kinds. The cubic activation from alpha = 0.4 on, at n/d = 5: the part of the gradient that its third
Hermite coefficient makes is taken to be white and independent from neuron to neuron, and it is neither quite. The others lie
at 3 to 3.5 standard errors, estimated from nine seeds that all cells of a shape share, so that several of one row go together;
among 8910 comparisons so many are expected."""


def setting(activation: str, target: str, samples: float, width: float, d: int = D) -> gs.Setting:  # type: ignore[name-defined]
    """One network: all step sizes and penalties at once."""
    n = round(samples * d)
    steps = (gs.GiantStep(n, gs.power(ALPHAS)),)
    network = gs.Network(round(width * n), activation)
    return gs.Setting(
        gs.Gaussian(d), gs.target(target, noise=NOISE), network, gs.Protocol(steps, gs.Ridge(n, PENALTIES))
    )


def networks() -> list[tuple[str, str, float, float]]:
    return list(product(ACTIVATIONS, TARGETS, SAMPLES, WIDTHS))


def measure(file: Path, d: int, seeds: range, limit: float) -> None:
    """Simulate what is missing, until the time limit."""
    start, done = time.perf_counter(), {(*r["network"], r["seed"]) for r in read(file)}
    for seed in seeds:
        for network in networks():
            if (*network, seed) in done:
                continue
            if time.perf_counter() - start > limit:
                return
            outcome = gs.simulate(setting(*network, d=d), seed=seed, progress=False)
            line = {"network": network, "seed": seed, "d": d}
            line |= {
                k: np.asarray(getattr(outcome, k)).tolist() for k in ("test_error", "train_error", "train_objective")
            }
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")
            print(f"{time.perf_counter() - start:6.1f} s  {network} seed {seed}", flush=True)


def read(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def compared(file: Path) -> list[dict]:
    """One record a network, penalty and field: relative gaps of the prediction and standard errors along alpha, in percent."""
    runs: dict[tuple, list[dict]] = {}
    for line in read(file):
        runs.setdefault((*line["network"], line["d"]), []).append(line)
    records = []
    for (*network, d), lines in runs.items():
        predicted = gs.theory(setting(*network, d=d))
        for field in FIELDS:
            values = np.array([line[field] for line in lines])
            mean, error = values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))
            gap, spread = 100 * (getattr(predicted, field) / mean - 1), 100 * error / mean
            for k, penalty in enumerate(PENALTIES):
                one = {"network": network, "penalty": penalty, "field": field, "seeds": len(lines), "d": d}
                records.append(one | {"gap": gap[:, k], "se": spread[:, k]})
    return records


def inside(record: dict) -> np.ndarray:
    """Within 2% or 3 standard errors."""
    return (np.abs(record["gap"]) < 2) | (np.abs(record["gap"]) < 3 * record["se"])


def report(file: Path, page: Path) -> None:
    """Write the page: shares inside, misses, and every gap, worst first."""
    records = compared(file)
    records.sort(key=lambda r: -np.max(np.abs(r["gap"])))
    seeds = sorted({r["seeds"] for r in records})
    lines = [
        "# Accuracy of the prediction",
        "",
        "<!-- Written by `python -m benchmarks.accuracy report FILE`; do not edit. -->",
        "",
        f"One giant step, predicted and simulated at d = {records[0]['d']}: eta = n^alpha, alpha = 0 to 0.5 in steps of 0.05; "
        f"{len(ACTIVATIONS)} activations, {len(TARGETS)} targets, n/d in {{0.7, 2, 5}}, p/n in {{0.3, 0.75, 2}}, penalties 0.001 "
        f"and 0.1; the true gradient with residual='target', Gaussian second layer, noise {NOISE}, uncentred; "
        f"{seeds[0]} to {seeds[-1]} seeds each. A gap is prediction over simulated mean, less one; a cell is inside when its gap "
        "is below 2% or 3 standard errors over seeds.",
        "",
        "| | cells | inside | within 2% | median gap |",
        "|---|---|---|---|---|",
    ]
    for field in FIELDS:
        of = [r for r in records if r["field"] == field]
        gaps, good = np.concatenate([np.abs(r["gap"]) for r in of]), np.concatenate([inside(r) for r in of])
        share, close = 100 * good.mean(), 100 * np.mean(gaps < 2)
        lines.append(f"| {LABELS[field]} | {gaps.size} | {share:.1f}% | {close:.1f}% | {np.median(gaps):.2f}% |")
    lines += [
        "",
        PICTURE,
        "",
        *blocks(page),
        "## Cells outside",
        "",
        EXPLANATION,
        "",
        "| gap | s.e. | field | activation | target | n/d | p/n | penalty | alpha |",
    ]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    misses = [(r["gap"][i], r["se"][i], r, ALPHAS[i]) for r in records for i in np.flatnonzero(~inside(r))]
    for gap, se, r, alpha in sorted(misses, key=lambda m: -abs(m[0])):
        lines.append(f"| {gap:+.1f}% | {se:.1f}% | {_words(r)} | {alpha:g} |")
    lines += [
        "",
        "## All gaps, worst first",
        "",
        "Gaps in percent (standard error over seeds in parentheses) along alpha.",
        "",
        '<details markdown="1"><summary>The table</summary>',
        "",
    ]
    lines += ["| field | activation | target | n/d | p/n | penalty | " + " | ".join(f"{a:g}" for a in ALPHAS) + " |"]
    lines += ["|---" * (6 + len(ALPHAS)) + "|"]
    for r in records:
        cells = " | ".join(f"{g:+.1f} ({e:.1f})" for g, e in zip(r["gap"], r["se"], strict=True))
        lines.append(f"| {_words(r)} | {cells} |")
    page.write_text("\n".join([*lines, "", "</details>"]) + "\n")


def _words(record: dict) -> str:
    activation, target, samples, width = record["network"]
    return f"{LABELS[record['field']]} | `{activation}` | `{target}` | {samples:g} | {width:g} | {record['penalty']:g}"


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in ("measure", "report"):
        print(__doc__)
        return 2
    verb, file, *rest = arguments
    if verb == "report":
        report(Path(file), Path("docs/accuracy.md"))
    else:
        numbers = [float(x) for x in rest] + [D, 9, 1e9][len(rest) :]
        measure(Path(file), int(numbers[0]), range(int(numbers[1])), numbers[2])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
