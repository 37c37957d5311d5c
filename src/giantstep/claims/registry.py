"""The claims with what measures and judges them: importing this loads every package that they compute with."""

from giantstep.checks.claim import Claim
from giantstep.claims.ba import baselines
from giantstep.claims.bubeck import failure, flips, linearity, rate
from giantstep.claims.bubeck import width as bubeck_width
from giantstep.claims.claim import ClaimModule, checked_by
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
    bound_informative,
    conditional_steps,
    deflated_step,
    directions,
    dual_rates,
    early_time,
    fitted,
    flip_distance,
    fresh_batches,
    function_gap,
    images,
    integer_degree,
    kernel_sweep,
    labels_shrink,
    late_loss,
    leftover,
    means,
    mixtures,
    network_gap,
    one_curve,
    optimal,
    own_batch,
    ray_law,
    row_edge,
    second_sample,
    sgd_variance,
    sign_rank,
    signal_matrix,
    step_constants,
    steps,
    tanh_climb,
    two_steps,
)
from giantstep.claims.giantstep import one_pass as giantstep_one_pass
from giantstep.claims.giantstep import settings as own_settings
from giantstep.claims.hu_lu import universality as hu_lu_universality
from giantstep.claims.liu import bias_variance
from giantstep.claims.liu import test_error as liu_test_error
from giantstep.claims.liu import threshold as liu_threshold
from giantstep.claims.lobo import amplification, covariance, eigenvalues, mixing
from giantstep.claims.mei_montanari import double_descent
from giantstep.claims.moniri import expansion, expansion_gradient, protocol
from giantstep.claims.moniri import universality as moniri_universality
from giantstep.claims.moniri.errors import improvement, limits, linear_floor, settings, trend
from giantstep.claims.moniri.gradient import alignment as moniri_alignment
from giantstep.claims.moniri.gradient import normalisation_trap, rank_one
from giantstep.claims.moniri.spectrum import bulk, onset, positions, spikes, third_spike
from giantstep.claims.moniri_hassani import alignments, degenerate, exponents, outliers, phase_diagram
from giantstep.claims.moniri_hassani import reuse as moniri_hassani_reuse
from giantstep.claims.moniri_hassani import threshold as moniri_hassani_threshold
from giantstep.claims.nguwi import before_training, fresh, training, wasserstein
from giantstep.claims.nishikawa import certified, features, finite, generalisation, online, truncation
from giantstep.claims.saad_solla import one_pass
from giantstep.claims.wang_ma import convergence, early, partition, sgd

MODULES: tuple[ClaimModule, ...] = (
    rank_one, normalisation_trap, moniri_alignment, spikes, third_spike, bulk,
    onset, positions, expansion, expansion_gradient, protocol,
    linear_floor, improvement, limits, trend, settings, moniri_universality,
    outliers, alignments, phase_diagram, exponents, moniri_hassani_reuse,
    moniri_hassani_threshold, degenerate,
    double_descent,
    baselines,
    cui_test_error,
    hu_lu_universality,
    dandi_threshold, one_step, single_step, scaling, staircase, second_layer,
    floors, converse, table, random_features, dandi_reuse, small_batches,
    one_pass,
    liu_test_error, bias_variance, liu_threshold,
    truncation, finite, online, certified, generalisation, features,
    dandi_conditional,
    demir_width, weighting, strength, ratio, demir_alignment, rank,
    demir_conditional, hermite, fashion, fashion_step,
    partition, early, convergence, sgd,
    covariance, eigenvalues, amplification, mixing,
    flips, rate, linearity, bubeck_width, failure,
    fresh, training, wasserstein, before_training,
    one_curve, optimal, own_settings, second_sample, leftover, mixtures, means, fitted, images, flip_distance,
    directions, steps, two_steps, own_batch,
    tanh_climb, sign_rank, step_constants, integer_degree, deflated_step, fresh_batches, conditional_steps,
    signal_matrix, row_edge, kernel_sweep, ray_law,
    bound_informative, sgd_variance, giantstep_one_pass, dual_rates, function_gap, early_time, late_loss,
    labels_shrink, network_gap,
)  # fmt: skip

CLAIMS: tuple[Claim, ...] = tuple(checked_by(module) for module in MODULES)
