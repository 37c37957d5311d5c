"""JAX, configured once, before its backend starts: import ``jax`` and ``jnp`` from here and nowhere else.

Two settings are needed by everything above this file.

- Float64 is on: the theory and the ridge fits need it. Float32 work asks for float32 arrays by name.
- The concurrency-optimised scheduler of XLA's CPU backend is off. On two cores, graphs with many small independent
  LAPACK calls under a ``while_loop`` were seen to hang for ever with it (jaxlib 0.10.0 and 0.10.2), never without it.
  ``tests/test_backend.py`` runs such a graph in fresh processes under a time limit. Processes started from
  this one inherit the flag through the environment.
"""

import os

_NO_HANG = "--xla_cpu_enable_concurrency_optimized_scheduler=false"

if "xla_cpu_enable_concurrency_optimized_scheduler" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_NO_HANG}".strip()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)

__all__ = ["jax", "jnp"]
