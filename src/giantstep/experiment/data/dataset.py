"""Dataset: a finite set of inputs in classes or with real labels, the user's own or Fashion-MNIST; classes are components."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from giantstep._given.declared import given
from giantstep._given.plain import build, choice, plain, real, whole
from giantstep._machine.random import Stream, generator
from giantstep.errors import InputError
from giantstep.experiment import _fit_target as fit_target
from giantstep.experiment.data import _fashion as fashion
from giantstep.experiment.data._labelled_rows import LabelledRows
from giantstep.experiment.data.mixture import COUNTS, Mixture, pattern
from giantstep.experiment.target import Target

FASHION = "fashion-mnist"
CENTRES = ("class", "all", "none")


@given()
@dataclass(frozen=True)
class Dataset:
    """Inputs drawn from a finite set without replacement: the batches of a run are disjoint rows of a permutation by its seed.

    Attributes:
        source: "fashion-mnist", or a pair (X, labels). Labels that are whole numbers are classes. Real labels make regression
            data: the target ``"y"`` is then the labels themselves.
        classes: the labels used; they are the components, in this order, for a target such as "-1 | 1". None takes whole
            numbers as real labels too.
        path: folder of the four IDX files of Fashion-MNIST, gzipped or not; not part of what the dataset is. Without it the
            full set is read where it is installed, and the sample that comes with giantstep where it is not. The word "sample"
            takes the sample in any case, and "full" never does.
        centre: subtract the mean of every "class", that of "all" classes, or "none".
        signal: scale the inputs to the trace ``signal * d``, every class to the same, and add N(0, I) noise to every row, as
            Demir and Dogan do with 1; None takes the inputs as they are. By default it is 1 for classes and None for regression
            data. Pixels are between 0 and 1.
        counts: "drawn", or "exact" for classes in a fixed pattern, as in ``Mixture``.

    Means and traces are those of the training images, or of all of the user's inputs. The test is on the test images, or on the
    user's inputs that no batch used.

    Examples:
        >>> import numpy as np
        >>> X = np.random.default_rng(0).standard_normal((100, 5))
        >>> gs.Dataset((X, X[:, 0] > 0)).d  # two classes
        5
    """

    source: Any  # "fashion-mnist", or LabelledRows once built
    classes: tuple[int, ...] = (0, 1)
    path: str | PathLike[str] | None = field(default=None, compare=False)
    centre: str = "class"
    signal: float | None = field(default="auto")  # type: ignore[assignment]
    counts: str = "drawn"

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            source: Any,
            classes: Sequence[int] | np.ndarray | None = (0, 1),
            path: str | PathLike[str] | None = None,
            centre: str = "class",
            signal: float | str | None = "auto",
            counts: str = "drawn",
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.source, LabelledRows):
            put(self, "source", _source(self.source, self.classes is None))
        if self.regression:
            if self.classes not in (None, (0, 1), (0,), [0]):
                raise InputError("the labels are real numbers, so these data have no classes: leave classes out")
            put(self, "classes", (0,))
        if isinstance(self.signal, str) and self.signal == "auto":
            put(self, "signal", None if self.regression else 1.0)
        if isinstance(self.classes, np.ndarray):
            put(self, "classes", tuple(self.classes.ravel().tolist()))
        if isinstance(self.path, PathLike):
            put(self, "path", str(self.path))
        if not isinstance(self.classes, tuple | list | range) or not self.classes:
            raise InputError("classes must be a list of labels")
        put(self, "classes", tuple(whole(c, "every class", least=-(2**31)) for c in self.classes))
        if len(set(self.classes)) < len(self.classes):
            raise InputError(f"classes must be different, not {self.classes}")
        for c in self.classes:
            if not (0 <= c <= 9 if self.source == FASHION else np.any(self.source.labels == c)):
                raise InputError(f"the dataset has no class {c}{self._labelled()}")
        if self.path is not None and (not isinstance(self.path, str) or self.source != FASHION):
            raise InputError("path is the folder, as text, of the files of 'fashion-mnist'")
        choice(self.centre, CENTRES, "centre")
        choice(self.counts, COUNTS, "counts")
        if self.signal is not None:
            put(self, "signal", real(self.signal, "signal", least=0.0))

    def _labelled(self) -> str:
        """What the labels of the user's rows are, for the sentence that refuses a class."""
        if self.source == FASHION:
            return ""
        there = np.unique(self.source.labels)
        few = ", ".join(map(str, there[:3]))
        more = f", ... ({len(there)} different ones)" if len(there) > 3 else ""
        return f": its labels are {few}{more}; name those to use in classes=, or write classes=None to take them as real labels"

    @property
    def regression(self) -> bool:
        """Whether the labels are real numbers."""
        return isinstance(self.source, LabelledRows) and self.source.values is not None

    @property
    def components(self) -> tuple[int, ...]:
        """The classes, as components of a mixture."""
        return self.classes

    @property
    def place(self) -> str | None:
        """Where Fashion-MNIST is read from: a folder, or "sample"; None for the user's inputs."""
        return fashion.place(self.folder) if self.source == FASHION else None

    @property
    def folder(self) -> str | None:
        """The path as a string."""
        return None if self.path is None else str(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentence in an outcome's status that says which images of Fashion-MNIST were used."""
        if (place := self.place) is None:
            return ()
        train, test = (len(self.split(test)[1]) for test in (False, True))
        which = (
            f"{train} training and {test} test images of class{'es' * (len(self.classes) > 1)} {listed(self.classes)}"
        )
        return (f"The data are {fashion.said(place)} ({which}).",)

    def few(self, what: str, test: bool = False) -> InputError:
        """The error to raise when more inputs are requested than exist. The sample has all test images of its classes."""
        if self.place == fashion.SAMPLE and not test:
            return fashion.missing(f"{fashion.NAME} has {what}")
        return InputError(f"the dataset has {what}")

    @property
    def d(self) -> int:
        """The input dimension."""
        return 784 if self.source == FASHION else self.source.X.shape[1]

    def split(self, test: bool = False) -> tuple[Float[np.ndarray, "n d"], Int[np.ndarray, " n"]]:
        """Prepared inputs, without the noise, and their components: those to train on, or with ``test`` those kept for it."""
        return _prepared(self, self.place)["test" if test and self.has_test else "train"]

    @property
    def has_test(self) -> bool:
        """Whether the test has inputs of its own."""
        return self.source == FASHION

    def order(self, seed: int, test: bool = False) -> Int[np.ndarray, " n"]:
        """The order in which a seed takes the rows of a split."""
        return _order(self, self.place, seed, test)

    @property
    def trace(self) -> float:
        """Trace of the covariance of the training inputs, with the noise added."""
        return _variance(self, self.place) + (0.0 if self.signal is None else self.d)

    @property
    def spread(self) -> float:
        """Operator norm of the covariance of the training inputs, with the noise added."""
        X = self.split()[0]
        return float(np.linalg.norm(X - X.mean(axis=0), 2) ** 2 / len(X) + (0.0 if self.signal is None else 1.0))

    def fitted(self, spikes: int | None = None) -> Mixture:
        """``Mixture.fit`` to the prepared training inputs, with the noise that is added to every row in the bulk."""
        mixture = Mixture.fit(*self.split(), spikes, noise=0.0 if self.signal is None else 1.0)
        return replace(mixture, counts=self.counts)

    def fitted_target(self, degree: int = 3) -> Target:
        """A target of one direction fitted to the real labels: a Hermite polynomial of the projection, plus noise.

        With ``fitted`` it makes a setting that ``theory`` covers:
        ``setting.with_(data=data.fitted(), target=data.fitted_target())``.
        """
        if not self.regression:
            raise InputError("fitted_target is for real labels: this dataset has classes")
        return fit_target.fit(self.split()[0], self.source.values, degree, noise=0.0 if self.signal is None else 1.0)

    def __repr__(self) -> str:
        kind = "real labels" if self.regression else f"classes {listed(self.classes)}"
        return f"Dataset({self.name}, d = {self.d}, {kind})"

    @property
    def name(self) -> str:
        """What the rows are, in words."""
        return "Fashion-MNIST" if self.source == FASHION else f"{len(self.source.X)} rows of your own"

    def to_plain(self) -> dict[str, Any]:
        every = {"law": "dataset", **plain(self)}
        every.pop("signal", None)
        if self.signal != (None if self.regression else 1.0):
            every["signal"] = "none" if self.signal is None else self.signal
        return every

    @staticmethod
    def from_plain(data: Any, where: str) -> "Dataset":
        if isinstance(data, dict) and data.get("signal") == "none":  # TOML has no null
            data = {**data, "signal": None}
        return build(Dataset, data, where, {"source": _source_from_plain})


def listed(numbers: tuple[int, ...]) -> str:
    """Join numbers as in a sentence: "1, 2 and 3"."""
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}" if before else last


