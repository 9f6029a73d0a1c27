# SPDX-License-Identifier: Apache-2.0
"""test_gemm.py  Types, scalings, orders and batches against float64."""
import itertools

import numpy as np
import pytest

import tilewright as tw
from helpers import PAIRS, RESULTS, TYPES, check, dequantized, f64, matrix, values

ORDERS = list(itertools.product("CF", repeat=3))


@pytest.mark.parametrize("orders", ORDERS, ids="".join)
@pytest.mark.parametrize("types", PAIRS, ids="-".join)
def test_types_and_orders(types, orders):
    rng = np.random.default_rng(abs(hash((types, orders))) % 2**32)
    for out_dtype in RESULTS[types[0]]:
        a = matrix(rng, (33, 96), types[0], orders[0])
        b = matrix(rng, (96, 40), types[1], orders[1])
        d = matrix(rng, (33, 40), out_dtype, orders[2])
        if types[0] != "float32" and rng.integers(2):
            d = matrix(rng, (33, 40), out_dtype, orders[2], 1, 3)
        assert tw.gemm(a, b, out=d) is d
        check(d, f64(a), f64(b))


@pytest.mark.parametrize("types", PAIRS, ids="-".join)
def test_result_is_allocated(types):
    rng = np.random.default_rng(1)
    a, b = values(rng, (16, 64), types[0]), values(rng, (64, 32), types[1])
    d = tw.gemm(a, b)
    usual = {"int8": "int32", "uint8": "int32", "float8_e4m3fn": "bfloat16",
             "float8_e5m2": "bfloat16"}.get(types[0], types[0])
    assert type(d) is np.ndarray and d.dtype == TYPES[usual] and d.shape == (16, 32)
    check(d, f64(a), f64(b))


@pytest.mark.parametrize("batch", [(3, 3), (3, 1), (1, 3), (3, None), (None, 3), (1, 1), (5, 5)],
                         ids=str)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "int8"])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.sampled(3)
def test_batches(dtype, batch, orders):
    rng = np.random.default_rng(2)
    a = matrix(rng, ((batch[0],) if batch[0] else ()) + (24, 64), dtype, orders[0])
    b = matrix(rng, ((batch[1],) if batch[1] else ()) + (64, 48), dtype, orders[1])
    d = tw.gemm(a, b)
    assert d.shape == (max(batch[0] or 1, batch[1] or 1), 24, 48)
    check(d, f64(a), f64(b))


SCALINGS = [("e4m3:tensor", "e4m3:tensor"), ("e4m3:row", "e4m3:row"), ("int8:row", "int8:row"),
            ("int8:tensor", "int8:tensor"), ("e4m3:1x128", "e4m3:128x128"),
            ("e4m3:1x128", "e4m3:1x128"), ("e4m3:128x128", "e4m3:1x128"),
            ("e4m3:128x128", "e4m3:128x128"), ("mxfp8", "mxfp8"), ("mxfp4", "mxfp4"),
            ("nvfp4", "nvfp4"), ("mxfp8:linear", "mxfp8:linear"), ("nvfp4:linear", "nvfp4:linear"),
            ("mxfp4:linear", "mxfp4:linear")]


@pytest.mark.parametrize("shape", [(64, 64, 128), (96, 128, 384), (63, 100, 256), (130, 72, 512)],
                         ids=str)
@pytest.mark.parametrize("formats", SCALINGS, ids=" ".join)
def test_scalings(formats, shape):
    m, n, k = shape
    rng = np.random.default_rng(3)
    x, w = values(rng, (m, k), "float32") * 8, values(rng, (n, k), "float32") / 16
    qx, qw = tw.quantize(x, formats[0]), tw.quantize(w, formats[1])
    try:
        d = tw.gemm(qx, qw.T, out_dtype="float32")
    except tw.RefusedError as why:
        assert why.code == "TW0505", why  # the representative set has the kernel for bfloat16
        d = tw.gemm(qx, qw.T)
    check(d, dequantized(qx, m, k), dequantized(qw, n, k).T, roundings=64)


@pytest.mark.parametrize("library", ["torch", "deepgemm", "cublaslt", "flashinfer-mn",
                                     "flashinfer-k"])
