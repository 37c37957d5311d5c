"""The statements of the literature that this library checks.

The list is explicit. Heavy packages are imported inside the claims' functions, so reading the list is fast.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from giantstep.checks.claim import Claim
from giantstep.citations import PAPERS, Paper
from giantstep.claims.ba.baselines import BASELINES
from giantstep.claims.bubeck.flips import FLIPS
from giantstep.claims.bubeck.linearity import LINEARITY
from giantstep.claims.bubeck.rate import RATE
from giantstep.claims.bubeck.width import WIDTH as ANY_WIDTH
from giantstep.claims.cui.errors import TEST_ERROR
from giantstep.claims.dandi.conditional import CONDITIONAL
from giantstep.claims.dandi.floors import FLOORS
from giantstep.claims.dandi.one_step import ONE_STEP
from giantstep.claims.dandi.reuse import REUSE
from giantstep.claims.dandi.scaling import SCALING
from giantstep.claims.dandi.second_layer import SECOND_LAYER
from giantstep.claims.dandi.single_step import SINGLE_STEP
from giantstep.claims.dandi.staircase import STAIRCASE
from giantstep.claims.dandi.threshold import THRESHOLD
from giantstep.claims.demir.alignment import ALIGNMENT as SPIKE_ALIGNMENT
from giantstep.claims.demir.conditional import EQUIVALENT
from giantstep.claims.demir.fashion import FASHION
from giantstep.claims.demir.fashion_step import FASHION_STEP
from giantstep.claims.demir.hermite import HERMITE
from giantstep.claims.demir.rank import RANK
from giantstep.claims.demir.ratio import RATIO
from giantstep.claims.demir.strength import STRENGTH
from giantstep.claims.demir.weighting import WEIGHTING
from giantstep.claims.demir.width import WIDTH
from giantstep.claims.giantstep.fitted import FITTED
from giantstep.claims.giantstep.flip_distance import FLIP_DISTANCE
from giantstep.claims.giantstep.mixtures import MIXTURES
from giantstep.claims.giantstep.one_curve import ONE_CURVE
from giantstep.claims.giantstep.optimal import OPTIMAL
from giantstep.claims.hu_lu.universality import UNIVERSALITY
from giantstep.claims.liu.bias_variance import BIAS_VARIANCE
from giantstep.claims.liu.errors import TEST_ERROR as SGD_ERROR
from giantstep.claims.liu.threshold import THRESHOLD as INTERPOLATION
from giantstep.claims.lobo.amplification import AMPLIFICATION
from giantstep.claims.lobo.covariance import COVARIANCE
from giantstep.claims.lobo.eigenvalues import EIGENVALUES
from giantstep.claims.lobo.mixing import MIXING
from giantstep.claims.mei_montanari.double_descent import DOUBLE_DESCENT
from giantstep.claims.moniri.alignment import ALIGNMENT
from giantstep.claims.moniri.bulk import BULK
from giantstep.claims.moniri.improvement import IMPROVEMENT
from giantstep.claims.moniri.limits import LIMITS
from giantstep.claims.moniri.linear_floor import LINEAR_FLOOR
from giantstep.claims.moniri.onset import ONSET
from giantstep.claims.moniri.positions import POSITIONS
from giantstep.claims.moniri.rank_one import RANK_ONE
from giantstep.claims.moniri.settings import SETTINGS
from giantstep.claims.moniri.spikes import SPIKES
from giantstep.claims.moniri.trap import TRAP
from giantstep.claims.moniri.trend import TREND
from giantstep.claims.moniri_hassani.degenerate import DEGENERATE
from giantstep.claims.moniri_hassani.exponents import EXPONENTS
from giantstep.claims.moniri_hassani.outliers import OUTLIERS
from giantstep.claims.moniri_hassani.phases import PHASES
from giantstep.claims.moniri_hassani.reuse import REUSE as SECOND_REUSE
from giantstep.claims.nguwi.fresh import FRESH
from giantstep.claims.nguwi.training import TRAINING
from giantstep.claims.nguwi.vacuity import VACUITY
from giantstep.claims.nguwi.wasserstein import WASSERSTEIN
from giantstep.claims.nishikawa.certified import CERTIFIED
from giantstep.claims.nishikawa.finite import FINITE
from giantstep.claims.nishikawa.generalisation import GENERALISATION
from giantstep.claims.nishikawa.online import ONLINE
from giantstep.claims.nishikawa.truncation import TRUNCATION
from giantstep.claims.saad_solla.one_pass import ONE_PASS
from giantstep.claims.wang_ma.convergence import CONVERGENCE
from giantstep.claims.wang_ma.early import EARLY
from giantstep.claims.wang_ma.partition import PARTITION
from giantstep.claims.wang_ma.sgd import SGD
from giantstep.errors import InputError

__all__ = ["CLAIMS", "cited", "select"]

CLAIMS: tuple[Claim, ...] = (
    RANK_ONE,
    TRAP,
    ALIGNMENT,
    SPIKES,
    BULK,
    ONSET,
    POSITIONS,
    LINEAR_FLOOR,
    IMPROVEMENT,
    LIMITS,
    TREND,
    SETTINGS,
    OUTLIERS,
    PHASES,
    EXPONENTS,
    SECOND_REUSE,
    DEGENERATE,
    DOUBLE_DESCENT,
    BASELINES,
    TEST_ERROR,
    UNIVERSALITY,
    THRESHOLD,
    ONE_STEP,
    SINGLE_STEP,
    SCALING,
    STAIRCASE,
    SECOND_LAYER,
    FLOORS,
    REUSE,
    ONE_PASS,
    SGD_ERROR,
    BIAS_VARIANCE,
    INTERPOLATION,
    TRUNCATION,
    FINITE,
    ONLINE,
    CERTIFIED,
    GENERALISATION,
    CONDITIONAL,
    WIDTH,
    WEIGHTING,
    STRENGTH,
    RATIO,
    SPIKE_ALIGNMENT,
    RANK,
    EQUIVALENT,
    HERMITE,
    FASHION,
    FASHION_STEP,
    PARTITION,
    EARLY,
    CONVERGENCE,
    SGD,
    COVARIANCE,
    EIGENVALUES,
    AMPLIFICATION,
    MIXING,
    FLIPS,
    RATE,
    LINEARITY,
    ANY_WIDTH,
    FRESH,
    TRAINING,
    WASSERSTEIN,
    VACUITY,
    ONE_CURVE,
    OPTIMAL,
    MIXTURES,
    FITTED,
    FLIP_DISTANCE,
)


def select(names: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The claims with these names, in the order of the list; a group such as ``moniri`` stands for all of its claims.

    Without names, all of them.
    """
    for name in names:
        if not any(_named(claim, name) for claim in CLAIMS):
            raise InputError(_unknown(name, [claim.name for claim in CLAIMS]))
    return tuple(claim for claim in CLAIMS if not names or any(_named(claim, name) for name in names))


def cited(name: str | None = None) -> tuple[Paper, ...]:
    """The papers behind a claim, a group of claims or a paper's key, and this library; without a name, all of them."""
    if name is None:
        return PAPERS
    keys = {claim.paper for claim in CLAIMS if _named(claim, name)}
    keys |= {each.key for each in PAPERS if each.key == name}
    if not keys:
        raise InputError(
            _unknown(name, [claim.name for claim in CLAIMS] + [each.key for each in PAPERS], "claim or paper")
        )
    return tuple(each for each in PAPERS if each.key in keys | {PAPERS[-1].key})


def _named(claim: Claim, name: str) -> bool:
    return claim.name == name or claim.name.startswith(name.rstrip("/") + "/")


def _unknown(name: str, known: list[str], what: str = "claim") -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no {what} {name!r}.{hint} Known: {', '.join(known) or 'none'}."
