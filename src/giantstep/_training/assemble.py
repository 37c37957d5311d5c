"""Join the measurements of all groups of seeds into one Outcome."""

import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from giantstep import measure
from giantstep._training.job import Job, Part
from giantstep.experiment.data.dataset import Dataset
from giantstep.results._far_step import far_sizes
from giantstep.results.outcome import OVERFLOW, Outcome, Status, drop
from giantstep.ridge._conjugate_gradients import TOLERANCE

DRAWN = "The random numbers were drawn on the device (random='device')."


def assemble(job: Job, parts: list[Part], notes: Sequence[str] = ()) -> Outcome:
    """Join the groups and drop the axes that were not asked for; ``notes`` come before those of the fits."""
    setting, protocol = job.setting, job.setting.protocol
    etas = protocol.etas(setting.d, setting.p)
    readout = protocol.readout
    lists = [t for t, step in enumerate(protocol.steps) if step.listed]
    path = readout is not None and isinstance(readout.path, tuple)
    axes = (*(("eta",) if lists else ()), *((readout.axis,) if path else ()), *(("seed",) if job.several else ()))  # type: ignore[union-attr]
    joined = {k: np.concatenate([p[k] for p in parts], axis=1) for k in parts[0] if k != "notes"}

    def errors(array: np.ndarray) -> Any:  # (E, S, L) -> (E, L, S), unused axes dropped
        return drop(np.moveaxis(array, 2, 1), (bool(lists), path, job.several))

    def layers(array: np.ndarray) -> Any:  # (E, S, ...)
        return drop(array, (bool(lists), job.several))

    values: dict[str, Any] = {
        k: errors(joined[k]) for k in ("risk", "risk_se", "train_error", "train_objective") if k in joined
    }
    values["test_error"] = errors(joined["risk"] + setting.target.noise**2)
    values["test_error_se"] = values["risk_se"]
    values |= {k: layers(joined[k]) for k in ("overlaps", "norms", "captured", "captured_se", "learned", "null_level")}
    if "squares" in joined:
        singular = np.sqrt(np.maximum(joined["squares"], 0.0))
        values["singular_values"] = layers(singular)
        if singular.shape[-1] >= measure.FEWEST and np.all(np.isfinite(singular)):
            values["bulk_edge"] = layers(np.apply_along_axis(measure.bulk_edge, -1, singular))
            values["outliers"] = layers(np.apply_along_axis(lambda v: len(measure.outliers(v)), -1, singular))
    if readout is not None:
        values[readout.axis] = layers(joined["penalty"][:, :, 0]) if readout.path == "gcv" else readout.path
    converged, iterated = _iterated(joined)
    drawn = [DRAWN] if job.random == "device" else []
    fits = _merged([note for part in parts for note in part["notes"]])
    sentences = [*far_sizes(setting, joined["norms"]), *iterated, *fits, *notes, *drawn]
    sentences += setting.data.notes if isinstance(setting.data, Dataset) else ()
    finite = all(
        np.all(np.isfinite(v)) for k, v in values.items() if k in ("risk", "train_error", "overlaps", "captured")
    )
    if not finite:
        sentences.insert(0, OVERFLOW)
    unmet = tuple(name for name, met in (("finite", finite), ("converged", converged)) if not met)
    eta = tuple(np.atleast_2d(etas)[:, lists[0]].tolist()) if lists else (float(etas[0]) if etas.size == 1 else None)
    return Outcome(
        setting, job.route, axes, eta, seeds=job.seeds if job.several else None,
        seconds=time.perf_counter() - job.started, status=Status(not unmet, tuple(sentences), unmet), **values,
    )  # fmt: skip


def _iterated(joined: dict[str, np.ndarray]) -> tuple[bool, list[str]]:
    """Whether conjugate gradients have converged where numbers are finite, and a sentence about their residual."""
    if "residual" not in joined or not np.isfinite(joined["residual"]).any():
        return True, []
    worst, count = np.nanmax(joined["residual"]), joined["iterations"].max()
    steps = "1 iteration" if count == 1 else f"{count} iterations"
    if worst <= TOLERANCE:
        return True, [f"Conjugate gradients solved the ridge fit to a relative residual of {worst:.1g} in {steps}."]
    asked = f"Their relative residual is {worst:.1g}, and {TOLERANCE:.0e} was asked for."
    return False, [f"Conjugate gradients did not converge in {steps}. {asked}"]


def _merged(notes: list[str]) -> list[str]:
    """One sentence of each kind, and how many more there are; sentences of a kind differ only in their numbers."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(re.sub(r"[-+.e\d]+", "#", note), []).append(note)
    return [each for same in kinds.values() for each in (same[0], *_again(len(same) - 1))]


def _again(times: int) -> list[str]:
    """A sentence if others of a kind were left out."""
    return [f"That holds of {times} more fit{'s' * (times > 1)}."] if times else []
