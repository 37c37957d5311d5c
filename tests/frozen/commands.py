"""Commands with ``--json``, the files that they read, and what they print.

Each of the routes of the theory answers once. What depends on the machine or on the hour is taken
out: times, dates, versions, paths, and numbers in a text that are rounding errors.
"""

import json
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import giantstep as gs
from giantstep import cli
from tests.frozen import stores, written

RELATIVE = 1e-9  # other processors round otherwise
LOOSE = {"predict large.toml --optimal": 1e-5}  # a minimum is flat: half of the digits are known

SMALL = """
data = {law = "gaussian", d = 8}
target = {formula = "x1 + H2(x1)/2", noise = 0.2}
network = {width = 6, activation = "relu"}
protocol = {steps = [{n = 20, eta = 1.5}], readout = {n = 18, penalty = 0.1}}
"""
LARGE = """
data = {law = "gaussian", d = 300}
target = {formula = "x1 + H2(x1)/2", noise = 0.2}
network = {width = 400, activation = "tanh"}
protocol = {steps = [{n = 900, eta = 1.5}], readout = {n = 900, penalty = 0.1}}
"""
MIXED = """
target = "x1"
network = {width = 6, activation = "tanh"}
protocol = {steps = [{n = 20, eta = 0.5}], readout = {n = 18, penalty = 0.1}}
[data]
law = "mixture"
d = 8
components = [
    {weight = 0.5, spikes = [{strength = 2.0, direction = "x1"}]},
    {weight = 0.5},
]
"""
IMAGES = """
data = {law = "dataset", source = "fashion-mnist", path = "sample", classes = [0, 1]}
target = "-1 | 1"
network = {width = 6, activation = "tanh", scale = "1/p", rows = "trace"}
protocol = {steps = [{n = 20, eta = 0.5}], readout = {n = 18, penalty = 0.1}}
"""
SWEEP = """
seeds = "0-1"
routes = ["simulate(n_test=50)", "theory"]
[setting]
data = {d = 8}
target = "x1"
network = {width = 6, activation = "relu"}
protocol = {steps = [{n = 20, eta = 1.0}], readout = {n = 18, penalty = 0.1}}
[axes]
penalty = [0.1, 1.0]
"""
PAIRS = '"tanh(x+0.5)", symmetric = true, second_layer = "rademacher"'
BOUNDS = """
system = "bounds"
d_in = 2
width = 4
n = 10
steps = 5
samples = [5, 10]
trainings = 2
"""
FILES = {  # by name: a text, and what is replaced in it
    "small": (SMALL, {}),
    "grid": (SMALL, {"1.5": "[0.0, 2.0]", "0.1}": "[0.1, 1.0]}"}),
    "gcv": (SMALL, {"0.1}": "'gcv'}"}),
    "rank-one": (SMALL, {"1.5": '1.5, update = "rank1"'}),
    "sgd": (SMALL, {"penalty = 0.1": "rate = 0.3, decay = 0.5"}),
    "reused": (SMALL, {"1.5}": '1.0}, {batch = "reuse", eta = 0.5}'}),
    "bare": (SMALL, {", readout = {n = 18, penalty = 0.1}": ""}),
    "pairs": (SMALL, {'"relu"': PAIRS}),
    "mixed": (MIXED, {}),
    "means": (MIXED, {"{weight = 0.5}": '{weight = 0.5, mean = "u"}'}),
    "images": (IMAGES, {}),
    "large": (LARGE, {}),
    "large-grid": (LARGE, {"1.5": "[0.0, 2.0]", "0.1}": "[0.1, 1.0]}"}),
    "large-gcv": (LARGE, {"0.1}": "'gcv'}"}),
    "large-random": (LARGE, {"{n = 900, eta = 1.5}": ""}),
    "large-pairs": (LARGE, {'"tanh"': PAIRS}),
    "large-deflated": (LARGE, {"1.5": "1.5, deflate = 1"}),
    "large-two": (LARGE, {"[{": "[{n = 900, eta = 1.0}, {"}),
    "large-bare": (
        LARGE,
        {"[{": "[{n = 900, eta = 1.0}, {", ", readout = {n = 900, penalty = 0.1}": ""},
    ),
    "large-terms": (LARGE, {"[{n = 900, eta = 1.5": "[{n = 90000, eta = 1.5, deflate = 2"}),
    "narrow": (LARGE, {"400": "3", "H2(x1)/2": "H2(x2)/2"}),
    "own-batch": (LARGE, {"{n = 900, penalty": '{batch = "reuse", penalty'}),
    "one-batch": (LARGE, {"1.5}": '1.0}, {batch = "reuse", eta = 0.5}'}),
    "kernel": ('system = "kernel"\n' + LARGE, {"300": "60", "tanh": "relu"}),
    "attack": ('system = "attack"\nd = 8\nwidth = 6\nnetworks = 4\n', {}),
    "bounds": (BOUNDS, {}),
    "early": ('system = "early"\nn = 20\nd = 6\nwidth = 8\nsteps = 10\n', {}),
    "mean-field": ('system = "mean_field"\nn = 12\nbasis = 3\nparticles = 10\npasses = 2\n', {}),
    "sweep": (SWEEP, {}),
}
FEW = "--test-samples 50"
COMMANDS = (
    "explain x1+x1*x2",
    "explain x1*x2*x3 --batch d^2 --activation relu",
    "explain H3(x1)+x1*x2 --reuse --steps 2 --width d^2",
    "predict small.toml",
    "predict large-grid.toml",
    "predict large-grid.toml --regime limit",
    "predict large.toml --spectrum",
    "predict large.toml --optimal",
    "predict large-gcv.toml",
    "predict large-random.toml",
    "predict large-pairs.toml",
    "predict large-deflated.toml",
    "predict large-two.toml",
    "predict large-bare.toml",
    "predict narrow.toml",
    "predict own-batch.toml",
    "predict one-batch.toml",
    "predict large-terms.toml",
    "predict sgd.toml",
    "predict mixed.toml",
    "predict attack.toml",
    "predict bounds.toml",
    f"simulate grid.toml --seeds 0-1 --spectrum {FEW}",
    f"simulate gcv.toml {FEW}",
    f"simulate pairs.toml --method overlap {FEW}",
    f"simulate rank-one.toml {FEW}",
    f"simulate sgd.toml {FEW}",
    f"simulate reused.toml --solver cg {FEW}",
    f"simulate bare.toml {FEW}",
    f"simulate means.toml {FEW}",
    f"simulate images.toml {FEW}",
    "simulate bounds.toml",
    "simulate early.toml",
    "simulate mean-field.toml",
    "predict kernel.toml",
    "compare attack.toml --seeds 0-1",
    f"compare grid.toml --seeds 0-1 --equivalent gaussian {FEW}",
    f"compare small.toml --seeds 0-2 --equivalent hermite --spectrum {FEW}",
    "stretch rank-one.toml",
    "bounds network.npz table.npz --activation tanh",
    "attack network.npz table.npz --activation tanh",
    "fit curves.npz --particles 10 --count 2 --passes 2",
    "sweep sweep.toml --dry-run",
    "sweep sweep.toml",
    "results list store.sqlite --where seed=0",
    "results verify store.sqlite",
    "results merge other.sqlite store.sqlite",
    "check moniri/linear-floor",
    "cite moniri",
)
TIMES = ("seconds", "created")
DATE = r"\d{4}-\d\d-\d\d"
ROUNDING = r"\d(\.\d+)?e-(1\d|[2-9]\d)"


