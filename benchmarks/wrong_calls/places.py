"""A right call of everything public: the callable and all of its arguments by name."""

import inspect
import types
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.lab.compare import predict
from giantstep.lab.store import Store
from giantstep.lab.store.trial import Route, Trial

Right = tuple[Callable[..., Any], dict[str, Any]]


@cache
def setting() -> gs.Setting:
    return gs.presets.moniri(n=24, d=12, N=10, alpha=0.3, penalty=0.1, noise=0.5)


@cache
def narrow() -> gs.Setting:
    step = gs.GiantStep(n=400, eta=1.0, residual="full")
    network = gs.Network(4, "relu", scale="1/p")
    return gs.Setting(gs.Gaussian(200), gs.target("x1"), network, gs.Protocol((step,)))


@cache
def two_steps() -> gs.Setting:
    return gs.presets.moniri_hassani(N=60, d=50, n=60, alpha1=0.4, alpha2=0.4)


@cache
def outcome() -> gs.Outcome:
    return gs.simulate(setting(), seed=range(2), n_test=50)


@cache
def finding() -> gs.Finding:
    return gs.simulate(gs.Attack(d=6, width=8, networks=3))


@cache
def store() -> Store:
    opened = Store.open(Path(mkdtemp()) / "store.sqlite")
    opened.put([(trial(), gs.simulate(setting(), 0, n_test=50))])
    return opened


def trial() -> Trial:
    return Trial(setting(), 0, Route("simulate", {"n_test": 50}))


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 5)), rng.integers(0, 2, 60)


def nouns() -> dict[str, Right]:
    s, X = setting(), table()
    step = gs.GiantStep(20, 1.0)
    return {
        "Attack": (gs.Attack, {"d": 6, "width": 8, "networks": 3}),
        "Bounds": (gs.Bounds, {"d_in": 2, "n": 10, "steps": 5, "trainings": 2}),
        "Component": (gs.Component, {"weight": 1.0, "spikes": (2.0,)}),
        "Dataset": (gs.Dataset, {"source": X}),
        "Early": (gs.Early, {"n": 8, "d": 5, "width": 6, "steps": 3}),
        "Finding": (gs.Finding, {"system": gs.Attack(d=6, width=8), "route": "theory"}),
        "FunctionSpace": (gs.FunctionSpace, {"setting": s}),
        "Gaussian": (gs.Gaussian, {"d": 5}),
        "GiantStep": (gs.GiantStep, {"n": 20, "eta": 1.0}),
        "Layers": (gs.Layers, {"W": np.eye(2), "A": np.ones(2)}),
        "MeanField": (gs.MeanField, {"n": 8}),
        "Mixture": (gs.Mixture, {"d": 6, "components": (gs.Component(),)}),
        "Network": (gs.Network, {"width": 8, "activation": "relu"}),
        "Outcome": (gs.Outcome, {"setting": s, "route": "theory"}),
        "Protocol": (gs.Protocol, {"steps": (step,), "readout": gs.Ridge(20, 0.1)}),
        "Ridge": (gs.Ridge, {"n": 20, "penalty": 0.1}),
        "SGD": (gs.SGD, {"n": 20, "rate": 0.1}),
        "Setting": (
            gs.Setting,
            {"data": s.data, "target": s.target, "network": s.network, "protocol": s.protocol},
        ),
        "Spike": (gs.Spike, {"strength": 2.0, "direction": "u"}),
    }


