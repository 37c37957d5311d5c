"""Parts: bias and variance of the risk of a readout that is linear in the labels."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parts:
    """Risk = bias + variance, averaged over the label noise; arrays along the penalties or rates if those are lists.

    Attributes:
        bias: the risk of the same readout on labels without noise; it includes the floor.
        variance: the risk that the same readout adds by fitting the label noise.
        floor: the smallest risk that any coefficients of these features reach; theory only.
        gradient_bias: the share of the bias that goes when phi phi^T is replaced by its mean: B1 of Liu et al. (2022), with what
            the floor, as label noise, adds to it; theory only.
        gradient_variance: the same share of the variance, V1; theory only.
        bias_se: standard error of the bias over seeds, or over first layers; None for one.
        variance_se: that of the variance.
        risk_se: that of the risk.
    """

    bias: Any
    variance: Any
    floor: Any = None
    gradient_bias: Any = None
    gradient_variance: Any = None
    bias_se: Any = None
    variance_se: Any = None
    risk_se: Any = None

    @property
    def risk(self) -> Any:
        """The test error without label noise."""
        return self.bias + self.variance
