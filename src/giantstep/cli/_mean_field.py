"""fit: a mean-field network on a user's own curves, stream of curves or Gram matrix, from files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giantstep.cli._options import AsJson, show, trust
from giantstep.cli._tables import read_arrays
from giantstep.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from giantstep.systems.mean_field import FittedCurves, FittedKernel, Followed

SHOWN = 10  # outputs that fit prints


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A .npz file with y and either curves, one row a curve, with their grid, or the Gram matrix K of a kernel.",
        ),
    ],
    new: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .npz file of new inputs, whose outputs are printed: curves; or K, the kernel between new inputs (rows) and "
            "old ones, and the diagonal k(x, x) of the new.",
        ),
    ] = None,
    stream: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Learn online, N curves at a time: each is predicted, learned and never seen again."
        ),
    ] = None,
    loss: Annotated[
        Literal["square", "logistic"], typer.Option(help="logistic is for labels of +1 and -1.")
    ] = "square",
    penalty: Annotated[float, typer.Option(metavar="LAMBDA", help="Penalty of the entropy.")] = 0.02,
    particles: Annotated[int, typer.Option(metavar="N", help="Number of neurons.")] = 600,
    passes: Annotated[
        int | None, typer.Option(metavar="N", help="Passes through the inputs; 30 by default, none in a stream.")
    ] = None,
    count: Annotated[int | None, typer.Option(metavar="J", help="Basis functions of a curve; 16 by default.")] = None,
    kind: Annotated[
        Literal["cosine", "sine", "fourier"] | None, typer.Option(help="Basis of the curves; cosine by default.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="SEED", help="Seed of the method.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a mean-field network on your own curves or Gram matrix.

    Prints the objective and a certificate: how far it can be from the smallest possible one. A stream has the loss met on the way
    instead.
    """
    arrays = read_arrays(data, ("y",))
    if ("K" in arrays) == ("curves" in arrays) or ("curves" in arrays and "grid" not in arrays):
        raise InputError(f"{data} needs y and either curves and their grid, or the Gram matrix K.")
    if "K" in arrays:
        for name, value in (("--stream", stream), ("--count", count), ("--kind", kind)):
            if value is not None:
                raise InputError(f"{name} is for curves, and {data} has a Gram matrix.")
    if stream is not None and (stream < 1 or passes is not None):
        raise InputError("--stream needs at least 1 curve at a time, and has no --passes: every curve is seen once.")
    options: dict[str, Any] = {"passes": passes, "count": count, "kind": kind}
    options = {name: value for name, value in options.items() if value is not None}
    others = None if new is None else read_arrays(new, ("K",) if "K" in arrays else ("curves",))
    found = _fitted(arrays, stream, loss=loss, penalty=penalty, particles=particles, seed=seed, **options)
    field = found.fit.field if stream is not None else found.field  # type: ignore[union-attr]
    outputs = None
    if others is not None:
        kernel = "K" in others
        outputs = found.predict(others["K"], others.get("diagonal")) if kernel else found.predict(others["curves"])
    if as_json:
        numbers = {name: getattr(field, name) for name in ("objective", "gap", "kl", "train_loss", "errors", "seconds")}
        numbers["status"] = {"ok": field.status.ok, "notes": list(field.status.notes)}
        extra = {"losses": getattr(found, "losses", None), "outputs": outputs}
        show({**numbers, **{name: value for name, value in extra.items() if value is not None}})
    else:
        show("\n".join([repr(found), *_words(outputs)]))
    trust(field.status)


def _fitted(
    arrays: "dict[str, np.ndarray]", stream: int | None, **options: Any
) -> "FittedCurves | FittedKernel | Followed":
    from giantstep.systems import mean_field

    y = arrays["y"]
    if "K" in arrays:
        return mean_field.fit_kernel(arrays["K"], y, **options)
    curves, grid = arrays["curves"], arrays["grid"]
    if stream is None:
        return mean_field.fit(curves, y, grid, **options)
    batches = ((curves[k : k + stream], y[k : k + stream]) for k in range(0, len(curves), stream))
    return mean_field.follow(batches, grid, **options)


def _words(outputs: "np.ndarray | None") -> list[str]:
    """The first outputs, one a line."""
    if outputs is None:
        return []
    rows = outputs[:SHOWN].reshape(min(len(outputs), SHOWN), -1).tolist()  # a network may have several outputs
    lines = [f"new input {i + 1}: {', '.join(f'{x:.4g}' for x in row)}" for i, row in enumerate(rows)]
    return [
        *lines,
        *([f"{len(outputs) - SHOWN} more new inputs: --json prints them all."] if len(outputs) > SHOWN else []),
    ]
