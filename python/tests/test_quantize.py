# SPDX-License-Identifier: Apache-2.0
"""test_quantize.py  Data and scales, against float64 and against the formats' definitions."""
import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES, dequantized, f64, values

STEP = {"e4m3": 2.0**-4, "e5m2": 2.0**-3, "int8": 0.5 / 127, "mxfp8": 2.0**-3, "mxfp4": 0.5,
        "nvfp4": 0.25}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("form", ["e4m3:tensor", "e4m3:row", "e4m3:1x128", "e4m3:128x128",
                                  "e5m2:row", "int8:row", "int8:tensor", "mxfp8", "mxfp4", "nvfp4",
                                  "mxfp8:linear", "mxfp4:linear", "nvfp4:linear"])
@pytest.mark.parametrize("shape", [(8, 64), (130, 256), (1, 512), (64, 96)], ids=str)
def test_elements_are_near(form, dtype, shape):
    x = values(np.random.default_rng(1), shape, dtype)
    q = tw.quantize(x, form)
    assert isinstance(q, tw.Scaled) and q.format == form.replace(":linear", "")
    error = abs(dequantized(q, *shape) - f64(x))
    assert error.max() <= STEP[form.partition(":")[0]] * abs(f64(x)).max() * 1.001


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_of_x(order):
    x = values(np.random.default_rng(2), (48, 128), "bfloat16")
    plain = tw.quantize(x, "e4m3:1x128")
    q = tw.quantize(np.asarray(x, order=order), "e4m3:1x128")
    assert (f64(q.data) == f64(plain.data)).all() and (q.scale == plain.scale).all()


@pytest.mark.parametrize("form", ["e4m3:row", "e4m3:1x128", "nvfp4", "mxfp8"])
def test_batches(form):
    x = values(np.random.default_rng(3), (3, 32, 256), "bfloat16")
    w = values(np.random.default_rng(4), (64, 256), "bfloat16")
    q = tw.quantize(x, form)
    qw = tw.quantize(w, "e4m3:128x128" if form == "e4m3:1x128" else form)
    d = tw.gemm(q, qw.T)
    right = f64(x) @ f64(w).T
    assert d.shape == (3, 32, 64)
    assert abs(f64(d) - right).mean() < 0.2 * abs(right).mean()


@pytest.mark.parametrize("scaling", ["row", "1x128"])
def test_powers_of_two(scaling):
    x = values(np.random.default_rng(5), (32, 256), "float32")
    q = tw.quantize(x, "e4m3", scaling=scaling, power_of_two=True)
    assert (np.frexp(f64(q.scale))[0] == 0.5).all()


def test_out_is_written():
    x = values(np.random.default_rng(6), (32, 256), "bfloat16")
    q = tw.quantize(x, "nvfp4")
    again = tw.Scaled(np.zeros_like(q.data), np.zeros_like(q.scale), np.zeros_like(q.level))
    assert tw.quantize(x, "nvfp4", out=again) is again
    assert (again.data == q.data).all() and (f64(again.scale) == f64(q.scale)).all()
    assert again.level == q.level and again.format == "nvfp4"


def test_types_of_the_parts():
    x = values(np.random.default_rng(7), (32, 64), "float32")
    q = tw.quantize(x, "nvfp4")
    assert q.data.dtype == np.uint8 and q.data.shape == (32, 32) and q.level.dtype == np.float32
    assert q.scale.dtype == ml_dtypes.float8_e4m3fn
    q = tw.quantize(x, "mxfp8")
    assert q.data.dtype == TYPES["float8_e4m3fn"] and q.scale.dtype == ml_dtypes.float8_e8m0fnu
    assert "mxfp8" in repr(q) and q.T.shape == (64, 32)


def test_to_is_a_type():
    x = values(np.random.default_rng(8), (32, 64), "float32")
    assert tw.quantize(x, ml_dtypes.float8_e4m3fn).format == "e4m3:row"
    assert tw.quantize(x, np.int8).format == "int8:row"


def test_zeros_and_no_elements():
    q = tw.quantize(np.zeros((4, 128), np.float32), "e4m3:1x128")
    assert not f64(q.data).any() and np.isfinite(f64(q.scale)).all()
    for shape in ((0, 128), (4, 0)):
        assert tw.quantize(np.zeros(shape, np.float32), "e4m3:row").data.shape == shape


def test_a_scaled_that_is_made_by_hand_is_not_checked():
    """Only quantize() and scale_out know along which dimension scales run."""
    q = tw.quantize(np.ones((256, 256), TYPES["bfloat16"]), "e4m3:row")
    assert (q.turned, q.T.turned, q.T.T.turned) == (False, True, False)
    by_hand = tw.Scaled(q.data, q.scale, None, q.format, q.order)
    assert by_hand.turned is None and by_hand.T.turned is None
    assert tw.gemm(q, by_hand).shape == (256, 256)
    whole = tw.quantize(np.ones((256, 256), TYPES["bfloat16"]), "e4m3:tensor")
    assert tw.gemm(whole, whole).shape == (256, 256)  # one scale for all
