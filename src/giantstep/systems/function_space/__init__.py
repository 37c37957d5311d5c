"""FunctionSpace: the kernel of a network's features before and after one giant step, and the spectrum of its first layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import given
from giantstep._given.plain import flag, settle
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting, need_gaussian
from giantstep.results.system import System


@given()
@dataclass(frozen=True)
class FunctionSpace(System):
    """One giant step and what it does to the kernel K(x, x') = (1/p) sum_i sigma(⟨w_i, x⟩) sigma(⟨w_i, x'⟩).

    Attributes:
        setting: Gaussian data and one step, which follows one direction u, whatever the target has; several step sizes give
            curves over them, and the numbers are those of the last one. A readout plays no part.
        rho: whether theory keeps the spread of the rows by the gradient's noise.

    Examples:
        >>> space = gs.FunctionSpace(gs.presets.moniri(n=400, d=200, N=300, alpha=0.3, penalty=0.1))
        >>> bool(gs.theory(space).numbers["amplification"].value > 5)  # of the eigenvalue along the step
        True
    """

    kind: ClassVar[str] = "kernel"
    words: ClassVar[Mapping[str, str]] = {
        "strength": "strength s of the step",
        "cosine": "cos(u, β*)",
        "spread": "variance of the bulk, 1 + ρ",
        "top": "top eigenvalue of d WᵀW/p",
        "overlap": "cos² of its vector with u",
        "edge": "edge of its bulk",
        "radial_before": "top radial eigenvalue before",
        "radial_after": "top radial eigenvalue after",
        "aligned_before": "aligned eigenvalue before",
        "aligned_after": "aligned eigenvalue after",
        "amplification": "amplification of it",
        "mixing": "mixing angle in degrees",
        "transverse_before": "transverse eigenvalue before",
        "transverse_after": "transverse eigenvalue after",
        "before": "eigenvalues before the step",
        "after": "eigenvalues after the step",
        "radial_mode": "radial eigenfunction after",
        "aligned_mode": "aligned eigenfunction after",
        "amplifications": "amplification",
        "mixings": "mixing angle in degrees",
    }

    setting: Setting
    rho: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.setting, Setting):
            raise InputError(f"setting must be a Setting, not {type(self.setting).__name__}")
        need_gaussian(self.setting, "a FunctionSpace")
        if len(self.setting.protocol.steps) != 1:
            raise InputError(f"a FunctionSpace has one giant step, not {len(self.setting.protocol.steps)}")
        settle(self, flag, "rho")

    @property
    def etas(self) -> Float[np.ndarray, " E"]:
        """The step sizes."""
        return np.atleast_1d(self.setting.protocol.etas(self.setting.d, self.setting.p)[..., 0])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes to read its numbers by."""
        constant = self.setting.network.second_layer == "constant" and self.setting.network.weights is None
        return (
            "A constant second layer moves all neurons to one side: the radial and the aligned mode are one.",
        ) * constant

    def to_plain(self) -> dict[str, Any]:
        return {"system": self.kind, **({} if self.rho else {"rho": False}), **self.setting.to_plain()}

    @classmethod
    def from_plain(cls, data: Any) -> "FunctionSpace":
        """The fields of a setting, and perhaps ``rho``."""
        inner = {key: value for key, value in data.items() if key != "rho"}
        return cls(Setting.from_plain(inner), data.get("rho", True))

    def __str__(self) -> str:
        s, n = self.setting, self.setting.protocol.sizes()[0]
        return f"function space, {s.network.activation.name}, d = {s.d}, n = {n}, p = {s.p}, η = {self.etas[-1]:.4g}"
