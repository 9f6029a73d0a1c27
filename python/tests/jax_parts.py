# SPDX-License-Identifier: Apache-2.0
"""jax_parts.py  JAX for tests, which are skipped without it or without its handlers."""
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy
try:
    import tilewright.jax as twj
except ImportError as why:
    pytest.skip(str(why), allow_module_level=True)

on_host = jax.default_backend() == "cpu"
