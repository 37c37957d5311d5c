"""Tasks from real tables: those of scikit-learn, Fashion-MNIST, and tables that come inside other packages."""

import tarfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from benchmarks.estimator.task import CLASSES, REGRESSION, Split, Task
from giantstep.errors import InputError
from giantstep.experiment.data import _fashion as _fashion

FOLDS, DRAWS = 5, 3
MOST = 5_000  # rows of a large table to learn from, and as many to be tested on


def _scaled(kind: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Split:
    """Labels of a regression to mean 0 and variance 1 on the training rows: methods with fixed penalties need it."""
    if kind == REGRESSION:
        y = (y - y[train].mean(axis=0)) / y[train].std(axis=0)
    return Split(X[train], y[train], X[test], y[test])


def _fold(kind: str, X: np.ndarray, y: np.ndarray, split: int) -> Split:
    folds = (KFold if kind == REGRESSION else StratifiedKFold)(FOLDS, shuffle=True, random_state=0)
    return _scaled(kind, X, y, *list(folds.split(X, y))[split])


def _draw(kind: str, X: np.ndarray, y: np.ndarray, split: int) -> Split:
    """Four fifths and one fifth of the rows, at most 5000 each."""
    train, test = min(MOST, 4 * len(y) // 5), min(MOST, len(y) // 5)
    classes = y if kind == CLASSES else None
    rows: Any = train_test_split(
        np.arange(len(y)), train_size=train, test_size=test, random_state=split, stratify=classes
    )
    return _scaled(kind, X, y, *rows)


def small(name: str, group: str, kind: str, about: str, rows: int) -> Task:
    """A table of scikit-learn with so many rows, in five folds."""

    def load(split: int) -> Split:
        found: Any = getattr(datasets, f"load_{name.replace('-', '_')}")()
        return _fold(kind, found.data, found.target, split)

    return Task(name, group, kind, about, rows * (FOLDS - 1) // FOLDS, FOLDS, load)


def fashion(name: str, classes: tuple[int, ...], n: int, about: str, draws: int) -> Task:
    """n training images of some classes, and all test images of theirs."""

    def load(split: int) -> Split:
        images = _fashion.images(_fashion.place(_fashion.FULL))
        (X, y), (X_test, y_test) = images["train"], images["test"]
        rows = np.random.default_rng(split).permutation(np.flatnonzero(np.isin(y, classes)))[:n]
        others = np.flatnonzero(np.isin(y_test, classes))
        number = np.searchsorted(classes, np.arange(10))
        return Split(X[rows] / 255.0, number[y[rows]], X_test[others] / 255.0, number[y_test[others]])

    return Task(name, "classes", CLASSES, about, n, draws, load)


@lru_cache(maxsize=1)
def frame(package: str, path: str) -> Any:
    """A table inside a package that need not be imported: a file, or behind "!" a member of an archive."""
    import pandas

    home = find_spec(package)
    if home is None or home.origin is None:
        raise InputError(f"it comes with the package {package}, which is not installed (pip install {package})")
    file, _, member = path.partition("!")
    if not member:
        return pandas.read_csv(Path(home.origin).parent / file)
    with tarfile.open(Path(home.origin).parent / file) as archive:
        return pandas.read_csv(archive.extractfile(member), index_col=0)  # type: ignore[arg-type]


def packaged(name: str, kind: str, about: str, rows: int, package: str, path: str, label: str) -> Task:
    """A table of a package with so many rows. Columns of words become indicators, for all alike; a class is a label above 0, or
    "yes"."""

    def load(split: int) -> Split:
        import pandas

        rows = frame(package, path).dropna()
        y = (rows[label] == "yes" if rows[label].dtype.kind not in "iuf" else rows[label]).to_numpy(float)
        X = pandas.get_dummies(rows.drop(columns=label)).to_numpy(float)
        return _draw(kind, X, (y > 0).astype(int) if kind == CLASSES else y, split)

    group = "tables" if kind == REGRESSION else "classes"
    return Task(name, group, kind, f"{about} (package `{package}`)", min(MOST, 4 * rows // 5), DRAWS, load)


PYDATASET = ("pydataset", "resources.tar.gz!resources/rdata/csv/")
DIAMONDS, COMPUTERS = ((PYDATASET[0], PYDATASET[1] + path) for path in ("ggplot2/diamonds.csv", "Ecdat/Computers.csv"))
BOSTON, WAGES, MALES, FOOD, HDMA, MEDICAL = (
    (PYDATASET[0], f"{PYDATASET[1]}{path}.csv")
    for path in ("MASS/Boston", "Ecdat/Wages", "Ecdat/Males", "Ecdat/BudgetFood", "Ecdat/Hdma", "Ecdat/MedExp")
)
RANDHIE, FAIR = (("statsmodels", f"datasets/{name}/{name}.csv") for name in ("randhie", "fair"))
TASKS = (
    small("diabetes", "tables", REGRESSION, "progression of diabetes, 442 rows, 10 columns", 442),
    small("linnerud", "tables", REGRESSION, "three body measures from three exercises, 20 rows", 20),
    packaged("diamonds", REGRESSION, "price of a diamond, 5000 of 53 940 rows", 53_940, *DIAMONDS, "price"),
    packaged("computers", REGRESSION, "price of a computer, 5000 of 6259 rows", 6259, *COMPUTERS, "price"),
    packaged("randhie", REGRESSION, "visits to a doctor, 5000 of 20 190 rows", 20_190, *RANDHIE, "mdvis"),
    packaged("boston", REGRESSION, "value of houses in Boston, 506 rows", 506, *BOSTON, "medv"),
    packaged("wages", REGRESSION, "logarithm of a wage, 4165 rows", 4165, *WAGES, "lwage"),
    packaged("males", REGRESSION, "wage of young men, 3115 rows without missing values", 3115, *MALES, "wage"),
    packaged("food", REGRESSION, "share of food in the expenses, 5000 of 23 971 rows", 23_971, *FOOD, "wfood"),
    packaged("medical", REGRESSION, "medical expenses, 5574 rows", 5574, *MEDICAL, "med"),
    small("breast-cancer", "classes", CLASSES, "569 rows, 30 columns, 2 classes", 569),
    small("wine", "classes", CLASSES, "178 rows, 13 columns, 3 classes", 178),
    small("iris", "classes", CLASSES, "150 rows, 4 columns, 3 classes", 150),
    small("digits", "classes", CLASSES, "1797 images of 8 x 8, 10 classes", 1797),
    packaged("fair", CLASSES, "an affair or none, 5000 of 6366 rows", 6366, *FAIR, "affairs"),
    packaged("mortgages", CLASSES, "a mortgage denied or not, 2380 rows", 2380, *HDMA, "deny"),
    fashion("fashion-shirts", (0, 6), 4000, "Fashion-MNIST, T-shirts against shirts, n = 4000", 2),
    fashion("fashion-shoes", (5, 9), 4000, "Fashion-MNIST, sandals against boots, n = 4000", 2),
    fashion("fashion-ten", tuple(range(10)), 5000, "Fashion-MNIST, ten classes, n = 5000", 1),
)
