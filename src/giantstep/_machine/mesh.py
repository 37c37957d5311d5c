"""One problem over several devices: rows of a chunk are shared out, weights and sums over rows are on every device.

XLA splits the products along the rows and adds up what contracts them. Rows are never padded, as sigma(0) is not 0 in general:
those that do not divide by the number of devices make a small chunk of their own, which every device works through.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from giantstep._given.plain import several, whole
from giantstep._machine.arrays import is_jax
from giantstep._machine.backend import jax, jnp
from giantstep.errors import InputError, quoted

Array = Any
AXIS = "samples"
WANTED = "devices must be a whole number, a list of different JAX devices of one kind, or a mesh with one axis"


def mesh(devices: Any) -> jax.sharding.Mesh | None:
    """The mesh meant by ``devices``: None, how many of the local devices, a sequence of them, or a mesh with one axis."""
    if devices is None:
        return None
    if isinstance(devices, jax.sharding.Mesh):
        if devices.devices.ndim != 1:
            raise InputError(f"{WANTED}, not one with {devices.devices.ndim} axes")
        chosen = list(devices.devices)
    elif (entries := several(devices, "devices")) is not None:
        chosen = list(entries)
    else:
        count, local = whole(devices, "devices"), jax.local_devices()
        if count > len(local):
            raise InputError(f"devices must be at most {len(local)}, the number of {local[0].platform} devices here")
        chosen = local[:count]
    if not chosen or not all(isinstance(device, jax.Device) for device in chosen) or len(set(chosen)) < len(chosen):
        raise InputError(f"{WANTED}, not {quoted(devices)}")
    if len({device.platform for device in chosen}) > 1 or any(d.process_index != jax.process_index() for d in chosen):
        raise InputError(f"{WANTED}, all of this process")
    # a user's own mesh may have axes of explicit type, which sums do not take
    return jax.sharding.Mesh(np.array(chosen), (AXIS,))


def size(mesh: jax.sharding.Mesh | None) -> int:
    """How many devices share the rows."""
    return 1 if mesh is None else mesh.devices.size


def everywhere(mesh: jax.sharding.Mesh | None, array: Any, dtype: Any = None) -> Array:
    """The array on every device."""
    if mesh is None:
        return jnp.asarray(array, dtype)
    return jax.device_put(np.asarray(array, dtype), replicated(mesh))


def alone(array: Array) -> Array:
    """What every device has, on the first of them: factorisations are done once, and LAPACK on all devices of a CPU can hang."""
    return array.addressable_shards[0].data if is_jax(array) and len(array.devices()) > 1 else array


def columns(array: Array) -> jax.sharding.NamedSharding:
    """Where an array (S, rows, p) of this mesh would be with its columns shared out instead of its rows."""
    return jax.sharding.NamedSharding(array.sharding.mesh, jax.sharding.PartitionSpec(None, None, AXIS))


def replicated(mesh: jax.sharding.Mesh | None) -> jax.sharding.NamedSharding | None:
    """Where an array is that every device has; None without a mesh."""
    return None if mesh is None else jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def pieces(mesh: jax.sharding.Mesh | None, rows: int) -> list[tuple[int, int, jax.sharding.NamedSharding | None]]:
    """The pieces in which so many rows (S, rows, ...) are on the devices: the first row, how many, and where they are."""
    if mesh is None:
        return [(0, rows, None)]
    even = rows - rows % mesh.devices.size
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, AXIS))
    both = [(0, even, split), (even, rows - even, replicated(mesh))]
    return [piece for piece in both if piece[1]]


def shared(
    mesh: jax.sharding.Mesh | None, X: np.ndarray, y: np.ndarray, dtype: Any
) -> Iterator[tuple[int, Array, Array]]:
    """X (S, rows, d) and y (S, rows) on the devices: the first row of each piece, and its parts."""
    for first, count, place in pieces(mesh, y.shape[1]):
        if place is None:
            yield first, jnp.asarray(X, dtype), jnp.asarray(y, dtype)
        else:
            own = slice(first, first + count)
            yield first, *(jax.device_put(np.asarray(part[:, own], dtype), place) for part in (X, y))
