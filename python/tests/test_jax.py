# SPDX-License-Identifier: Apache-2.0
"""test_jax.py  Arrays of JAX: eager, jit, vmap, gradients, scales. Skipped without JAX."""
import numpy as np
import pytest

import tilewright as tw
from helpers import ROUNDING, check, dequantized, f64, values
from jax_parts import jax, jnp, on_host, twj


def arrays(*shapes, dtype="bfloat16", seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(values(rng, shape, dtype)) for shape in shapes]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float8_e4m3fn", "int8"])
def test_eager(dtype):
    a, w = arrays((24, 64), (32, 64), dtype=dtype)
    d = tw.gemm(a, w.T)
    assert isinstance(d, jax.Array)
    if dtype == "float8_e4m3fn" and not on_host:  # sums have 13 bits in a tensor core
        right = f64(a) @ f64(w).T
        bound = abs(f64(a)) @ abs(f64(w)).T * 2.0**-11 + abs(right) * ROUNDING["bfloat16"][0]
        assert (abs(f64(d) - right) <= bound).all()
        return
    check(np.asarray(d), f64(a), f64(w).T)
    check(np.asarray(twj.gemm(a, w, b_transposed=True)), f64(a), f64(w).T)


def test_jit():
    a, w = arrays((24, 64), (32, 64))
    (v,) = arrays((32,))
    d = jax.jit(lambda a, w: twj.gemm(a, w, bias=v, b_transposed=True))(a, w)
    check(np.asarray(d), f64(a), f64(w).T, plus=f64(v))


@pytest.mark.parametrize("transposed", [False, True])
def test_jit_with_activation(transposed):
    a, w = arrays((24, 64), (32, 64))
    f = jax.jit(lambda a, w: twj.gemm(a, w if transposed else w.T, activation="silu",
                                      b_transposed=transposed))
    x = f64(a) @ f64(w).T
    right = x / (1 + np.exp(-x))
    assert abs(f64(f(a, w)) - right).max() < 0.01 * abs(right).max()


@pytest.mark.parametrize("forms", [("e4m3:row", "e4m3:row"), ("e4m3:1x128", "e4m3:128x128"),
                                   ("nvfp4", "nvfp4"), ("mxfp8", "mxfp8")], ids=" ".join)
def test_scales(forms):
    a, w = arrays((64, 256), (128, 256))
    qa, qw = tw.quantize(a, forms[0]), tw.quantize(w, forms[1])
    assert isinstance(qa.data, jax.Array)
    d = tw.gemm(qa, qw.T)
    same = tw.gemm(tw.quantize(np.asarray(a), forms[0]), tw.quantize(np.asarray(w), forms[1]).T)
    if on_host:
        assert (np.asarray(d) == same).all()
    else:  # the emulator's sums of float8 are exact
        assert abs(f64(d) - f64(same)).max() <= 0.01 * abs(f64(same)).max()


@pytest.mark.parametrize("form", ["e4m3:tensor", "e4m3:row", "e4m3:1x128", "e4m3:128x128",
                                  "e5m2:row", "int8:row", "mxfp8", "mxfp4", "nvfp4"])
@pytest.mark.parametrize("shape", [(64, 256), (2, 33, 256)], ids=str)
def test_quantize_in_jit(form, shape):
    """Bit for bit what quantize() makes of an array of NumPy."""
    (x,) = arrays(shape)
    options = {"library": "flashinfer-k"} if "128" in form else {}
    right = tw.quantize(np.asarray(x), form, **options)

    def parts(x):
        q = twj.quantize(x, form)
        return q.data, q.scale, q.level

    for found in (parts(x), jax.jit(parts)(x)):
        for y, r in zip(found, (right.data, right.scale, right.level)):
            assert (y is None) == (r is None)
            if r is not None:
                assert y.shape == r.shape and np.asarray(y).tobytes() == np.ascontiguousarray(
                    r).tobytes()


def bound_of(qa, qw, k, dtype):
    """(GEMM in float64, error bound) of quantised operands: sums of float8 have 13 bits within 32
    of K, and four of these sums are added (docs/accuracy.md)."""
    a, w = dequantized(qa, *qa.data.shape), dequantized(qw, *qw.data.shape)
    magnitude = abs(a) @ abs(w).T
    relative = ROUNDING[dtype][0]
    return a @ w.T, magnitude * (k * 2.0**-24 + 2.0**-11) + abs(a @ w.T) * relative