def verbs() -> dict[str, Right]:
    s, (X, y) = setting(), table()
    own = gs.Network(6, "relu", weights=(np.eye(6, 5), np.ones(6)))
    mean = gs.mean_field
    t = np.linspace(0, 1, 8)
    curves = np.sin(np.arange(5)[:, None] * t)
    short = {"particles": 20, "passes": 2, "pool": 64, "count": 3}
    numbers, form = gs.theory.parameters(s)
    mixed = {"X": X, "labels": y}
    return {
        "activation": (gs.activation, {"source": "relu"}),
        "attack": (gs.attack, {"network": own, "x": X[:3]}),
        "bounds": (gs.bounds, {"network": own, "X": X, "y": y.astype(float)}),
        "check": (gs.check, {"claims": "moniri/alignment"}),
        "compare": (gs.compare, {"setting": s, "seed": 0, "n_test": 50}),
        "compare.predict": (predict, {"setting": s, "fine": False}),
        "equivalent": (gs.equivalent, {"setting": s, "n_test": 50}),
        "equivalent.degree_of": (gs.equivalent.degree_of, {"beta": 0.4}),
        "explain": (gs.explain, {"target": "x1 + x1*x2"}),
        "labels": (gs.labels, {"setting": s}),
        "optimal": (gs.optimal, {"setting": s, "over": "penalty"}),
        "plot": (gs.plot, {"outcome": outcome()}),
        "plot.svg": (gs.plot.svg, {"fig": gs.plot(outcome())}),
        "power": (gs.power, {"alpha": 0.3}),
        "ridge": (gs.ridge, {"F": X, "y": y, "penalty": 0.1}),
        "simulate": (gs.simulate, {"setting": s, "n_test": 50}),
        "simulate.deflated_errors": (
            gs.simulate.deflated_errors,
            {"settings": [s], "seed": 0, "n_test": 50},
        ),
        "simulate.evolution": (gs.simulate.evolution, {"setting": s}),
        "simulate.network": (gs.simulate.network, {"setting": s}),
        "simulate.parts": (
            gs.simulate.parts,
            {"setting": gs.presets.mei_montanari(n=20, d=10, N=8, penalty=0.1, noise=0.5)},
        ),
        "simulate.sgd": (gs.simulate.sgd, {"setting": s, "samples": 20, "eta": 0.1, "n_test": 50}),
        "simulate.train": (gs.simulate.train, {"setting": s}),
        "sweep": (gs.sweep, {"base": s, "axes": {"d": [10, 12]}, "routes": "theory"}),
        "target": (gs.target, {"source": "x1 + x2", "rank": 2}),
        "theory": (gs.theory, {"setting": s}),
        "theory.equivalent_inputs": (gs.theory.equivalent_inputs, {"setting": s}),
        "theory.evolution": (gs.theory.evolution, {"setting": narrow()}),
        "theory.kernel": (gs.theory.kernel, {"setting": s}),
        "theory.optimal": (gs.theory.optimal, {"setting": s, "over": "penalty"}),
        "theory.parameters": (gs.theory.parameters, {"setting": s}),
        "theory.parts": (
            gs.theory.parts,
            {"setting": gs.Setting(s.data, s.target, s.network, gs.Protocol((), gs.SGD(n=20, rate=0.1)))},
        ),
        "theory.second_step": (gs.theory.second_step, {"setting": two_steps()}),
        "theory.sgd": (gs.theory.sgd, {"setting": narrow(), "samples": 20, "eta": 0.1}),
        "theory.spectrum": (gs.theory.spectrum, {"setting": s, "density": False}),
        "theory_errors": (gs.theory_errors, {"numbers": numbers, "setting": form}),
        "mean_field.basis": (mean.basis, {"t": t, "count": 3}),
        "mean_field.smoothness": (mean.smoothness, {"count": 3, "gamma": 1.0}),
        "mean_field.project": (mean.project, {"curves": curves, "grid": t, "count": 3}),
        "mean_field.fit": (mean.fit, {"curves": curves, "y": curves[:, 0], "grid": t, **short}),
        "mean_field.fit_kernel": (
            mean.fit_kernel,
            {"K": np.eye(5), "y": np.ones(5), "particles": 20, "passes": 2, "pool": 64},
        ),
        "mean_field.Training": (mean.Training, {"penalty": 0.1}),
        "mean_field.follow": (
            mean.follow,
            {"batches": [(curves, curves[:, 0])], "grid": t, "particles": 20, "count": 3},
        ),
        "systems.from_plain": (gs.systems.from_plain, {"data": s.to_plain()}),
        "systems.read": (gs.systems.read, {"path": "setting.toml"}),
        "Setting.with_": (s.with_, {"eta": 2.0, "p": 12, "target": "x1", "activation": "tanh"}),
        "Setting.read": (gs.Setting.read, {"path": "setting.toml"}),
        "Setting.save": (s.save, {"path": "setting.toml"}),
        "Setting.from_toml": (gs.Setting.from_toml, {"text": s.to_toml()}),
        "Setting.from_json": (gs.Setting.from_json, {"text": s.to_json()}),
        "Setting.from_plain": (gs.Setting.from_plain, {"data": s.to_plain()}),
        "Mixture.fit": (gs.Mixture.fit, mixed),
        "Activation.hermite": (s.network.activation.hermite, {"order": 3}),
        "Target.matrix": (s.target.matrix, {"d": 4}),
        "Finding[]": (finding().__getitem__, {"name": "median"}),
        "Layers.of": (gs.Layers.of, {"network": own}),
        "Layers.inputs": (gs.Layers.of(own).inputs, {"X": X}),
    }


def through(call: Callable[..., Any]) -> Callable[..., list[Any]]:
    """All that a generator yields."""

    @wraps(call)
    def every(*args: Any, **kwargs: Any) -> list[Any]:
        return list(call(*args, **kwargs))

    return every


