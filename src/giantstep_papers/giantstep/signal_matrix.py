"""The signal matrix of two steps: how many outliers, where and along what, layer by layer,
and over the plane of exponents."""

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep_papers.moniri_hassani import layers, outliers, phase_diagram
from giantstep_papers.moniri_hassani.outliers import CASES, which

CLAIM = Claim(
    order=22,
    paper="moniri_hassani",
    of="giantstep",
    statement="After two giant steps the signal matrix and the null matrix predict the outliers of "
    "the first layer at finite size: their number, their positions and their alignments.",
    where="our prediction at finite size, after the spectral characterisation of Moniri and "
    "Hassani",
    how="An outlier beyond 1.1 thresholds of one spectrum, predicted or measured, must be an "
    "outlier of the other, over the plane of exponents."
    " The mean number must be that "
    "predicted. Positions and cos² of outlier k with direction k are compared seed by seed "
    "with the prediction.",
    judges=(
        Judge(
            "share of layers whose clear outliers agree, over the plane",
            side="above",
            margin=(0.05, 0.02),
            departure=(0.15, 0.05),
            because="outliers near the edge, which W0 moves by up to 9%",
        ),
        Judge(
            "mean number less predicted, over the plane",
            margin=0.15,
            departure=0.45,
            because="outliers near the edge",
        ),
        Judge(
            "position over predicted",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/√d",
        ),
        Judge(
            "cos² with direction k less predicted",
            margin=(0.06, 0.03),
            departure=(0.15, 0.08),
            because="terms of order 1/√d",
        ),
    ),
    seeds={"quick": Seeds(12, 60), "full": Seeds(24, 130)},
)

PLANE = 3  # every so many seeds the whole plane of exponents is measured


def measure(size: Size, seeds: range) -> Data:
    """Values, thresholds and cos^2 of the cases, and values and thresholds over the plane."""
    return {
        "cases": outliers.measure(size, seeds),
        "plane": phase_diagram.measure(size, seeds[::PLANE]),
    }


def predict_draws(size: Size, seeds: range) -> Data:
    """The same by the signal matrix of every seed."""
    cases = outliers.predict_draws(size, seeds)
    return {"cases": cases, "plane": phase_diagram.predict_draws(size, seeds[::PLANE])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Clear outliers are in both spectra, everywhere; positions,
    and cos^2 of outlier k with direction k, are those predicted."""
    at = [f"outlier {k + 1}, {CASES[size][i]}" for i, k in which(size)]
    found, expected = measured["cases"], predicted["cases"]
    places = np.stack([found["values"][i, k] / expected["values"][i, k] for i, k in which(size)])
    along = np.stack(
        [found["cosines"][i, k, k] - expected["cosines"][i, k, k] for i, k in which(size)]
    )
    agree = np.mean(layers.agree(measured["plane"], predicted["plane"]), axis=(0, 1, 2))
    more = np.mean(
        layers.counts(measured["plane"]) - layers.counts(predicted["plane"]), axis=(0, 1, 2)
    )
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share of layers whose clear outliers agree, over the plane", agree[None], 1.0),
        judge("mean number less predicted, over the plane", more[None]),
        judge("position over predicted", places, 1.0, at=at),
        judge("cos² with direction k less predicted", along, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, plane = outliers.DIMENSIONS[size], phase_diagram.DIMENSIONS[size]
    agree = layers.agree(measured["plane"], predicted["plane"])
    whole = layers.counts(measured["plane"]) == layers.counts(predicted["plane"])
    return Verdict(
        sentence="Over the plane of exponents the clear outliers are those predicted in "
        f"{np.mean(agree):.0%} of the layers. With those near the edge their number is right in "
        f"{np.mean(whole):.0%}. {ruling.stated.sentence}",
        sizes=f"d = {d}, and {plane} over the plane, {layers.SHAPE}; {layers.SMOOTH}; C1 = "
        f"{layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=outliers.figure(size, measured["cases"], predicted["cases"]),
        caption="Every outlier (left) and its direction (right) is where the signal matrix puts it "
        "(line: equality).",
        settings=tuple(layers.experiment(d, *case[:3]).id for case in CASES[size]),
    )