@pytest.mark.parametrize("forms", [("e4m3:tensor", "e4m3:tensor"), ("e4m3:row", "e4m3:row"),
                                   ("e4m3:1x128", "e4m3:1x128"), ("e4m3:1x128", "e4m3:128x128"),
                                   ("e4m3:128x128", "e4m3:128x128")], ids=" ".join)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("shape", [(64, 128, 256), (63, 80, 384)], ids=str)
def test_scales_within_the_error_bound(forms, dtype, shape):
    """Quantised and multiplied in one compiled program."""
    m, n, k = shape
    a, w = arrays((m, k), (n, k))

    def program(a, w):
        qa, qw = twj.quantize(a, forms[0]), twj.quantize(w, forms[1])
        return twj.gemm(qa, qw.T, out_dtype=dtype), qa.data, qa.scale, qw.data, qw.scale

    d, *parts = jax.jit(program)(a, w)
    qa = tw.Scaled(*map(np.asarray, parts[:2]), None, forms[0], "flashinfer-k")
    qw = tw.Scaled(*map(np.asarray, parts[2:]), None, forms[1], "flashinfer-k")
    right, bound = bound_of(qa, qw, k, dtype)
    assert (abs(f64(d) - right) <= bound).all()


@pytest.mark.parametrize("form", ["e4m3:row", "e4m3:1x128"])
def test_vmap_of_scales(form):
    a, w = arrays((3, 24, 256), (128, 256))
    qw = twj.quantize(w, form)
    found = jax.vmap(lambda x: twj.gemm(twj.quantize(x, form), qw.T))(a)
    for i in range(3):
        assert (np.asarray(found[i]) == np.asarray(twj.gemm(twj.quantize(a[i], form), qw.T))).all()


def test_vmap_is_a_batch():
    a, w = arrays((3, 24, 64), (64, 32))
    check(np.asarray(jax.vmap(lambda a: twj.gemm(a, w))(a)), f64(a), f64(w))
    b = jnp.stack([w, w + w, w])
    check(np.asarray(jax.vmap(twj.gemm)(a, b)), f64(a), f64(b))
    two = jnp.stack([a, a])
    assert jax.vmap(jax.vmap(lambda a: twj.gemm(a, w)))(two).shape == (2, 3, 24, 32)


def test_vmap_with_bias():
    a, w = arrays((3, 24, 64), (32, 64))
    (v,) = arrays((32,))
    d = jax.vmap(lambda a: twj.gemm(a, w, bias=v, b_transposed=True))(a)
    check(np.asarray(d), f64(a), f64(w).T, plus=f64(v))


def test_a_batch():
    a, w = arrays((3, 24, 64), (64, 32))
    check(np.asarray(twj.gemm(a, w)), f64(a), f64(w))


@pytest.mark.parametrize("activation", [None, "relu", "silu", "gelu", "gelu_erf"])
@pytest.mark.parametrize("gate", [None, "split", "interleaved"])
def test_gradients(activation, gate):
    a, w = arrays((16, 32), (64, 32))
    (v,) = arrays((64,))

    def ours(a, w, v):
        return twj.gemm(a, w, bias=v, activation=activation, gate=gate,
                        b_transposed=True).astype("f4").sum()

    def theirs(a, w, v):
        x = a.astype("f4") @ w.astype("f4").T + v.astype("f4")
        act = {None: lambda u: u, "relu": lambda u: jnp.maximum(u, 0),
               "silu": lambda u: u / (1 + jnp.exp(-u)),
               "gelu": lambda u: u / 2 * (1 + jnp.tanh((2 / jnp.pi) ** 0.5
                                                       * (u + 0.044715 * u**3))),
               "gelu_erf": lambda u: u / 2 * (1 + jax.lax.erf(u / 2**0.5))}[activation]
        if gate is None:
            return act(x).sum()
        first, second = jnp.split(x, 2, axis=-1) if gate == "split" else (x[:, 0::2], x[:, 1::2])
        return (act(first) * second).sum()

    if activation is None and gate is not None:
        pytest.skip("a gate has an activation")
    found = jax.jit(jax.grad(ours, (0, 1, 2)))(a, w, v)
    for x, y in zip(found, jax.grad(theirs, (0, 1, 2))(a, w, v)):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert abs(f64(x) - f64(y)).max() <= 0.03 * max(1, abs(f64(y)).max())


