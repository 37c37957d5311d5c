"""A wide reference: the limit of many neurons, in which the first stage of training depends on width times time alone.

f is a sum over neurons, and each moves by its rate times a gradient that knows the others through f only. M neurons at the rate
(m/M) rate, from a start that is smaller by as much, therefore have the outputs of m neurons at that rate, up to the scatter of
the neurons: exact in the limit of many, for any inputs and any loss, while the second layer is fixed.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from giantstep.systems.early import Early

WIDE, REFERENCES, FIRST = (
    512,
    4,
    10**6,
)  # neurons of a reference, how many, and the first seed: none that a run is likely to have
MANY = (
    f"The loss is that of networks of {WIDE} neurons at the same width times time, which is the limit of many neurons."
)


def reference(system: "Early") -> "Early":
    """The wide network that the system is compared with."""
    share = system.width / WIDE
    return replace(system, width=WIDE, rate=system.rate * share, init=system.init * share, layers="first")
