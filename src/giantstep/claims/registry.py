"""The claims with what measures and judges them: importing this loads every package that they compute with."""

from giantstep.checks.claim import Claim
from giantstep.claims.ba import baselines
from giantstep.claims.bubeck import failure, flips, linearity, rate
from giantstep.claims.bubeck import width as bubeck_width
from giantstep.claims.cui import test_error as cui_test_error
from giantstep.claims.dandi.directions import one_step, scaling, second_layer, small_batches, staircase
from giantstep.claims.dandi.directions import reuse as dandi_reuse
from giantstep.claims.dandi.directions import threshold as dandi_threshold
from giantstep.claims.dandi.risk import conditional as dandi_conditional
from giantstep.claims.dandi.risk import converse, floors, random_features, single_step, table
from giantstep.claims.demir import alignment as demir_alignment
from giantstep.claims.demir import conditional as demir_conditional
from giantstep.claims.demir import fashion, fashion_step, hermite, rank, ratio, strength, weighting
from giantstep.claims.demir import width as demir_width
from giantstep.claims.giantstep import (
    directions,
    fitted,
    flip_distance,
    images,
    means,
    mixtures,
    one_curve,
    optimal,
    own_batch,
    steps,
    two_steps,
)
from giantstep.claims.hu_lu import universality
from giantstep.claims.liu import bias_variance
from giantstep.claims.liu import test_error as liu_test_error
from giantstep.claims.liu import threshold as liu_threshold
from giantstep.claims.lobo import amplification, covariance, eigenvalues, mixing
from giantstep.claims.mei_montanari import double_descent
from giantstep.claims.moniri import expansion, protocol
from giantstep.claims.moniri.errors import improvement, limits, linear_floor, settings, trend
from giantstep.claims.moniri.gradient import alignment as moniri_alignment
from giantstep.claims.moniri.gradient import normalisation_trap, rank_one
from giantstep.claims.moniri.spectrum import bulk, onset, positions, spikes, third_spike
from giantstep.claims.moniri_hassani import alignments, degenerate, exponents, outliers, phase_diagram
from giantstep.claims.moniri_hassani import reuse as moniri_hassani_reuse
from giantstep.claims.moniri_hassani import threshold as moniri_hassani_threshold
from giantstep.claims.nguwi import fresh, training, vacuity, wasserstein
from giantstep.claims.nishikawa import certified, features, finite, generalisation, online, truncation
from giantstep.claims.saad_solla import one_pass
from giantstep.claims.wang_ma import convergence, early, partition, sgd

__all__ = ["CLAIMS"]

CLAIMS: tuple[Claim, ...] = (
    rank_one.CLAIM, normalisation_trap.CLAIM, moniri_alignment.CLAIM, spikes.CLAIM, third_spike.CLAIM, bulk.CLAIM,
    onset.CLAIM, positions.CLAIM, expansion.CLAIM, protocol.CLAIM,
    linear_floor.CLAIM, improvement.CLAIM, limits.CLAIM, trend.CLAIM, settings.CLAIM,
    outliers.CLAIM, alignments.CLAIM, phase_diagram.CLAIM, exponents.CLAIM, moniri_hassani_reuse.CLAIM,
    moniri_hassani_threshold.CLAIM, degenerate.CLAIM,
    double_descent.CLAIM,
    baselines.CLAIM,
    cui_test_error.CLAIM,
    universality.CLAIM,
    dandi_threshold.CLAIM, one_step.CLAIM, single_step.CLAIM, scaling.CLAIM, staircase.CLAIM, second_layer.CLAIM,
    floors.CLAIM, converse.CLAIM, table.CLAIM, random_features.CLAIM, dandi_reuse.CLAIM, small_batches.CLAIM,
    one_pass.CLAIM,
    liu_test_error.CLAIM, bias_variance.CLAIM, liu_threshold.CLAIM,
    truncation.CLAIM, finite.CLAIM, online.CLAIM, certified.CLAIM, generalisation.CLAIM, features.CLAIM,
    dandi_conditional.CLAIM,
    demir_width.CLAIM, weighting.CLAIM, strength.CLAIM, ratio.CLAIM, demir_alignment.CLAIM, rank.CLAIM,
    demir_conditional.CLAIM, hermite.CLAIM, fashion.CLAIM, fashion_step.CLAIM,
    partition.CLAIM, early.CLAIM, convergence.CLAIM, sgd.CLAIM,
    covariance.CLAIM, eigenvalues.CLAIM, amplification.CLAIM, mixing.CLAIM,
    flips.CLAIM, rate.CLAIM, linearity.CLAIM, bubeck_width.CLAIM, failure.CLAIM,
    fresh.CLAIM, training.CLAIM, wasserstein.CLAIM, vacuity.CLAIM,
    one_curve.CLAIM, optimal.CLAIM, mixtures.CLAIM, means.CLAIM, fitted.CLAIM, images.CLAIM, flip_distance.CLAIM,
    directions.CLAIM, steps.CLAIM, two_steps.CLAIM, own_batch.CLAIM,
)  # fmt: skip