def stores() -> dict[str, Right]:
    opened, one, found = store(), trial(), outcome()
    first = gs.simulate(setting(), 0, n_test=50)
    return {
        "Store.open": (Store.open, {"path": "own.sqlite", "mode": "write", "timeout": 1.0}),
        "Store.put": (opened.put, {"trials": [(one, first)]}),
        "Store.missing": (opened.missing, {"trials": [one]}),
        "Store.find": (through(opened.find), {"trials": [one], "arrays": ()}),
        "Store.numbers": (opened.numbers, {"trials": [one], "names": ["test_error"]}),
        "Store.get": (opened.get, {"trial": one}),
        "Store.select": (through(opened.select), {"where": ["d=12"], "limit": 3}),
        "Store.tally": (opened.tally, {"where": ["d=12"]}),
        "Store.count": (opened.count, {"where": ["d=12"]}),
        "Store.varying": (opened.varying, {"where": ["d=12"]}),
        "Store.get_record": (opened.get_record, {"key": "none"}),
        "Store.resolve": (opened.resolve, {"name": "width"}),
        "Route": (Route, {"verb": "simulate", "options": {"n_test": 50}}),
        "Route.parse": (Route.parse, {"text": "theory"}),
        "Trial": (Trial, {"setting": setting(), "seed": 0, "route": Route("simulate")}),
        "Outcome.mean": (found.mean, {}),
    }


def presets() -> dict[str, Right]:
    p = gs.presets
    square = {"n": 20, "d": 10, "N": 8}
    calls: dict[str, Right] = {
        "moniri": (p.moniri, {**square, "alpha": 0.3, "penalty": 0.1}),
        "ba": (p.ba, {**square, "eta": 1.0, "penalty": 0.1}),
        "moniri_hassani": (p.moniri_hassani, {**square, "alpha1": 0.3, "alpha2": 0.3}),
        "dandi": (p.dandi, {"n": 20, "d": 10, "p": 8, "eta": 1.0, "penalty": 0.1}),
        "cui": (p.cui, {"n0": 20, "n": 20, "d": 10, "p": 8, "eta": 1.0, "penalty": 0.1}),
        "demir": (p.demir, {"n": 20, "m": 20, "k": 8, "alpha": 0.5, "beta": 1.0}),
        "fashion": (p.fashion, {"m": 20, "k": 8}),
        "mei_montanari": (p.mei_montanari, {**square, "penalty": 0.1}),
    }
    return {f"presets.{name}": call for name, call in calls.items()}


def measures() -> dict[str, Right]:
    m, rng = gs.measure, np.random.default_rng(0)
    W, two = rng.standard_normal((60, 50)), np.eye(50)[:2]
    g, values = rng.standard_normal(30), np.sort(rng.uniform(size=80))[::-1]
    pair: dict[str, Any] = {"W": W, "directions": two}
    calls: dict[str, Right] = {
        "mean_and_error": (m.mean_and_error, {"samples": W, "axis": 0}),
        "intrinsic_dimension": (m.intrinsic_dimension, {"X": W, "neighbours": 5}),
        "kernel": (m.kernel, {"W": W, "activation": "tanh", "direction": two[0], "count": 2}),
        "layer": (m.layer, {**pair, "most": 3}),
        "layer_margin": (m.layer_margin, {"count": 30}),
        "moved": (m.moved, {"change": W, "a": rng.standard_normal(60), "count": 2}),
        "partition": (m.partition, {"active": W > 0, "y": np.ones(60), "a": np.ones(50)}),
        "bulk_edge": (m.bulk_edge, {"values": values}),
        "margin": (m.margin, {"count": 30}),
        "operator_norm": (m.operator_norm, {"A": W}),
        "outliers": (m.outliers, {"values": values, "edge": 0.9}),
        "spectrum": (m.spectrum, {"A": W, "vectors": 2}),
        "captured_by_neuron": (m.captured_by_neuron, pair),
        "in_subspace": (m.in_subspace, pair),
        "learned": (m.learned, pair),
        "learned_rank": (m.learned_rank, {"matrix": np.eye(2), "null": 0.1}),
        "null_level": (m.null_level, pair),
        "overlaps": (m.overlaps, pair),
        "principal_angles": (m.principal_angles, {"A": two, "B": W[:3]}),
        "share_inside": (m.share_inside, {"W": W, "basis": two.T}),
        "span": (m.span, {"directions": two}),
        "alignments": (m.alignments, {"vectors": W, "basis": W}),
        "cosine": (m.cosine, {"u": g, "v": g}),
        "gram_schmidt_powers": (m.gram_schmidt_powers, {"g": g, "count": 3}),
        "powers": (m.powers, {"g": g, "count": 3}),
    }
    return {f"measure.{name}": call for name, call in calls.items()}


@cache
def places() -> dict[str, Right]:
    """All of them; a file that some of them read is written into the current folder."""
    setting().save("setting.toml")
    return {**nouns(), **verbs(), **stores(), **presets(), **measures()}


def arguments(call: Callable[..., Any], right: dict[str, Any]) -> tuple[str, ...]:
    """The names that a call takes: those of its signature, and those given as ``**options``."""
    verb = call.__wrapped__ if isinstance(call, types.ModuleType) else call
    every = inspect.signature(verb).parameters.values()
    named = [each.name for each in every if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    return tuple(dict.fromkeys([*named, *right]))
