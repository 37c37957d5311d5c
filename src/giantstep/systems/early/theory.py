"""What the first stage of training does, predicted: in the mean over initialisations and batches, for the inputs of a system.

On orthogonally separable data the classes are linear models of Binomial(m, alive/2) neurons (``classwise``); elsewhere, and for
minibatches with another loss than the square, outputs are followed from drawn initial patterns (``frozen``), without a network;
where such patterns change, as on images, wide references are trained (``wide_reference``).
"""

from typing import TYPE_CHECKING

import numpy as np

from giantstep.measure import mean_and_error
from giantstep.results.system import Number, Reading
from giantstep.systems.early import classwise, living_neurons
from giantstep.systems.early._wide_reference import FIRST, MANY, REFERENCES, WIDE, reference
from giantstep.systems.early.frozen_patterns import follow
from giantstep.systems.early.path import crossing, curve, ordered, shares
from giantstep.systems.early.samples import LOSSES, gram, inputs
from giantstep.systems.early.simulate import run

if TYPE_CHECKING:
    from giantstep.systems.early import Early

STARTS = 24  # initialisations that are followed
LEFT = 0.01  # share of the neurons that the first batch may leave where they are
LARGEST = 200  # samples up to which second moments are followed
SORTED = "The data are not orthogonally separable, but the first step sorts every neuron all the same."
UNSORTED = "After the first step {:.0%} of the neurons live on parts of classes, and such patterns change."
RARE = 1e-3  # chance of a number of neurons that may leave the time of the drop unknown


def predicted(system: "Early") -> Reading:
    """Predict the numbers and curves of a run."""
    separable, square = living_neurons.separable(system), system.loss == "square"
    closed = separable and (system.batch is None or (square and system.layers == "first" and _moved_at_once(system)))
    parts = _closed(system) if closed else _followed(system)
    numbers = {**parts.numbers, "uncovered": living_neurons.uncovered(system).most}
    return Reading(numbers, parts.curves, parts.notes + _notes(system, closed))


def _moved_at_once(system: "Early") -> bool:
    """Whether the first batch moves nearly every neuron, and second moments are not too large to follow."""
    left = float(np.mean(1 - living_neurons.active(system))) ** (system.batch or system.n)
    return left < LEFT and system.n <= LARGEST


def _notes(system: "Early", closed: bool) -> tuple[str, ...]:
    notes = []
    if not closed and system.layers == "both":
        notes.append("The prediction holds the second layer fixed.")
    # the least that a first push moves a neuron on a sample, against where it starts
    least = float(np.min(np.abs(gram(system)))) * float(LOSSES[system.loss].pull(np.zeros(1))[0])
    if 3 * system.init > system.rate * least / (system.batch or system.n):
        notes.append("The start is not small beside a step: neurons may take several to be sorted.")
    return tuple(notes)


def _closed(system: "Early") -> Reading:
    """Predict from the laws of the classes: m_+ runs over its values, and m_- is the rest of the living neurons."""
    share = living_neurons.alive(system)
    m, weights = living_neurons.numbers(system, share)
    alive = system.width * share
    several = (m, np.maximum(alive - m, 0.0))
    pairs = list(zip(classwise.classes(system, share), several, strict=True))
    curves = {}
    if system.batch is None:
        paths = [classwise.descent(system, own, k) for own, k in pairs]
        losses = paths[0].loss + paths[1].loss
        ratios = weights @ ((paths[0].square + paths[1].square) / losses)
        ratios[0] = classwise.first_ratio(system)
        curves = {"ratio": curve(system, ratios, log="y")}
    else:
        plus, minus = (np.array([classwise.minibatches(system, own, k) for k in ks]) for own, ks in pairs)
        losses = plus + minus
    times = np.array([crossing(system.times, loss, system.drop) for loss in losses])
    known = np.isfinite(times) | (weights > RARE)
    at_start, first = np.mean(living_neurons.active(system)) / 2, np.arange(system.steps + 1) == 0
    numbers = {
        "sorted_plus": alive / 2,
        "sorted_minus": alive / 2,
        "drop_time": weights[known] @ times[known] / weights[known].sum(),
        "last_loss": weights @ losses[:, -1],
    }
    curves = {
        "loss": curve(system, weights @ losses, log="y"),
        **curves,
        "true_living": curve(system, np.where(first, at_start, share / 2)),
        "false_living": curve(system, np.where(first, at_start, 0.0)),
    }
    if system.loss != "square" and system.layers == "first" and system.batch is None:
        bounds = [classwise.bound(system, *k) for k in zip(*several, strict=True)]
        curves["bound"] = curve(system, weights @ bounds, log="y")
    return Reading(numbers, curves)


def _followed(system: "Early") -> Reading:
    """Predict by the mean over initialisations and batches that are followed."""
    _, y = inputs(system)
    paths = [follow(system, FIRST + k) for k in range(STARTS)]
    into = [(ordered(c.last, y, c.a), c.a) for c in paths]
    loose = np.mean([np.mean(~s & np.any(c.last, axis=0)) for c, (s, _) in zip(paths, into, strict=True)])
    notes, fewer = () if living_neurons.separable(system) else (SORTED,), 1.0
    if loose > 0:  # such patterns change, and the references know how
        paths = [run(reference(system), FIRST + k) for k in range(REFERENCES)]
        into = [(ordered(c.last, y, c.a), c.a) for c in paths]
        notes, fewer = (UNSORTED.format(loose), MANY), system.width / WIDE
    each = {
        "sorted_plus": [fewer * np.sum(s & (a > 0)) for s, a in into],
        "sorted_minus": [fewer * np.sum(s & (a < 0)) for s, a in into],
        "drop_time": [crossing(system.times, c.loss, system.drop) for c in paths],
        "last_loss": [c.loss[-1] for c in paths],
    }
    numbers = {name: Number.of(values) for name, values in each.items()}
    if living_neurons.separable(system):  # as many as are alive, which needs no draws of batches
        numbers |= dict.fromkeys(
            ("sorted_plus", "sorted_minus"), Number(system.width * living_neurons.alive(system) / 2)
        )
    lives = fewer * np.array([shares(system, c.counts) for c in paths])
    several = {
        "loss": (np.array([c.loss for c in paths]), "y"),
        "ratio": (fewer * np.array([c.ratio for c in paths]), "y"),
        "true_living": (lives[..., 0], ""),
        "false_living": (lives[..., 1], ""),
    }
    curves = {name: curve(system, *mean_and_error(values, 0), log) for name, (values, log) in several.items()}
    return Reading(numbers, curves, notes)