@pytest.mark.parametrize("activation", [None, "swish"])
def test_gradient_of_c_and_a_batch(activation):
    a, w = arrays((2, 16, 32), (32, 64))
    c = jnp.ones((2, 16, 64), jnp.bfloat16)

    def ours(a, w, c):
        return (twj.gemm(a, w, c=c, beta=0.5, activation=activation, invariant=True,
                         out_dtype="f32") ** 2).sum()

    def theirs(a, w, c):
        x = a.astype("f4") @ w.astype("f4") + 0.5 * c.astype("f4")
        return ((x if activation is None else x / (1 + jnp.exp(-x))) ** 2).sum()

    for x, y in zip(jax.grad(ours, (0, 1, 2))(a, w, c), jax.grad(theirs, (0, 1, 2))(a, w, c)):
        assert x.shape == y.shape and abs(f64(x) - f64(y)).max() <= 0.02 * abs(f64(y)).max()


def test_refusals_come_while_tracing():
    a, w = arrays((24, 64), (32, 64))
    with pytest.raises(tw.RefusedError, match="inner dimensions"):
        jax.jit(twj.gemm)(a, w)
    with pytest.raises(tw.RefusedError, match="out"):
        tw.gemm(a, w.T, out=a)
    with pytest.raises(tw.RefusedError, match="JAX"):
        tw.gemm(np.asarray(a), np.asarray(w).T, out=a)
    with pytest.raises(tw.RefusedError, match="gradient"):
        jax.grad(lambda x: twj.gemm(x, x.T, out_dtype="f32").sum())(
            a.astype(jnp.float8_e4m3fn))
    with pytest.raises(tw.RefusedError, match="library"):
        jax.jit(lambda x: tw.quantize(x, "e4m3:1x128", library="torch").data)(
            jnp.ones((24, 256)))
    with pytest.raises(tw.RefusedError, match="scaling"):
        jax.jit(lambda x: tw.quantize(x, "e4m3:4x4").data)(a)


def test_a_deleted_array():
    (a,) = arrays((24, 64))
    b, c = a + a, a + a
    b.delete()
    for call in (lambda: tw.gemm(b, a.T), lambda: tw.gemm(a, b), lambda: twj.gemm(a, c.T, bias=b)):
        with pytest.raises(tw.RefusedError) as caught:
            call()
        assert caught.value.code == "TW0408" and "deleted" in caught.value.got


def test_a_plan_of_abstract_arrays():
    p = tw.plan(jax.ShapeDtypeStruct((64, 128), jnp.bfloat16),
                jax.ShapeDtypeStruct((128, 256), jnp.bfloat16))
    assert p.us > 0


@pytest.mark.skipif("on_host or len(jax.local_devices()) < 2", reason="two GPUs")
def test_two_devices():
    for device in (jax.local_devices()[1], jax.local_devices()[0]):
        a, w = (jax.device_put(x, device) for x in arrays((24, 64), (32, 64)))
        for d in (tw.gemm(a, w.T), jax.jit(lambda a, w: twj.gemm(a, w, b_transposed=True))(a, w)):
            assert d.devices() == {device}
            assert abs(f64(d) - f64(a) @ f64(w).T).max() <= 0.01 * abs(f64(d)).max()


def test_two_calls_of_a_program():
    """Calls of one program that do not depend on each other, which XLA may run at once."""
    a, w = arrays((64, 255), (128, 255))  # 255: on a GPU the plan needs a workspace

    def program(a, w):
        return twj.gemm(a, w, b_transposed=True), twj.gemm(a + a, w, b_transposed=True)

    first, second = jax.jit(program)(a, w)
    assert (f64(second) == 2 * f64(first)).all()
    check(np.asarray(first), f64(a), f64(w).T, roundings=64)


def test_ragged_dot():
    """As jax.lax.ragged_dot, with its gradients; rows of no group are zeros."""
    rng = np.random.default_rng(9)
    x, w = (jnp.asarray(rng.standard_normal(s), jnp.bfloat16) for s in ((40, 64), (3, 64, 48)))
    sizes = jnp.asarray([9, 0, 26], jnp.int32)
    ours, theirs = twj.ragged_dot, jax.lax.ragged_dot
    for f in (ours, jax.jit(ours)):
        d = f(x, w, sizes)
        assert d.dtype == x.dtype and not np.asarray(d[35:]).any()
        np.testing.assert_allclose(*(np.asarray(v(x, w, sizes), "f4") for v in (f, theirs)),
                                   rtol=0.02, atol=0.05)

    def loss(f):
        return lambda x, w: (f(x, w, sizes).astype(jnp.float32) ** 2).sum()
    both = [jax.grad(loss(f), (0, 1))(x, w) for f in (ours, theirs)]
    for mine, right in zip(*both):
        right = np.asarray(right, "f4")
        assert abs(np.asarray(mine, "f4") - right).max() <= 0.02 * abs(right).max()


