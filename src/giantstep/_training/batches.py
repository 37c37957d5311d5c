"""Batches: the initial weights and labelled batches of a group of seeds, in chunks of rows.

The host draws them, or the device does (``device``). In a compiled program (``traced``) the seeds are tracers, the device draws,
and the chunks of a batch are the turns of a loop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from giantstep._machine import mesh as _mesh
from giantstep._machine.arrays import is_traced, over_seeds
from giantstep._machine.backend import jax, jnp
from giantstep._machine.counter import DEVICE, DeviceSource, stream_words
from giantstep._machine.random import drawn_alone
from giantstep._machine.threads import SMALL, ahead
from giantstep.experiment import draw
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.draw import Batch
from giantstep.experiment.protocol import Protocol
from giantstep.experiment.setting import Setting

Array = Any
Place = jax.sharding.NamedSharding | None


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


def _placed(arrays: Any, dtype: Any, place: Place) -> Any:
    arrays = jax.tree.map(lambda x: jnp.asarray(x, dtype), arrays)
    return arrays if place is None else jax.lax.with_sharding_constraint(arrays, place)


@partial(jax.jit, static_argnames=("setting", "dtype", "place"))
def _weights(seeds, *, setting, dtype, place):
    """W (S, p, d) and a (S, p), drawn on the device."""
    return _placed(over_seeds(lambda seed: draw.weights(setting, seed, DEVICE))(seeds), dtype, place)


@partial(jax.jit, static_argnames="setting")
def _second_layers(seeds, *, setting):
    return over_seeds(lambda seed: jnp.asarray(draw.second_layer(setting, seed, DEVICE)))(seeds)


@partial(jax.jit, static_argnames=("setting", "batch", "count", "dtype", "place"))
def _rows(seeds, start, words, *, setting, batch, count, dtype, place):
    """X (S, rows, d) and y (S, rows), drawn on the device; batches of one kind share the program."""
    source = DeviceSource(words)
    one = lambda seed: draw.some_rows(setting, seed, batch, start, count, dtype, source)  # noqa: E731
    return _placed(over_seeds(one)(seeds), dtype, place)


@partial(jax.jit, static_argnames=("setting", "batch", "count", "dtype", "place", "apart"))
def _noise(seeds, start, *, setting, batch, count, dtype, place, apart):
    """Z (S, rows, p), drawn on the device."""
    one = lambda seed: draw.some_feature_noise(setting, seed, batch, start, count, apart=apart, source=DEVICE)  # noqa: E731
    return _placed(over_seeds(one)(seeds), dtype, place)


@partial(jax.jit, static_argnames=("setting", "batch", "count", "dtype"))
def _components(seeds, start, *, setting, batch, count, dtype):
    """Components (S, rows) of a mixture, drawn on the device."""
    one = lambda seed: draw.some_components(setting, seed, batch, start, count, DEVICE)  # noqa: E731
    return over_seeds(one)(seeds).astype(np.int32)


@dataclass(frozen=True)
class Batches:
    """The draws of a group of seeds. A batch is drawn again whenever it is needed, unless its chunks are in memory."""

    setting: Setting  # the experiment
    seeds: tuple[int, ...]  # the seeds of the group
    rows: int  # the number of rows of a chunk
    room: int  # the largest batch that may stay in memory
    dtype: Any  # the type of the inputs
    held: tuple[Chunk, ...] = ()  # chunks in memory
    mesh: jax.sharding.Mesh | None = None  # the devices that share the rows of every chunk
    host: bool = False  # whether arrays are NumPy arrays and nothing is compiled
    device: bool = False  # whether the device draws the random numbers

    @property
    def traced(self) -> bool:
        """Whether this is part of a compiled program."""
        return is_traced(self.seeds[0])

    @cached_property
    def _drawn(self) -> dict[str, Any]:
        """What all draws on the device depend on; programs that differ in other things share them."""
        return {"setting": replace(self.setting, protocol=Protocol()), "dtype": self.dtype}

    @property
    def _seeds(self) -> Array:
        if self.traced:
            return jnp.stack(self.seeds)
        return jnp.asarray(np.array(self.seeds, np.uint64))

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
        if self.device and self.setting.network.weights is None:
            return _weights(self._seeds, place=_mesh.replicated(self.mesh), **self._drawn)
        pairs = [draw.weights(self.setting, seed) for seed in self.seeds]
        W, a = (self.put(np.stack(part)) for part in zip(*pairs, strict=True))
        return W, a

    def second_layers(self) -> np.ndarray:
        """The second layers alone, (S, p) in float64."""
        if self.device:
            return np.asarray(_second_layers(self._seeds, setting=self._drawn["setting"]))
        return np.stack([draw.second_layer(self.setting, seed) for seed in self.seeds])

    def chunks(self, batch: Batch) -> Iterator[Chunk]:
        """Yield a batch in chunks."""
        held = [chunk for chunk in self.held if chunk.batch == batch]
        if held:
            yield from held
            return
        starts = range(0, batch.n, self.rows)
        if self.host:
            chunk = partial(self._host_chunk, batch)
            yield from ahead(chunk, starts, 1) if self._short else map(chunk, starts)
            return
        for start in starts:
            if self.device:
                for first, count, place in _mesh.pieces(self.mesh, min(self.rows, batch.n - start)):
                    yield self._chunk(batch, start + first, count, place)
                continue
            for first, *rows in _mesh.shared(self.mesh, *self._drawn_rows(batch, start), self.dtype):
                yield Chunk(batch, start + first, *rows)

    @property
    def _short(self) -> bool:
        """Whether one thread draws a chunk and BLAS takes one for its products, so that another can work on the next."""
        return drawn_alone(self.rows, self.setting.d) and self.setting.p < SMALL

    def _drawn_rows(self, batch: Batch, start: int) -> tuple[np.ndarray, np.ndarray]:
        """X (S, rows, d) and y (S, rows) of a chunk, drawn by the host."""
        place = (batch, start, start + self.rows, self.dtype)
        pairs = [draw.rows(self.setting, seed, *place) for seed in self.seeds]
        X, y = (np.stack(part) if len(pairs) > 1 else part[0][None] for part in zip(*pairs, strict=True))
        return X, y

    def _host_chunk(self, batch: Batch, start: int) -> Chunk:
        X, y = self._drawn_rows(batch, start)
        return Chunk(batch, start, self.put(X), self.put(y))

    def _chunk(self, batch: Batch, start: Any, count: int, place: Place = None) -> Chunk:
        """Rows that the device draws."""
        words = np.array([stream_words((*batch.key, last)) for last in range(draw.STREAMS)])
        form = {"batch": draw.kind(batch), "count": count, "place": place, **self._drawn}
        return Chunk(batch, start, *_rows(self._seeds, start, words, **form))

    def each(self, batch: Batch, work: Callable[[Chunk], Any]) -> Iterator[Any]:
        """``work(chunk)`` of every chunk of a batch, in order; on the host threads share chunks that are short."""
        if self.host and self._short and not any(chunk.batch == batch for chunk in self.held):
            return ahead(lambda start: work(self._host_chunk(batch, start)), range(0, batch.n, self.rows))
        return map(work, self.chunks(batch))

    def fold(self, batch: Batch, step: Callable[[Any, Chunk], Any], state: Any) -> Any:
        """``state = step(state, chunk)`` for all chunks of a batch; the next chunk is drawn while one is at work."""
        if not self.traced:
            for chunk in self.chunks(batch):
                jax.block_until_ready(state)  # two chunks at a time: more would fill the memory
                state = step(state, chunk)
            return state
        full, rest = divmod(batch.n, self.rows)
        turn = lambda i, state: step(state, self._chunk(batch, i * self.rows, self.rows))  # noqa: E731
        if full == 1:
            state = turn(0, state)
        elif full:
            like = jax.eval_shape(partial(turn, 0), state)
            state = jax.tree.map(lambda x, y: jnp.broadcast_to(jnp.asarray(x, y.dtype), y.shape), state, like)
            state = jax.lax.fori_loop(0, full, turn, state)
        return step(state, self._chunk(batch, full * self.rows, rest)) if rest else state

    def joined(self, batch: Batch, each: Callable[[Chunk], Any]) -> Any:
        """``each(chunk)`` for all chunks of a batch, put together along the rows, in a compiled program."""
        full, rest = divmod(batch.n, self.rows)
        parts = []
        if full:
            turns = jax.lax.map(lambda i: each(self._chunk(batch, i * self.rows, self.rows)), jnp.arange(full))
            parts.append(jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), turns))
        if rest:
            parts.append(each(self._chunk(batch, full * self.rows, rest)))
        return jax.tree.map(lambda *x: x[0] if len(x) == 1 else jnp.concatenate(x), *parts)

    def whole(self, batch: Batch) -> Chunk:
        """All rows of a batch, drawn by the device."""
        return self._chunk(batch, 0, batch.n)

    def some(self, batch: Batch, most: int) -> Chunk:
        """The first rows of a batch, drawn by the device."""
        return self._chunk(batch, 0, min(batch.n, most))

    def noise(self, chunk: Chunk, separate: bool = False) -> Array:
        """Z for the rows of a chunk, (S, rows, p); ``separate`` noise is not shared by the neurons of a pair."""
        if self.device:
            count = chunk.X.shape[1]
            return _noise(
                self._seeds, chunk.start, batch=chunk.batch, count=count, place=None, apart=separate, **self._drawn
            )
        place = (chunk.batch, chunk.start, chunk.stop)
        each = [draw.feature_noise(self.setting, seed, *place, apart=separate) for seed in self.seeds]
        return self.put(np.stack(each) if len(each) > 1 else each[0][None])

    def components(self, chunk: Chunk) -> np.ndarray:
        """The component of every row of a chunk, (S, rows)."""
        if self.device and isinstance(self.setting.data, Mixture):
            count = chunk.X.shape[1]
            return np.asarray(_components(self._seeds, chunk.start, batch=chunk.batch, count=count, **self._drawn))
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