def _source(value: Any, real: bool = False) -> Any:
    if isinstance(value, str):
        return choice(value, (FASHION,), "source")
    try:
        X, labels = value
    except Exception:  # whatever the object raises
        raise InputError(f"a dataset is {FASHION!r} or one pair of arrays, as in gs.Dataset((X, y))") from None
    return LabelledRows.of(X, labels, real=real)


def _source_from_plain(value: Any, where: str) -> Any:
    return build(LabelledRows, value, where) if isinstance(value, dict) else value


@lru_cache(maxsize=2)
def _prepared(data: Dataset, place: str | None) -> dict[str, tuple[Float[np.ndarray, "_ d"], Int[np.ndarray, " _"]]]:
    """Chosen classes, centred and scaled by the statistics of the training inputs."""
    if place is not None:
        splits, unit = fashion.images(place), 255.0
    else:
        splits, unit = {"train": (data.source.X, data.source.labels)}, 1.0
    chosen = {}
    for name, (X, y) in splits.items():
        rows = [np.flatnonzero(y == c) for c in data.classes]
        for c, own in zip(data.classes, rows, strict=True):
            if not len(own) and place == fashion.SAMPLE:
                raise data.few(f"the classes {listed(fashion.CLASSES)}, not {c}")
            if not len(own):
                raise InputError(f"the dataset has no class {c} among its {name} inputs")
        chosen[name] = ([X[own] / unit for own in rows], np.repeat(np.arange(len(rows)), [len(own) for own in rows]))
    means, factors = _statistics(data, chosen["train"][0])
    return {
        name: (np.concatenate([f * (X - m) for X, m, f in zip(parts, means, factors, strict=True)]), c)
        for name, (parts, c) in chosen.items()
    }


