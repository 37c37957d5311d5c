"""The signal matrix of two steps: how many outliers, where and along what, layer by layer, and over the plane of exponents."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep_papers.moniri_hassani import layers, outliers, phase_diagram
from giantstep_papers.moniri_hassani.outliers import CASES, which

CLAIM = Claim(
    order=22,
    paper="moniri_hassani",
    of="giantstep",
    statement="After two giant steps the signal matrix and the null matrix predict the outliers of the "
    "first layer at finite size: their number, their positions and their alignments.",
    where="our prediction at finite size, after the spectral characterisation of Moniri and Hassani",
    how="An outlier beyond 1.1 thresholds of one spectrum, predicted or measured, must be an "
    "outlier of the other, over the plane of exponents. A small share of layers may differ, "
    "because W0 moves an outlier near the edge by up to 9%. The mean number must be that "
    "predicted. Positions and cos² of outlier k with direction k are compared seed by seed "
    "with the prediction, with margins for terms of order 1/√d.",
    seeds={"quick": Seeds(12, 60), "full": Seeds(24, 130)},
)

PLANE = 3  # every so many seeds the whole plane of exponents is measured
PLACE = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.04)}  # relative
COSINE = {"quick": Tolerance(0.06, 0.15), "full": Tolerance(0.03, 0.08)}  # of a cos^2
NUMBER = {"quick": Tolerance(0.05, 0.15), "full": Tolerance(0.02, 0.05)}  # of a share of layers
MEAN = Tolerance(0.15, 0.45)  # of the mean number


def measure(size: Size, seeds: range) -> Data:
    """Values, thresholds and cos^2 of the cases, and values and thresholds over the plane."""
    return {"cases": outliers.measure(size, seeds), "plane": phase_diagram.measure(size, seeds[::PLANE])}


def predict_draws(size: Size, seeds: range) -> Data:
    """The same by the signal matrix of every seed."""
    cases = outliers.predict_draws(size, seeds)
    return {"cases": cases, "plane": phase_diagram.predict_draws(size, seeds[::PLANE])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Clear outliers are in both spectra, everywhere; positions, and cos^2 of outlier k with direction k, are those predicted."""
    at = [f"outlier {k + 1}, {CASES[size][i]}" for i, k in which(size)]
    found, expected = measured["cases"], predicted["cases"]
    places = np.stack([found["values"][i, k] / expected["values"][i, k] for i, k in which(size)])
    along = np.stack([found["cosines"][i, k, k] - expected["cosines"][i, k, k] for i, k in which(size)])
    agree = np.mean(layers.agree(measured["plane"], predicted["plane"]), axis=(0, 1, 2))
    more = np.mean(layers.counts(measured["plane"]) - layers.counts(predicted["plane"]), axis=(0, 1, 2))
    share = "share of layers whose clear outliers agree, over the plane"
    return statistics.stated(
        statistics.compare(share, agree[None], 1.0, side="above", within=NUMBER[size]),
        statistics.compare("mean number less predicted, over the plane", more[None], within=MEAN),
        statistics.compare("position over predicted", places, 1.0, at=at, relative=True, within=PLACE[size]),
        statistics.compare("cos² with direction k less predicted", along, at=at, within=COSINE[size]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, plane = outliers.DIMENSIONS[size], phase_diagram.DIMENSIONS[size]
    agree = layers.agree(measured["plane"], predicted["plane"])
    whole = layers.counts(measured["plane"]) == layers.counts(predicted["plane"])
    return Verdict(
        sentence=f"Over the plane of exponents the clear outliers are those predicted in {np.mean(agree):.0%} of the layers. "
        f"With those near the edge their number is right in {np.mean(whole):.0%}. {ruling.stated.sentence}",
        sizes=f"d = {d}, and {plane} over the plane, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, "
        f"C2 = {layers.CONSTANTS[1]}",
        figure=outliers.figure(size, measured["cases"], predicted["cases"]),
        caption="Every outlier (left) and its direction (right) is where the signal matrix puts it (line: equality).",
        settings=tuple(layers.experiment(d, *case[:3]).id for case in CASES[size]),
    )
