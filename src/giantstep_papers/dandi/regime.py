"""A regime of batch size and width: its experiment, and what the talk says of it."""

from functools import cache
from typing import NamedTuple

import giantstep as gs
from giantstep.explain import Explanation

TALK = ("x1", "H2(x2)/sqrt(2)", "H2(x1)*x2/sqrt(2)", "H4(x1)*H2(x2)*x3/sqrt(48)", "H2(x2)*H2(x3)/2")


class Regime(NamedTuple):
    """n = samples d^a and p = neurons d^b for ``batch`` "d^a" and ``width`` "d^b".

    The target's terms have mass one each.
    With d^2 samples the step's labels lose their linear part and the step is longer.
    ``steps = 0`` is random features.
    """

    name: str
    batch: str
    width: str
    samples: int
    neurons: int
    terms: tuple[str, ...] = TALK
    activation: str = "tanh(x + 0.8)"  # it has Hermite coefficients of all orders
    steps: int = 1
    symmetric: bool = True  # neurons come in pairs, so that the output starts at zero

    def setting(self, d: int) -> gs.Setting:
        power = {"1": 0, "d": 1, "d^2": 2}
        n, p = self.samples * d ** power[self.batch], self.neurons * d ** power[self.width]
        square = self.batch == "d^2"
        more = {"second_layer": "gaussian", "symmetric": self.symmetric}
        network = gs.Network(p, self.activation, scale="1/p", **more)
        step = gs.GiantStep(n, p * (2 * d**0.5 if square else 2.0), deflate=2 if square else 0)
        protocol = gs.Protocol((step,) * self.steps, gs.Ridge(n, 0.0))
        return gs.Setting(gs.Gaussian(d), gs.target(" + ".join(self.terms)), network, protocol)

    @property
    def fates(self) -> list[bool]:
        """Whether the talk underlines each term as fitted."""
        terms = _explained(self.terms, self.batch, self.width, self.steps).terms
        known = {term["term"]: term["fate"] == "fitted" for term in terms}
        return [known[term.split("/")[0]] for term in self.terms]

    @property
    def floor(self) -> float:
        """The least risk as d grows: of random features, or of the network."""
        floor = _explained(self.terms, self.batch, self.width, self.steps).floor
        return float(floor["network" if self.steps else "random_features"])


@cache
def _explained(terms: tuple[str, ...], batch: str, width: str, steps: int) -> Explanation:
    return gs.explain(" + ".join(terms), batch=batch, width=width, steps=steps)
