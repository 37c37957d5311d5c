"""Batches: the initial weights and labelled batches of a group of seeds, in chunks of rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from giantstep._machine import mesh as _mesh
from giantstep._machine.backend import jax
from giantstep.experiment import draw
from giantstep.experiment.draw import Batch
from giantstep.experiment.setting import Setting

Array = Any


@dataclass(frozen=True)
class Chunk:
    """Rows of a batch from ``start`` on, for every seed: inputs X (S, rows, d) and labels y (S, rows)."""

    batch: Batch
    start: int
    X: Array
    y: Array

    @property
    def stop(self) -> int:
        return self.start + self.X.shape[1]


@dataclass(frozen=True)
class Batches:
    """The draws of a group of seeds. A batch is drawn again whenever it is needed, unless its chunks are in memory.

    Attributes:
        setting: the experiment.
        seeds: the seeds of the group.
        rows: the number of rows of a chunk.
        room: the largest batch that may stay in memory.
        dtype: the type of the inputs.
        held: chunks in memory.
        mesh: the devices that share the rows of every chunk.
        host: whether arrays are NumPy arrays and nothing is compiled.
    """

    setting: Setting
    seeds: tuple[int, ...]
    rows: int
    room: int
    dtype: Any
    held: tuple[Chunk, ...] = ()
    mesh: jax.sharding.Mesh | None = None
    host: bool = False

    @cached_property
    def steps(self) -> tuple[Batch, ...]:
        """The batch of every step."""
        return draw.step_batches(self.setting)

    @cached_property
    def readout(self) -> Batch:
        """The batch of the readout."""
        return draw.readout_batch(self.setting)

    def weights(self) -> tuple[Array, Array]:
        """W (S, p, d) and a (S, p) before the first step."""
        pairs = [draw.weights(self.setting, seed) for seed in self.seeds]
        W, a = (self.put(np.stack(part)) for part in zip(*pairs, strict=True))
        return W, a

    def chunks(self, batch: Batch) -> Iterator[Chunk]:
        """Yield a batch in chunks."""
        held = [chunk for chunk in self.held if chunk.batch == batch]
        if held:
            yield from held
            return
        for start in range(0, batch.n, self.rows):
            stop = start + self.rows
            pairs = [draw.rows(self.setting, seed, batch, start, stop, self.dtype) for seed in self.seeds]
            X, y = (np.stack(part) if len(pairs) > 1 else part[0][None] for part in zip(*pairs, strict=True))
            if self.host:
                yield Chunk(batch, start, self.put(X), self.put(y))
                continue
            for first, *rows in _mesh.shared(self.mesh, X, y, self.dtype):
                yield Chunk(batch, start + first, *rows)

    def noise(self, chunk: Chunk, separate: bool = False) -> Array:
        """Z for the rows of a chunk, (S, rows, p); ``separate`` noise is not shared by the neurons of a pair."""
        place = (chunk.batch, chunk.start, chunk.stop)
        each = [draw.feature_noise(self.setting, seed, *place, apart=separate) for seed in self.seeds]
        return self.put(np.stack(each) if len(each) > 1 else each[0][None])

    def components(self, chunk: Chunk) -> np.ndarray:
        """The component of every row of a chunk, (S, rows)."""
        place = (chunk.batch, chunk.start, chunk.stop)
        return np.stack([draw.components(self.setting, seed, *place) for seed in self.seeds]).astype(np.int32)

    def holding(self, batch: Batch) -> "Batches":
        """The same draws with that batch in memory, if there is room for it; its rows are then drawn once."""
        if batch.n > self.room or any(chunk.batch == batch for chunk in self.held):
            return self
        return replace(self, held=(*self.held, *self.chunks(batch)))

    def holding_the_last(self) -> "Batches":
        """The same draws with the batch of the last step in memory, if its rows are needed more than once."""
        steps, readout = self.setting.protocol.steps, self.setting.protocol.readout
        if not steps:
            return self
        again = [steps[-1].deflate > 0, steps[-1].batch == "reuse", readout is not None and readout.batch == "reuse"]
        return self.holding(self.steps[-1]) if any(again) else self

    def put(self, array: Any, dtype: Any = None) -> Array:
        """Move an array to the device of the work, in the precision of the products."""
        dtype = self.dtype if dtype is None else dtype
        return np.asarray(array, dtype) if self.host else _mesh.everywhere(self.mesh, array, dtype)
