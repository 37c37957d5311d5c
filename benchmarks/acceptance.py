"""How close predictions of several directions, several steps and the step's own batch are to simulation, cell by cell.

    python -m benchmarks.acceptance [--d 1500] [--seeds 4] [--workers N] [--seconds 420] [--cells K] [--out FILE]
    python -m benchmarks.acceptance --page FILE

Every cell has a target, an activation, n/d and a protocol; each is predicted and simulated at two penalties and, with a step, at
two step sizes. A value is inside when the prediction is within the protocol's margin (2%, or 4% after two steps and on the own
batch) or four standard errors over seeds of the simulated mean.
The table of shares goes to stdout as Markdown, everything to FILE as JSON; ``--page`` puts what is in FILE into docs/accuracy.md.
``--cells`` takes the first K of a fixed random order; cells that are not done after ``--seconds`` are left out and counted.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import giantstep as gs
from benchmarks.block import put
from giantstep.lab.work._child import pinned
from giantstep.results.outcome import LABELS

TARGETS = (
    "x1 + x1*x2", "x1 + H2(x2)/sqrt(2)", "tanh(x1) + x2*x3", "sin(x1) + H2(x1)*x2/2", "relu(x1 + x2) + H2(x3)/2",
)  # fmt: skip
ACTIVATIONS = ("relu", "gelu", "tanh(x + 0.8)")
SAMPLES = (2, 4)  # n/d
PENALTIES = (1e-2, 0.3)
WIDTH = 1.5  # p/d
NOISE = 0.3
ALPHAS = {"no step": (), "one step": (0.3, 0.45), "two steps": (0.25, 0.4), "own batch": (0.3, 0.45)}  # eta = n^alpha
MARGINS = {"no step": 2.0, "one step": 2.0, "two steps": 4.0, "own batch": 4.0}  # percent
GOALS = {"no step": 95.0, "one step": 95.0, "two steps": 90.0, "own batch": None}  # percent inside, where one is set
FIELDS = ("test_error", "train_error")


@dataclass(frozen=True)
class Cell:
    """What is varied."""

    protocol: str
    target: str
    activation: str
    samples: int

    def setting(self, d: int) -> gs.Setting:
        """All step sizes and penalties at once."""
        n = self.samples * d
        update = "rank1" if self.protocol == "own batch" else "gradient"
        step = gs.GiantStep(n, gs.power(ALPHAS[self.protocol] or (0.0,)), update=update)
        steps = (step,) * {"no step": 0, "two steps": 2}.get(self.protocol, 1)
        readout = gs.Ridge(n, PENALTIES, batch="reuse" if self.protocol == "own batch" else "fresh")
        network = gs.Network(round(WIDTH * d), self.activation)
        return gs.Setting(gs.Gaussian(d), gs.target(self.target, noise=NOISE), network, gs.Protocol(steps, readout))


def cells() -> list[Cell]:
    """All of them, in an order that does not depend on how many are asked for."""
    made = [Cell(*own) for own in product(ALPHAS, TARGETS, ACTIVATIONS, SAMPLES)]
    random.Random(0).shuffle(made)
    return made


def record(cell: Cell, d: int, seeds: int) -> list[dict[str, Any]]:
    """One line for every step size, penalty and field: the gap of the prediction and the standard error, in percent."""
    setting, start = cell.setting(d), time.perf_counter()
    predicted, middle = gs.theory(setting), time.perf_counter()
    found = gs.simulate(setting, range(seeds), n_test=4000, progress=False)
    took = {"theory_s": middle - start, "simulate_s": time.perf_counter() - middle}
    lines = []
    for field in FIELDS:
        values = np.moveaxis(np.asarray(getattr(found, field)), -1, 0)  # (seed, [eta,] penalty)
        mean, se = values.mean(0), values.std(0, ddof=1) / np.sqrt(seeds)
        theory = np.asarray(getattr(predicted, field))
        for at in np.ndindex(mean.shape):
            alpha = ALPHAS[cell.protocol][at[0]] if len(at) == 2 else None
            gap, error = 100 * (theory[at] / mean[at] - 1), 100 * se[at] / mean[at]
            own = {
                "field": field,
                "alpha": alpha,
                "penalty": PENALTIES[at[-1]],
                "mean": mean[at],
                "gap": gap,
                "se": error,
            }
            inside = bool(abs(gap) < max(MARGINS[cell.protocol], 4 * error))
            lines.append({**vars(cell), **own, "inside": inside, **took})
    return lines


def shares(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For every protocol and field: how many values, the share inside, within the margin, and the median gap."""
    rows = []
    for protocol, field in product(ALPHAS, FIELDS):
        own = [line for line in lines if line["protocol"] == protocol and line["field"] == field]
        if own:
            gaps = np.abs([line["gap"] for line in own])
            rows.append({
                "protocol": protocol, "field": field, "values": len(own), "goal": GOALS[protocol],
                "inside": 100 * float(np.mean([line["inside"] for line in own])),
                "within": 100 * float(np.mean(gaps < MARGINS[protocol])), "median": float(np.median(gaps)),
                "largest": float(np.max(gaps)), "se": float(np.median([line["se"] for line in own])),
            })  # fmt: skip
    return rows