def write_files(folder: Path) -> None:
    """What the commands read."""
    for name, (text, changes) in FILES.items():
        for old, new in changes.items():
            assert old in text, (name, old)
            text = text.replace(old, new)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    W = np.arange(-6, 6).reshape(4, 3) / 4
    A, b = np.array([[1.0, -0.5, 0.25, 2.0]]), np.arange(4.0)
    X = (np.arange(18).reshape(6, 3) * 5 % 7 - 3) / 4
    y = X[:, 0] * X[:, 1]
    np.savez(folder / "network.npz", W=W, A=A, b=b)
    np.savez(folder / "table.npz", X=X, y=y)
    np.savez(folder / "curves.npz", curves=X, y=y, grid=np.arange(3) / 2)
    stores.make(3, folder / "store.sqlite")


def answer(command: str, folder: Path) -> dict[str, Any]:
    """The exit code of a command and what it prints, in a folder that has the files."""
    printed = StringIO()
    with chdir(folder), redirect_stdout(printed), redirect_stderr(StringIO()):
        code = cli.run([*shlex.split(command), "--json"])
    text = printed.getvalue()
    return {"exit": code, "answer": _freed(json.loads(text), folder) if text else None}


def _freed(data: Any, folder: Path, timed: tuple[str, ...] = TIMES) -> Any:
    """Without what depends on the machine or on the hour."""
    if isinstance(data, dict):
        within = {"plan": (*timed, "rate")}  # that of a matrix product, measured here
        times = {key for key, value in data.items() if key in timed and isinstance(value, float)}
        return {
            key: "a time" if key in times else _freed(value, folder, within.get(key, timed))
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [_freed(each, folder, timed) for each in data]
    if isinstance(data, str):
        text = data.replace(str(folder), "FOLDER").replace(gs.__version__, "VERSION")
        return re.sub(ROUNDING, "TINY", re.sub(DATE, "DATE", text))
    return data


def content() -> dict[str, Any]:
    """The answers of all commands."""
    found = {}
    for command in COMMANDS:
        with TemporaryDirectory() as folder:
            write_files(Path(folder))
            found[command] = answer(command, Path(folder))
    return found


def write() -> None:
    """Freeze the answers."""
    written.write("commands", content())
