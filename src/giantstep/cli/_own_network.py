"""bounds and attack: what can be said of a user's own network, from files."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from giantstep.cli._options import AsJson, show
from giantstep.cli._tables import is_archive, read_arrays, read_numbers
from giantstep.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from giantstep.experiment.layers import Layers
    from giantstep.systems.attack import Attacked

SHOWN = 10  # rows that attack prints

NetworkFile = Annotated[
    Path,
    typer.Argument(
        metavar="NETWORK",
        help="A .npz file with the arrays W (p x d) and A (q x p) of A sigma(W x + b) + c, and b and c if there are biases.",
    ),
]
Activation = Annotated[str, typer.Option(metavar="NAME", help="Activation of the network: a name or a formula in x.")]


def bounds(
    network: NetworkFile,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE", help="A .npz file with the arrays X and y, or a .csv file whose last column is y."
        ),
    ],
    activation: Activation = "relu",
    loss: Annotated[
        Literal["absolute", "huber", "square", "logistic", "cross_entropy"], typer.Option(help="Loss of a row.")
    ] = "absolute",
    rate: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="Rate of SGD: the network is then the one before training on the table."),
    ] = None,
    epochs: Annotated[int, typer.Option(metavar="N", help="With --rate: passes through the table.")] = 1,
    batch: Annotated[int, typer.Option(metavar="N", help="With --rate: rows of a step.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Bound the generalisation gap of your own network.

    Prints how far the mean loss on the table can be from its expectation, on fresh and on training rows, with every Lipschitz
    constant behind it.
    """
    if rate is None and (epochs, batch) != (1, 1):
        raise InputError("--epochs and --batch describe the training of --rate: give a rate too.")
    layers = read_network(network, activation)
    X, y = labelled_table(table)
    from giantstep.systems.bounds.own_table import bounds as find

    found = find(layers, X, y, loss, rate=rate, epochs=epochs, batch=batch)
    show(asdict(found) if as_json else str(found))


def attack(
    network: NetworkFile,
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A .npz file with the array X, or a .csv file of inputs.")
    ],
    activation: Activation = "relu",
    eta: Annotated[
        float | None,
        typer.Option(metavar="ETA", help="Size of the step; by default twice the way to zero, to first order."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all numbers, perturbations included, to a .npz file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Attack your own network: one gradient step on every input.

    Prints which signs (or classes, of a network with several outputs) change, and how far the first change is along the gradient.
    """
    if out is not None and (out.suffix.lower() != ".npz" or not out.parent.is_dir()):
        raise InputError(f"--out needs a file in an existing folder ending in .npz, not {str(out)!r}.")
    layers = read_network(network, activation)
    X = inputs(table)
    from giantstep.systems.attack import attack as step

    found = step(layers, X, eta)
    numbers = {name: value for name, value in vars(found).items() if value is not None and name != "notes"}
    if out is not None:
        import numpy as np

        np.savez(out, **numbers)
        typer.echo(f"Wrote {out}.", err=True)
    numbers.pop("perturbation")
    show({**numbers, "notes": list(found.notes)} if as_json else _words(found))


def read_network(path: Path, activation: str) -> "Layers":
    """The network of a .npz file."""
    from giantstep.experiment.layers import Layers

    arrays = read_arrays(path, ("W", "A"))
    unknown = sorted(set(arrays) - {"W", "A", "b", "c"})
    if unknown:
        raise InputError(
            f"{path} has the array {unknown[0]!r}: a network has W and A, and b and c if there are biases."
        )
    return Layers(arrays["W"], arrays["A"], activation, arrays.get("b"), arrays.get("c"))


def labelled_table(path: Path) -> "tuple[np.ndarray, np.ndarray]":
    """X and y of a .npz file; of a .csv file the last column is y."""
    if is_archive(path):
        arrays = read_arrays(path, ("X", "y"))
        return arrays["X"], arrays["y"]
    rows = read_numbers(path)
    if rows.shape[1] < 2:
        raise InputError(f"{path} has one column: a table needs inputs, and the label in the last column.")
    return rows[:, :-1], rows[:, -1]


def inputs(path: Path) -> "np.ndarray":
    """X of a .npz file, or all columns of a .csv file."""
    return read_arrays(path, ("X",))["X"] if is_archive(path) else read_numbers(path)


def _words(found: "Attacked") -> str:
    """The attack in a table: the share that changes, and the first rows."""
    import numpy as np

    from giantstep.results.table import aligned

    count, what = len(found.flipped), "sign" if found.decision is None else "class"
    head = f"one gradient step on {count} input{'s' if count > 1 else ''}: {np.mean(found.flipped):.1%} change their {what}"
    root, relative = (float(np.median(each)) for each in (found.root, found.relative))
    middle = f"median distance to the first change {root:.4g}, median |delta|/|x| {relative:.4g}"
    rows = [
        [
            str(i + 1), f"{found.before[i]:.4g}", f"{found.after[i]:.4g}", "yes" if found.flipped[i] else "no",
            f"{found.root[i]:.4g}", f"{found.relative[i]:.4g}",
        ]
        for i in range(min(count, SHOWN))
    ]  # fmt: skip
    name = "f" if found.decision is None else "margin"
    table = aligned(["input", f"{name} before", f"{name} after", "changes", "distance", "|delta|/|x|"], rows)
    rest = [f"{count - SHOWN} more inputs: --json prints them all."] if count > SHOWN else []
    return "\n".join([head, middle, *table, *rest, *found.notes])