def page(rows: list[dict[str, Any]], lines: list[dict[str, Any]]) -> str:
    """The table of shares, then every miss, the largest gap first."""
    head = "| protocol | field | values | inside | goal | within the margin | median gap | largest | median s.e. |"
    text = [head, "|---" * 9 + "|"]
    for r in rows:
        goal = "–" if r["goal"] is None else f"{r['goal']:.0f}%"
        text.append(
            f"| {r['protocol']} | {LABELS[r['field']]} | {r['values']} | {r['inside']:.1f}% | {goal} | "
            f"{r['within']:.1f}% | {r['median']:.2f}% | {r['largest']:.1f}% | {r['se']:.2f}% |"
        )
    if all(line["inside"] for line in lines):
        return "\n".join([*text, "", "Every value is inside."])
    text += ["", "Values outside:"]
    text += ["", "| gap | s.e. | field | protocol | target | activation | n/d | alpha | penalty |", "|---" * 9 + "|"]
    for m in sorted((line for line in lines if not line["inside"]), key=lambda line: -abs(line["gap"])):
        text.append(
            f"| {m['gap']:+.1f}% | {m['se']:.1f}% | {LABELS[m['field']]} | {m['protocol']} | `{m['target']}` | "
            f"`{m['activation']}` | {m['samples']} | {m['alpha']} | {m['penalty']:g} |"
        )
    return "\n".join(text)


def section(kept: dict[str, Any]) -> str:
    """The block of docs/accuracy.md: what was compared, the shares and every miss."""
    done = len({tuple(line[k] for k in ("protocol", "target", "activation", "samples")) for line in kept["values"]})
    return f"""## Several directions, several steps and the step's own batch

Simulated at d = {kept["d"]} with {kept["seeds"]} seeds: {len(TARGETS)} targets of two and three directions,
{len(ACTIVATIONS)} activations, n/d in {{2, 4}}, p = {WIDTH:g} d, penalties 0.01 and 0.3, noise {NOISE:g}, true gradients with
residual='target' (the rank-one update on the own batch), Gaussian second layer; eta = n^alpha with two values of alpha.
{done} of {len(cells())} combinations, those of a random order that were done in time, were measured. A value is inside when
the prediction is within 2% (4% after two steps and on the own batch) or four standard errors over seeds of the simulated mean.

{page(kept["shares"], kept["values"])}

A standard error from {kept["seeds"]} seeds is rough: compare those of the values outside with the median of their row.
"""


def measure(d: int, seeds: int, workers: int, seconds: float, count: int | None) -> tuple[list[dict[str, Any]], int]:
    """Lines of the cells that were done in time, and how many were not; each worker process has its share of the cores."""
    todo, start = cells()[:count], time.perf_counter()
    threads = max(1, (os.cpu_count() or 1) // workers)
    os.environ.update(pinned(threads) | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    lines: list[dict[str, Any]] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = [pool.submit(record, cell, d, seeds) for cell in todo]
        try:
            for done in as_completed(waiting, timeout=seconds):
                lines += done.result()
                print(f"{time.perf_counter() - start:6.1f} s  {len(lines)} values", flush=True, file=sys.stderr)
        except TimeoutError:
            pool.shutdown(wait=False, cancel_futures=True)
    left = sum(not (each.done() and not each.cancelled()) for each in waiting)
    return lines, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--d", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=420.0)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    if asked.page is not None:
        put("acceptance", section(json.loads(asked.page.read_text(encoding="utf-8"))))
        return
    lines, left = measure(asked.d, asked.seeds, asked.workers, asked.seconds, asked.cells)
    rows = shares(lines)
    print(f"d = {asked.d}, {asked.seeds} seeds, {len(lines)} values; cells left out: {left}\n")
    print(page(rows, lines))
    if asked.out is not None:
        kept = {"d": asked.d, "seeds": asked.seeds, "left_out": left, "shares": rows, "values": lines}
        asked.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
