"""The sentences below the spectrum: theory's spikes, the simulated ones, and why their numbers differ."""

from typing import Any

import numpy as np

from giantstep import measure
from giantstep.explorer import _settings as settings
from giantstep.explorer._state import OneStep
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.measure import mean_and_error
from giantstep.plot.style import histogram
from giantstep.results.table import rounded, with_error

NOISY = 0.1  # share of a neuron's squared length that the gradient's noise adds, from which the noise is seen


def law_words(s: OneStep, known: OneStepAnswer) -> str:
    """What theory predicts, what the seeds show, and why they differ."""
    law = known.law
    places = " and ".join(f"{one.position:.4g}" for one in law.outliers)
    places = places.replace(" and ", ", ", len(law.outliers) - 2)
    spikes = f"{counted(len(law.outliers), 'spike')}, at {places}" if places else "no spike"
    paragraphs = [[f"The bulk ends at {law.edge:.4g}.", f"Theory predicts {spikes}."]]
    if known.spectra:
        above = [np.sort(histogram(values)[1])[::-1] for values in known.spectra]
        paragraphs += [_seen(known, above), _difference(s, known, above)]
    return "\n".join(" ".join(sentences) for sentences in paragraphs if sentences)


def seeds(known: OneStepAnswer) -> str:
    """How many seeds the spectrum has."""
    return counted(len(known.spectra), "seed")


def counted(count: int, name: str) -> str:
    """A number of things."""
    return f"{count} {name}{'s' * (count != 1)}"


def _seen(known: OneStepAnswer, above: list[np.ndarray]) -> list[str]:
    """How many values the seeds have above their bulk, and where the largest lies."""
    mean, error = mean_and_error(np.array([float(np.max(values)) for values in known.spectra]))
    se = float(error) if len(known.spectra) > 1 else None
    count = float(np.mean([len(one) for one in above]))
    largest = f"The largest is {with_error(float(mean), se)}"
    if known.law.outliers:
        largest += f", and theory predicts {rounded(known.law.outliers[0].position, None, se)}"
    many = "no value" if count == 0 else f"{count:.2g} value{'s' * (count != 1)}"
    have = f"have {many} above their bulk on average" if len(above) > 1 else f"has {many} above its bulk"
    return [f"In the simulation {seeds(known)} {have}.", f"{largest}."]


def _difference(s: OneStep, known: OneStepAnswer, above: list[np.ndarray]) -> list[str]:
    """Why the seeds have more values above their bulk than theory has spikes, or fewer."""
    count = len(known.law.outliers)
    found = []
    if any(len(one) > count for one in above):
        found += _more(s, known, above)
    if any(len(one) < count for one in above):
        found += _fewer(known.law, above)
    return found


def _more(s: OneStep, known: OneStepAnswer, above: list[np.ndarray]) -> list[str]:
    """Theory's spikes are those of the learned direction. Long directions of the gradient's noise belong to its bulk."""
    law, share = known.law, known.unit.noise * settings.sizes(s)[0] ** (2 * s.alpha)
    others = np.concatenate([one[len(law.outliers) :] for one in above])
    place = f"between {others.min():.3g} and {others.max():.3g}" if len(others) > 1 else f"at {others[0]:.3g}"
    if share < NOISY:
        within = 100 * float(np.max(np.abs(others / law.edge - 1)))
        return [f"Those without a predicted spike lie within {within:.2g}% of theory's edge, where chance decides."]
    return [
        f"Those without a predicted spike lie {place}.",
        "They come mostly from the noise of the gradient: its few longest directions stick out of a seed's bulk, "
        "and theory counts them to the bulk.",
        f"This noise adds {100 * share:.0f}% to the squared length of the neurons.",
    ]


def _fewer(law: Any, above: list[np.ndarray]) -> list[str]:
    """A spike close to the edge is not told from the bulk."""
    lowest, margin = law.outliers[-1].position, measure.margin(law.count)
    over = lowest / law.edge - 1
    missing = sum(len(one) < len(law.outliers) for one in above)
    where = f"{counted(missing, 'seed')} of {len(above)} {'does' if missing == 1 else 'do'} not show the spike at {lowest:.4g}"
    if over > margin:
        return [f"{where[0].upper()}{where[1:]}, though it is {100 * over:.2g}% above theory's edge."]
    return [
        f"{where}: it is only {100 * over:.2g}% above the edge.",
        f"At this size a spike must stand {100 * margin:.2g}% above it to be told from the bulk.",
    ]