def test_ragged_dot_refuses():
    x, w = jnp.ones((8, 16), jnp.bfloat16), jnp.ones((2, 16, 8), jnp.bfloat16)
    with pytest.raises(tw.RefusedError):
        twj.ragged_dot(x, w, jnp.ones((3,), jnp.int32))
    if on_host:  # a GPU takes the nearest sizes
        with pytest.raises(Exception, match="TW0496"):
            twj.ragged_dot(x, w, jnp.asarray([4, 5], jnp.int32)).block_until_ready()


@pytest.mark.parametrize("devices", [1, 2, 3])
def test_gemms_over_the_devices_of_a_mesh(devices):
    """In a separate process, since the number of host devices is fixed when JAX starts."""
    import os
    import subprocess
    import sys
    if not on_host:
        pytest.skip("devices of the host")
    program = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import tilewright, tilewright.jax as twj
mesh = Mesh(np.array(jax.devices()), ("tp",))
count = len(jax.devices())
rng = np.random.default_rng(1)
ints = lambda *s: jnp.asarray(rng.integers(-2, 3, s), jnp.float32)
x, w, v = ints(8 * count, 12), ints(12, 16 * count), ints(16 * count, 24)
try:
    shard = jax.shard_map
except AttributeError:
    from jax.experimental.shard_map import shard_map as shard
import inspect
kept = {k: False for k in ("check_vma", "check_rep") if k in inspect.signature(shard).parameters}
given = (P("tp"), P(None, "tp"), P("tp"))
over_devices = lambda f, out: jax.jit(shard(f, mesh=mesh, in_specs=given, out_specs=out, **kept))
exact = lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
y = np.asarray(x) @ np.asarray(w)
gradients = []
for path in (None, "serial", "two-pieces", "pieces"):
    def layer(x, w, v):
        y, y2 = twj.all_gather_matmul(x, [w, w], "tp", path=path, alpha=2.0)
        return (y, twj.matmul_reduce_scatter(y, v, "tp", path=path, float32_partials=True),
                twj.matmul_all_reduce(y2, v, "tp", path=path))
    got = over_devices(layer, (P(None, "tp"), P("tp"), P()))(x, w, v)
    for one, want in zip(got, (2 * y, 2 * y @ v, 2 * y @ v)):
        exact(one, want)
    def loss(x, w, v):
        y = twj.all_gather_matmul(x, w, "tp", path=path)
        return jax.lax.psum(twj.matmul_reduce_scatter(y, v, "tp", path=path).sum(), "tp")
    gradients.append(over_devices(jax.grad(loss, argnums=(0, 1, 2)), given)(x, w, v))
for other in gradients[1:]:
    for one, want in zip(other, gradients[0]):
        exact(one, want)
# Order of the devices: 1e8 - 1e8 + 1 is 1, and 1 + 1e8 - 1e8 is 0 in float32.
if count == 3:
    terms = jnp.asarray([1e8, -1e8, 1.0], jnp.float32)
    part = lambda x, w, v: twj.matmul_all_reduce(
        jnp.ones((3, 4)), jnp.full((4, 8), terms[jax.lax.axis_index("tp")] / 4), "tp",
        path="pieces")
    exact(over_devices(part, P())(x, w, v), np.ones((3, 8)))
wrong = [lambda x, w, v: twj.all_gather_matmul(x, w, "tp", path="direct"),
         lambda x, w, v: twj.matmul_all_reduce(x, w, "tp", path="gated"),
         lambda x, w, v: twj.all_gather_matmul(x, w, "tp", path="pieces", c=w),
         lambda x, w, v: twj.matmul_all_reduce(x, w, "tp", bias=v[0])]
if count > 1:
    wrong.append(lambda x, w, v: twj.matmul_all_reduce(x[:count + 1], w, "tp", path="pieces"))
for call in wrong:
    try:
        over_devices(call, P())(x, w, v)
    except tilewright.RefusedError as e:
        assert "TW0904" in str(e)
    else:
        raise AssertionError("not refused")
print("right")
"""
    environment = dict(os.environ,
                       XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.stdout.strip().endswith("right"), done.stdout + done.stderr
