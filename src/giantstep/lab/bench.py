"""The bench of a claim: measurements that are kept in a store and may be spread over workers, or simply made."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # reading the list of claims must stay fast
    from giantstep.outcome import Outcome
    from giantstep.setting import Setting

__all__ = ["each", "equivalent", "simulate"]


def simulate(setting: "Setting", seed: int | Iterable[int] = 0, **options: Any) -> "Outcome":
    """``giantstep.simulate``, from the store where it is there."""
    import giantstep as gs

    return gs.simulate(setting, seed, **options)


def equivalent(setting: "Setting", model: str = "gaussian", seed: int | Iterable[int] = 0, **options: Any) -> "Outcome":
    """``giantstep.equivalent``, from the store where it is there."""
    import giantstep as gs

    return gs.equivalent(setting, model, seed, **options)


def each(function: Callable[..., Any], arguments: Sequence[tuple], *, threads: bool = False) -> list[Any]:
    """``function(*argument)`` for every argument, from the store where it is there.

    Args:
        function: one of a module, so that workers find it; it returns plain data or an array.
        arguments: tuples of plain values (text, numbers, true and false, None, tuples of these).
        threads: run them side by side in threads with one BLAS thread each, which suits small solves of NumPy and SciPy.
            JAX must not run inside.
    """
    if not threads:
        return [function(*argument) for argument in arguments]
    import os
    from concurrent.futures import ThreadPoolExecutor

    from giantstep._backend import one_blas_thread

    with one_blas_thread(), ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        return list(pool.map(lambda argument: function(*argument), arguments))
