"""One giant step as a change of the inputs: random features on stretched inputs in the place of a trained network.

With a Gaussian second layer the rows after the step are N(0, S/d), S = b I + d s^2 u u^T (``theory.kernel``). A row is S^(1/2) g
with g ~ N(0, I/d) a row that was never trained, and ⟨S^(1/2) g, x⟩ = ⟨g, S^(1/2) x⟩. So a network that took the step sees x as an
untrained one sees

    x~ = S^(1/2) x ~ N(0, b I + d s^2 u u^T),    f*(x) = g(⟨v_1, x⟩, ...) = g(⟨S^(-1/2) v_1, x~⟩, ...)

which is what Lobo, Loureiro, Tran-Thanh and Liu (2026) call a transformation of input space. A ridge readout, which forgets the
second layer, has the same errors in both, where b is the same for all neurons.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, given
from giantstep._given.plain import flag
from giantstep.errors import InputError
from giantstep.experiment.data.mixture import Component, Mixture, Spike
from giantstep.experiment.setting import Setting
from giantstep.theory import kernel
from giantstep.theory._coverage import check
from giantstep.theory.mixtures._stretched import stretched_mixture


@given(setting=a(Setting), rho=flag)
def equivalent_inputs(setting: Setting, rho: bool = True) -> Setting:
    """The setting without the step, on inputs that are stretched as the step would have stretched the features.

    Simulate it, or predict it: its errors are those of ``setting``, as far as the rows after a step are of a Gaussian law.

    Args:
        setting: Gaussian data or a mixture, a Gaussian second layer, one step of one size and a ridge readout on fresh samples.
            On Gaussian data the target may have several directions; ``theory`` then covers ``setting``, and the stretched
            inputs are simulated.
        rho: keep the spread of the rows by the gradient's noise; always kept on a mixture.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=0.4, penalty=0.1)
        >>> stretched = gs.theory.equivalent_inputs(s)
        >>> len(stretched.protocol.steps), stretched.data.components[0].spikes[0].strength > 1
        (0, True)
    """
    if len(setting.protocol.steps) != 1 or setting.protocol.steps[0].listed:
        raise InputError("theory.equivalent_inputs takes a Setting with one giant step of one size")
    if setting.protocol.readout is None or setting.protocol.readout.batch == "reuse":
        raise InputError(
            "theory.equivalent_inputs needs a readout on fresh samples, which knows nothing of the step's batch"
        )
    if setting.network.second_layer != "gaussian" or setting.network.weights is not None or setting.network.symmetric:
        raise InputError(
            "theory.equivalent_inputs needs second_layer='gaussian', independent neurons and no weights of your own: "
            "only then are the rows after the step of a Gaussian law"
        )
    if isinstance(setting.data, Mixture):
        check(setting, ("mixture",))
        return stretched_mixture(setting)
    law = kernel.rows(setting, rho)[0]
    b = float(law.weights @ law.width**2)
    stretch = setting.d * (law.strength - law.lean) ** 2
    basis, stars = setting.target.orthonormal(setting.d), setting.target.matrix(setting.d)
    left = max(1 - float(law.cosines @ law.cosines), 0.0)
    u = law.cosines @ basis + left**0.5 * _across(basis)
    # S^(-1/2) v = v/sqrt(b) + (1/sqrt(b + d s^2) - 1/sqrt(b)) <u, v> u
    seen = stars / b**0.5 + ((b + stretch) ** -0.5 - b**-0.5) * np.outer(stars @ u, u)
    return replace(
        setting,
        data=Mixture(setting.d, (Component(1.0, (Spike(stretch, tuple(u.tolist())),), bulk=b),)),
        target=replace(setting.target, directions=tuple(tuple(row) for row in seen.tolist())),
        network=replace(setting.network, rows="gaussian"),
        protocol=replace(setting.protocol, steps=()),
    )


def _across(basis: Float[np.ndarray, "r d"]) -> Float[np.ndarray, " d"]:
    """A unit vector orthogonal to these orthonormal rows: all of them are alike to N(0, I)."""
    e = np.zeros(basis.shape[1])
    e[int(np.argmin(np.sum(basis**2, axis=0)))] = 1.0
    rest = e - (basis @ e) @ basis
    return rest / np.linalg.norm(rest)