def test_orders_of_libraries(library):
    rng = np.random.default_rng(4)
    x, w = values(rng, (96, 512), "float32"), values(rng, (256, 512), "float32")
    plain = tw.gemm(tw.quantize(x, "e4m3:1x128"), tw.quantize(w, "e4m3:128x128").T)
    qx = tw.quantize(x, "e4m3", scaling="1x128", library=library)
    qw = tw.quantize(w, "e4m3", scaling="128x128", library=library)
    assert (tw.gemm(qx, qw.T) == plain).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "int8"])
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_erf", "silu"])
@pytest.mark.parametrize("bias", [None, "columns", "rows"])
@pytest.mark.sampled(2)
def test_epilogues(dtype, activation, bias):
    from math import erf
    rng = np.random.default_rng(5)
    a = matrix(rng, (24, 64), dtype, "C")
    b = matrix(rng, (32, 64), dtype, "C").T
    wide = "float16" if dtype == "float16" else "bfloat16"
    scale = 1 / 4096 if dtype == "int8" else 0.125
    vector = None
    if bias is not None:
        vector = values(rng, (32,) if bias == "columns" else (24, 1), wide)
    x = scale * (f64(a) @ f64(b)) + (0 if vector is None else f64(vector))
    right = {None: x, "relu": np.maximum(x, 0), "silu": x / (1 + np.exp(-x)),
             "gelu": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
             "gelu_erf": 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))}[activation]
    d = tw.gemm(a, b, alpha=scale, bias=vector, activation=activation, out_dtype=wide)
    assert abs(f64(d) - right).max() <= 0.01 * max(1, abs(right).max())


@pytest.mark.parametrize("beta", [None, 1.0, 0.5, 0.0])
def test_c_is_added(beta):
    rng = np.random.default_rng(6)
    a, b = values(rng, (24, 64), "bfloat16"), values(rng, (64, 32), "bfloat16")
    c = values(rng, (24, 32), "bfloat16")
    d = tw.gemm(a, b, c=c, beta=beta)
    check(d, f64(a), f64(b), plus=(1.0 if beta is None else beta) * f64(c))


def test_c_may_be_out():
    rng = np.random.default_rng(7)
    a, b = values(rng, (24, 64), "bfloat16"), values(rng, (64, 32), "bfloat16")
    c = values(rng, (24, 32), "bfloat16")
    before = c.copy()
    tw.gemm(a, b, c=c, out=c)
    check(c, f64(a), f64(b), plus=f64(before))


@pytest.mark.parametrize("gate", ["split", "interleaved"])
def test_gates(gate):
    rng = np.random.default_rng(8)
    a = values(rng, (24, 64), "bfloat16")
    b = matrix(rng, (64, 64), "bfloat16", "F")
    d = tw.gemm(a, b, activation="silu", gate=gate)
    x = f64(a) @ f64(b)
    g, u = (x[:, :32], x[:, 32:]) if gate == "split" else (x[:, 0::2], x[:, 1::2])
    right = g / (1 + np.exp(-g)) * u
    assert d.shape == (24, 32)
    assert abs(f64(d) - right).max() <= 0.01 * abs(right).max()


@pytest.mark.parametrize("word", ["row", "1x128"])
def test_scales_of_the_result(word):
    rng = np.random.default_rng(9)
    a = values(rng, (48, 128), "bfloat16")
    w = values(rng, (256, 128), "bfloat16")
    q = tw.gemm(a, w.T, scale_out=word)
    assert isinstance(q, tw.Scaled) and q.format == f"e4m3:{word}"
    right = f64(a) @ f64(w).T
    assert abs(dequantized(q, 48, 256) - right).max() <= 2**-4 * abs(right).max()


