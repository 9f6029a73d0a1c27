# SPDX-License-Identifier: Apache-2.0
"""test_cupy.py  Arrays of CuPy, on a GPU. Skipped without CuPy or a GPU."""
import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES, f64, values

cupy = pytest.importorskip("cupy")
try:
    if cupy.cuda.runtime.getDeviceCount() == 0:
        pytest.skip("no GPU", allow_module_level=True)
except cupy.cuda.runtime.CUDARuntimeError as why:
    pytest.skip(str(why), allow_module_level=True)


def arrays(*shapes, dtype="float16", seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for shape in shapes:
        x = values(rng, shape, dtype)
        if dtype in ("bfloat16", "float8_e4m3fn"):  # CuPy has their bytes with a type of ml_dtypes
            bits = np.uint16 if dtype == "bfloat16" else np.uint8
            found.append(cupy.asarray(x.view(bits)).view(TYPES[dtype]))
        else:
            found.append(cupy.asarray(x))
    return found


def on_host(x):
    """The float64 values of an array of CuPy, whose type NumPy may know by ml_dtypes alone."""
    dtype = x.dtype
    if dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return cupy.asnumpy(x.view(f"uint{8 * dtype.itemsize}")).view(dtype).astype(np.float64)
    return f64(cupy.asnumpy(x))


def near(d, right, relative=0.01):
    assert abs(on_host(d) - right).max() <= relative * max(1.0, abs(right).max())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8"])
def test_types(dtype):
    a, w = arrays((48, 64), (32, 64), dtype=dtype)
    d = tw.gemm(a, w.T)
    assert isinstance(d, cupy.ndarray)
    near(d, on_host(a) @ on_host(w).T)
    out = cupy.empty_like(d)
    assert tw.gemm(a, w.T, out=out) is out
    assert (on_host(out) == on_host(d)).all()


@pytest.mark.parametrize("k", [512, 511])
def test_streams(k):
    """511: the plan needs a workspace, of which each stream has its own."""
    a, w = arrays((64, k), (128, k))
    right = on_host(a) @ on_host(w).T
    for _ in range(2):
        with cupy.cuda.Stream(non_blocking=True) as stream:
            d = tw.gemm(a, w.T)
        stream.synchronize()
        near(d, right)
    stream = cupy.cuda.Stream(non_blocking=True)
    d = tw.gemm(a, w.T, stream=stream)
    stream.synchronize()
    near(d, right)


@pytest.mark.skipif("cupy.cuda.runtime.getDeviceCount() < 2", reason="one GPU")
@pytest.mark.parametrize("k", [512, 511])
def test_two_devices(k):
    """Arrays of a GPU that is not the current one; the result is there."""
    for i in (1, 0, 1):
        with cupy.cuda.Device(i):
            a, w = arrays((64, k), (128, k))
            right = on_host(a) @ on_host(w).T
        d = tw.gemm(a, w.T)
        q = tw.quantize(a, "int8:row")
        assert d.device.id == q.data.device.id == i and cupy.cuda.Device().id == 0
        with cupy.cuda.Device(i):
            near(d, right)


def test_graph_of_three_calls():
    """Replays have the bits of eager calls."""
    a, *layers = arrays((64, 128), (128, 128), (128, 128), (64, 128))

    def three(h):
        for w in layers:
            h = tw.gemm(h, w.T, activation="silu", alpha=0.125)
        return h

    expected = three(a)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        three(a)
        stream.synchronize()
        stream.begin_capture()
        d = three(a)
        graph = stream.end_capture()
        for _ in range(3):
            d.fill(0)
            graph.launch(stream)
            stream.synchronize()
            assert (d == expected).all()


def test_workspace():
    a, w = arrays((64, 511), (128, 511))
    room = cupy.zeros(tw.plan(a, w.T).workspace_bytes, "uint8")
    near(tw.gemm(a, w.T, workspace=room), on_host(a) @ on_host(w).T)


@pytest.mark.parametrize("forms", [("int8:row", "int8:row"), ("e4m3:1x128", "e4m3:128x128")],
                         ids=" ".join)
def test_quantised(forms):
    x, w = arrays((64, 256), (128, 256))
    d = tw.gemm(tw.quantize(x, forms[0]), tw.quantize(w, forms[1]).T)
    near(d, on_host(x) @ on_host(w).T, 0.1)


def test_a_plan():
    a, w = arrays((48, 64), (32, 64))
    near(tw.plan(a, w.T)(a, w.T), on_host(a) @ on_host(w).T)


def test_refusals():
    a, w = arrays((48, 64), (32, 64))
    with pytest.raises(tw.RefusedError, match="device of b"):
        tw.gemm(a, cupy.asnumpy(w).T)
    with pytest.raises(tw.RefusedError, match="device"):
        tw.gemm(a, w.T, device="h200")
    with pytest.raises(tw.RefusedError, match="inner"):
        tw.gemm(a, w)