def _statistics(
    data: Dataset, parts: list[Float[np.ndarray, "_ d"]]
) -> tuple[list[Float[np.ndarray, " d"]], list[float]]:
    """For every class what to subtract and the factor sqrt(signal d / Tr S_c), S_c its covariance."""
    own, everything = [X.mean(axis=0) for X in parts], np.concatenate(parts).mean(axis=0)
    means = own if data.centre == "class" else [everything * (data.centre == "all")] * len(parts)
    if data.signal is None:
        return means, [1.0] * len(parts)
    traces = [float(np.sum(np.var(X, axis=0))) for X in parts]
    for c, X in zip(data.classes, parts, strict=True):
        if not np.any(np.ptp(X, axis=0)):  # their variance is zero but for the rounding of their mean
            raise InputError(f"the inputs of class {c} are all the same: they cannot be scaled, so take signal=None")
    return means, [(data.signal * data.d / trace) ** 0.5 for trace in traces]


@lru_cache(maxsize=64)
def _variance(data: Dataset, place: str | None) -> float:
    """The trace of the covariance of the training inputs, asked for with every draw of weights."""
    return float(np.sum(np.var(_prepared(data, place)["train"][0], axis=0)))


@lru_cache(maxsize=64)
def _order(data: Dataset, place: str | None, seed: int, test: bool) -> Int[np.ndarray, " n"]:
    components = data.split(test)[1]
    order = generator(seed, Stream.POPULATION, int(test)).permutation(len(components))
    if data.counts == "drawn":
        return order
    # the rows of every class in the order of the permutation, and the classes in their pattern
    counts = np.bincount(components, minlength=len(data.classes))
    classes = pattern(counts / len(components), 0, len(components))
    result = np.empty_like(order)
    for c in range(len(data.classes)):
        own = order[components[order] == c]
        result[np.flatnonzero(classes == c)] = own
    return result
