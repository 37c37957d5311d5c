"""A regime of batch size and width: its experiment, and what the table says of it."""

from dataclasses import dataclass
from functools import cached_property

import giantstep as gs
from giantstep.experiment.setting import Setting
from giantstep.explain import Explanation

TALK = ("x1", "H2(x2)/sqrt(2)", "H2(x1)*x2/sqrt(2)", "H4(x1)*H2(x2)*x3/sqrt(48)", "H2(x2)*H2(x3)/2")
PAIR = ("x1", "x1*x2")


@dataclass(frozen=True)
class Regime:
    """The powers of d of the batches and of the width, and the target's terms."""

    batch: str
    width: str
    terms: tuple[str, ...] = TALK

    def setting(self, d: int) -> Setting:
        """n = 8d (two terms: 32d) or 4d^2 samples a phase, width 16, d (two terms: 2d) or d^2; with d^2 samples the step's labels
        lose their linear part."""
        square, pair = self.batch == "d^2", self.terms == PAIR
        n = 4 * d * d if square else 8 * d * (1 + 3 * pair)
        p = {"1": 16, "d": d * (1 + pair), "d^2": d * d}[self.width]
        strength = 2 * d**0.5 if square else 1.0 + pair
        activation = "relu" if pair else "elu"
        network = gs.Network(p, activation, scale="1/p", second_layer="gaussian", symmetric=True)
        step = gs.GiantStep(n, strength * p, deflate=2 if square else 0)
        protocol = gs.Protocol((step,), gs.Ridge(n, 0.0))
        return gs.Setting(gs.Gaussian(d), gs.target(" + ".join(self.terms)), network, protocol)

    @cached_property
    def explained(self) -> Explanation:
        return gs.explain(" + ".join(self.terms), batch=self.batch, width=self.width, steps=1)

    @property
    def floors(self) -> tuple[float, float]:
        """Of the network, and of random features."""
        return self.explained.floor["network"], self.explained.floor["random_features"]

    @property
    def fates(self) -> tuple[str, ...]:
        """Of every term: fitted or lost."""
        known = {t["term"]: t["fate"] for t in self.explained.terms}
        return tuple(known[term.split("/")[0]] for term in self.terms)

    def __str__(self) -> str:
        return f"n ~ {self.batch}, p ~ {self.width}" + (", two terms" if self.terms == PAIR else "")


NARROW, WIDE = Regime("d", "1", PAIR), Regime("d", "d", PAIR)
REGIMES = (
    *[Regime(*powers) for powers in (("d", "1"), ("d", "d"), ("d^2", "1"), ("d^2", "d"), ("d^2", "d^2"))],
    NARROW,
    WIDE,
)
