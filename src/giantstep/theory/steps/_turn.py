"""What one step makes of the rows' variance V, on the modes mu of its matrix: V <- (1 + t mu)^2 V + white."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.theory.one_step._gradient_law import matrix_quadrature

FAINT = 1e-12  # weight of a node that is none
TIE = 1e-5  # by which directions alike to one turn are told apart, over the width of its law


class RowTurn(NamedTuple):
    """On the modes of the bulk, their weights (M,) and 1 + t mu of every group (M, J); and the white part (E,).

    On the frame: the mean turn ``inside`` (J, F, F), and the ``lever`` (J,) of each group's turn on the matrix whose ``moments``
    (F, F, k) are given there, with those of the bulk (k,). Later steps add directions, up to G of them.
    """

    shares: Float[np.ndarray, " M"]
    stretch: Float[np.ndarray, "M J"]
    white: Float[np.ndarray, " E"]
    inside: Float[np.ndarray, "J F F"]
    lever: Float[np.ndarray, " J"]
    moments: Float[np.ndarray, "F F k"]
    bulk: Float[np.ndarray, " k"]

    def size(self, omega: Float[np.ndarray, " J"]) -> float:
        """The mean square of t mu around its mean."""
        return float(omega @ self.lever**2 * self._width**2)

    @property
    def _width(self) -> float:
        return float(self.bulk[2] - self.bulk[1] ** 2) ** 0.5

    def marks(self, basis: Float[np.ndarray, "G X"]) -> Float[np.ndarray, "X X"]:
        """M + M^2 on directions, M over the width of its law: what the matrix tells apart."""
        old, young = self._split(basis)
        both = self.bulk[1:3] / self._width ** np.array([1, 2])
        own = np.einsum("ax,abk,by->xyk", old, self.moments[..., 1:3], old) / self._width ** np.array([1, 2])
        return own.sum(2) + both.sum() * young.T @ young

    def measure(
        self, basis: Float[np.ndarray, "G X"], tie: Float[np.ndarray, "X X"] | float = 0.0
    ) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B X"]]:
        """The matrix's spectral measure on orthonormal directions: nodes, and vectors u whose u u^T are the weights.

        Directions younger than the step are all alike to it, and any basis of them would do: they are those of ``tie``.
        """
        old, young = self._split(basis)
        moments = np.einsum("ax,abk,by->xyk", old, self.moments, old) + (young.T @ young)[..., None] * self.bulk
        moments[..., 1] += TIE * self._width * tie
        # Fewer nodes where rounding has made high moments those of no law
        for count in range(self.bulk.size // 2, 0, -1):
            try:
                nodes, weights = map(np.asarray, matrix_quadrature(moments, self.bulk, count))
            except np.linalg.LinAlgError:
                continue
            own = np.einsum("bxx->bx", weights)
            if not np.all(np.isfinite(own)):
                continue
            felt = np.max(own, axis=1) > FAINT
            nodes, largest = nodes[felt], np.argmax(own[felt], axis=1)
            x = weights[felt, largest] / np.sqrt(own[felt, largest])[:, None]
            # The cut of the residual's tails leaves a total weight near one
            values, vectors = np.linalg.eigh(x.T @ x)
            return nodes, x @ (vectors / np.sqrt(values)) @ vectors.T
        raise np.linalg.LinAlgError("the directions are not orthonormal")

    def along(self, mu: Float[np.ndarray, " B"], towards: Float[np.ndarray, "G B"]) -> Float[np.ndarray, "B J"]:
        """1 + t mu of every group at a node along unit vectors."""
        old, young = self._split(towards)
        rest = np.sum(young**2, axis=0)
        on = lambda own: np.einsum("ab,...ac,cb->b...", old, own, old)  # noqa: E731
        centre = on(self.inside) + np.outer(rest, self.shares @ self.stretch)
        return centre + np.outer(mu - on(self.moments[..., 1]) - rest * self.bulk[1], self.lever)

    def _split(self, basis: Float[np.ndarray, "G X"]) -> tuple[Float[np.ndarray, "F X"], Float[np.ndarray, "Y X"]]:
        """What of directions is as old as the step and what is younger: to it the latter is of the bulk."""
        F = len(self.moments)
        return basis[:F], basis[F:]
