# SPDX-License-Identifier: Apache-2.0
"""test_jax_weights.py  Prepared 4-bit weights in JAX: in and out of jit, vmap, gates, e4m3
activations, experts. Skipped without JAX."""
import numpy as np
import pytest

import tilewright as tw
from helpers import f64, values
from jax_parts import jax, jnp, on_host, twj

N, K = 64, 256


def weights(count=None, seed=0, **options):
    """4-bit weights of a random matrix (n, k), or of `count` matrices of mxfp4."""
    m = np.random.default_rng(seed).standard_normal((count or 1, N, K)).astype(np.float32)
    if count is None and options.get("to"):
        return tw.prepare(m[0], **options)
    q = tw.quantize(m.reshape(-1, K), "mxfp4", scaling="linear")
    scale = q.scale.view(np.uint8).reshape(-1)[:m.size // 32].reshape(-1, K // 32)
    if count is None:
        return tw.prepare(q.data, scale, **options)
    return tw.prepare(q.data.reshape(count, N, K // 32, 16), scale.reshape(count, N, -1), **options)


def same(found, right):
    """Bits of the emulator on the CPU; on a GPU the order of the sums is another one."""
    found, right = np.asarray(found), np.asarray(right)
    assert found.dtype == right.dtype and found.shape == right.shape
    if on_host:
        assert found.tobytes() == right.tobytes()
    assert abs(f64(found) - f64(right)).max() <= 0.01 * abs(f64(right)).max()


CASES = {
    "int4": ({"to": "int4", "group": 64}, "bfloat16", {}),
    "int4, f16": ({"to": "int4", "group": 64, "scales_to": "float16"}, "float16", {}),
    "mxfp4": ({}, "bfloat16", {}),
    "alpha": ({}, "bfloat16", {"alpha": 0.25}),
    "split": ({"gate": "split"}, "bfloat16", {"gate": "split", "activation": "silu"}),
    "interleaved": ({"gate": "interleaved"}, "bfloat16",
                    {"gate": "interleaved", "activation": "silu"}),
    "int4, e4m3": ({"to": "int4", "activations": "e4m3"}, "float8_e4m3fn", {}),
    "mxfp4, e4m3": ({"activations": "e4m3"}, "float8_e4m3fn", {}),
    "split, e4m3": ({"activations": "e4m3", "gate": "split"}, "float8_e4m3fn",
                    {"gate": "split", "activation": "silu"}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("m", [1, 40])
def test_gemm(name, m):
    """Out of jit and in it, with the weights as an argument: NumPy's result."""
    of, dtype, options = CASES[name]
    w = weights(**of)
    a = values(np.random.default_rng(1), (m, K), dtype)
    right = tw.gemm(a, w, **options)
    there = jax.device_put(w)
    assert isinstance(there, tw.Prepared) and isinstance(there.data, jax.Array)
    assert there.shape == w.shape and there.format == w.format
    same(tw.gemm(jnp.asarray(a), w, **options), right)
    same(tw.gemm(jnp.asarray(a), there, **options), right)
    same(jax.jit(lambda a, w: twj.gemm(a, w, **options))(jnp.asarray(a), there), right)


@pytest.mark.parametrize("form", ["e4m3:row", "e4m3:tensor"])
def test_quantised_activations(form):
    """Quantised and multiplied in one compiled program."""
    w = weights(to="int4", activations="e4m3")
    x = values(np.random.default_rng(2), (40, K), "bfloat16")
    f = jax.jit(lambda x, w: twj.gemm(twj.quantize(x, form), w))
    same(f(jnp.asarray(x), jax.device_put(w)), tw.gemm(tw.quantize(x, form), w))


def test_bias():
    w = weights()
    rng = np.random.default_rng(3)
    a, bias = values(rng, (40, K), "bfloat16"), values(rng, (N,), "bfloat16")
    f = jax.jit(lambda a, v: twj.gemm(a, w, bias=v, activation="gelu"))
    same(f(jnp.asarray(a), jnp.asarray(bias)), tw.gemm(a, w, bias=bias, activation="gelu"))


def test_vmap():
    """A batch of activations by one matrix of weights, also in two dimensions."""
    w = weights()
    a = values(np.random.default_rng(4), (2, 3, 24, K), "bfloat16")
    right = np.asarray(tw.gemm(a.reshape(6, 24, K), w)).reshape(2, 3, 24, N)
    same(jax.vmap(lambda a: twj.gemm(a, w))(jnp.asarray(a[0])), right[0])
    same(jax.vmap(jax.vmap(lambda a: twj.gemm(a, w)))(jnp.asarray(a)), right)
    bias = jnp.ones(N, jnp.bfloat16)
    assert jax.vmap(lambda a: twj.gemm(a, w, bias=bias))(jnp.asarray(a[0])).shape == (3, 24, N)


def test_experts():
    """ragged_dot() by 4-bit weights: rows of no group are zeros."""
    w = weights(3)
    assert w.shape == (3, K, N)
    a = values(np.random.default_rng(5), (40, K), "bfloat16")
    sizes = np.array([9, 0, 26], np.int32)
    right = np.zeros((40, N), a.dtype)
    tw.grouped_gemm(a, w, sizes=sizes, out=right)
    there = jax.device_put(w)
    same(twj.ragged_dot(jnp.asarray(a), there, sizes), right)
    same(jax.jit(twj.ragged_dot)(jnp.asarray(a), there, jnp.asarray(sizes)), right)


def test_a_saved_file():
    w = weights()
    again = tw.Prepared(jnp.asarray(w.data))
    assert again.shape == w.shape and again.header == w.header


def test_scaled_as_an_argument():
    """Scaled is an argument of a compiled program, and a transpose of it."""
    rng = np.random.default_rng(6)
    x, w = values(rng, (24, K), "bfloat16"), values(rng, (128, K), "bfloat16")
    qx, qw = (tw.quantize(jnp.asarray(v), "e4m3:row") for v in (x, w))
    found = jax.jit(lambda a, b: twj.gemm(a, b))(qx, qw.T)
    same(found, tw.gemm(tw.quantize(x, "e4m3:row"), tw.quantize(w, "e4m3:row").T))


REFUSED = {
    "a gradient": lambda a, w: jax.grad(lambda a: twj.gemm(a, w).astype("f4").sum())(a),
    "scales of b": lambda a, w: twj.gemm(a, w, scale_b=jnp.ones(())),
    "another type": lambda a, w: twj.gemm(a.astype("float32"), w),
    "another k": lambda a, w: jax.jit(lambda a: twj.gemm(a[:, :128], w))(a),
    "a gate": lambda a, w: twj.gemm(a, w, gate="split", activation="silu"),
    "one matrix of experts": lambda a, w: twj.ragged_dot(a, w, jnp.ones((1,), jnp.int32)),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused_while_tracing(row):
    with pytest.raises(tw.RefusedError):
        REFUSED[row](jnp.ones((8, K), jnp.bfloat16), weights())


def test_vmap_over_weights_is_refused():
    w = weights()
    two = tw._weights.prepared_of(jnp.stack([jnp.asarray(w.data)] * 2), w.header)
    with pytest.raises(Exception, match="TW0481"):
        jax.vmap(twj.gemm)(jnp.ones((2, 8, K), jnp.bfloat16), two).block_until_ready()