@pytest.mark.parametrize("form", ["mxfp8", "mxfp4", "nvfp4"])
def test_formats_of_the_result_close_the_chain(form):
    rng = np.random.default_rng(10)
    x, w = values(rng, (128, 256), "bfloat16"), values(rng, (256, 256), "bfloat16")
    v = values(rng, (128, 256), "bfloat16")
    try:
        q = tw.gemm(tw.quantize(x, form), tw.quantize(w, form).T, scale_out=form)
    except tw.RefusedError as why:
        assert why.code == "TW0505", why  # the kernel is not in the representative set
        pytest.skip("a kernel of the full set")
    assert isinstance(q, tw.Scaled) and q.format == form
    d = tw.gemm(q, tw.quantize(v, form).T, out_dtype="float32")
    right = (f64(x) @ f64(w).T) @ f64(v).T
    relative = np.sqrt(((f64(d) - right) ** 2).mean() / (right**2).mean())
    assert relative < (0.1 if form == "mxfp8" else 0.4)


def test_one_scale_divides_the_result():
    rng = np.random.default_rng(11)
    a = values(rng, (16, 64), "float8_e4m3fn")
    w = values(rng, (32, 64), "float8_e4m3fn")
    q = tw.gemm(a, w.T, scale_out=np.full((), 4, np.float32))
    right = f64(a) @ f64(w).T
    assert q.format == "e4m3:tensor" and abs(f64(q.data) * 4 - right).max() <= 2**-4 * abs(
        right).max() + 0.01


@pytest.mark.parametrize("m", [1, 2, 17, 64, 100])
def test_rows_do_not_depend_on_m(m):
    rng = np.random.default_rng(12)
    a, w = values(rng, (100, 256), "bfloat16"), values(rng, (128, 256), "bfloat16")
    assert (tw.gemm(a[:m], w.T, invariant=True) == tw.gemm(a, w.T, invariant=True)[:m]).all()


@pytest.mark.parametrize("promote", [128, 64, 0])
def test_promotion(promote):
    rng = np.random.default_rng(13)
    a, w = values(rng, (16, 512), "float8_e4m3fn"), values(rng, (32, 512), "float8_e4m3fn")
    check(tw.gemm(a, w.T, promote=promote), f64(a), f64(w).T)


@pytest.mark.parametrize("device", ["h200", "h100_sxm", "a100", "b200"])
def test_devices_of_the_emulator(device):
    rng = np.random.default_rng(14)
    a, w = values(rng, (64, 128), "bfloat16"), values(rng, (64, 128), "bfloat16")
    check(tw.gemm(a, w.T, device=device), f64(a), f64(w).T)


@pytest.mark.parametrize("out_dtype", ["float32", "f32", np.float32, np.dtype("float32"), "fp32"])
def test_names_of_types(out_dtype):
    a = np.ones((4, 8), TYPES["bfloat16"])
    assert tw.gemm(a, a.T, out_dtype=out_dtype).dtype == np.float32


def test_weights_are_a_view():
    """w.T is read where it lies: changes of w show in the next result."""
    rng = np.random.default_rng(15)
    a, w = values(rng, (8, 64), "bfloat16"), values(rng, (16, 64), "bfloat16")
    first = tw.gemm(a, w.T)
    w *= 2
    assert (f64(tw.gemm(a, w.T)) == 2 * f64(first)).all()


def test_a_read_only_operand_is_fine():
    a = np.ones((4, 8), TYPES["bfloat16"])
    a.flags.writeable = False
    assert (f64(tw.gemm(a, a.T)) == 8).all()


def test_subclasses_of_ndarray():
    class Mine(np.ndarray):
        pass
    a = np.ones((4, 8), np.float16).view(Mine)
    assert (tw.gemm(a, a.T) == 8).all()


def test_buffers_without_numpy():
    """Any object with a buffer or DLPack is read; a result of it needs out."""
    import array
    a = memoryview(array.array("f", [1.0] * 32)).cast("B").cast("f", (4, 8))
    out = np.zeros((4, 4), np.float32)
    with pytest.raises(tw.RefusedError):
        tw.gemm(a, a)

    class Dlpack:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **kwargs):
            return self.x.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    x = np.ones((4, 8), np.float32)
    tw.gemm(Dlpack(x), Dlpack(np.ones((8, 4), np.float32)), out=out)
    assert (out == 8).all()
    with pytest.raises(tw.RefusedError, match="out"):
        tw.gemm(Dlpack(x), Dlpack(np.ones((8, 4), np.float32)))
