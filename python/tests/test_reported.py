# SPDX-License-Identifier: Apache-2.0
"""test_reported.py  Calls that users reported as failing in other libraries: they work here, within
the error bound of the quantised operands."""
import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES, check, dequantized, f64, values

E4M3 = TYPES["float8_e4m3fn"]


def quantised(form_a, form_b, m, n, k, seed=0):
    rng = np.random.default_rng(seed)
    x, w = values(rng, (m, k), "bfloat16"), values(rng, (n, k), "bfloat16")
    return tw.quantize(x, form_a), tw.quantize(w, form_b)


def within_the_bound(qx, qw, m, n, k, **options):
    d = tw.gemm(qx, qw.T, **options)
    assert d.shape == (m, n)
    check(d, dequantized(qx, m, k), dequantized(qw, n, k).T, roundings=64)


@pytest.mark.parametrize("shape", [(256, 256, 256), (128, 384, 512), (200, 136, 320)], ids=str)
def test_scales_of_128x128_on_both_sides(shape):
    """pytorch#182909: scaled_mm of BlockWise128x128 by BlockWise128x128 is an invalid
    configuration."""
    within_the_bound(*quantised("e4m3:128x128", "e4m3:128x128", *shape), *shape)


STRIDES_OF_NOTHING = [((1, 0), (0, 1)), ((0, 1), (1, 0)), ((1, 1), (1, 1)), ((0, 0), (0, 0)),
                      ((16, 1), (1, 16)), ((1, 16), (32, 1))]


@pytest.mark.parametrize("strides", STRIDES_OF_NOTHING, ids=str)
@pytest.mark.parametrize("scaling", ["tensor", "row"])
def test_k_of_zero(strides, scaling):
    """pytorch#192497: with K = 0 no strides pass the validation of scaled_mm. Here all do, and the
    result is zeros, or bias and C."""
    a, b = (np.lib.stride_tricks.as_strided(np.ones(1, E4M3), shape, s)
            for shape, s in zip(((16, 0), (0, 32)), strides))
    sa, sb = ((np.ones((), "f4"), np.ones((), "f4")) if scaling == "tensor" else
              (np.ones((16, 1), "f4"), np.ones((32, 1), "f4")))
    d = tw.gemm(a, b, scale_a=sa, scale_b=sb)
    assert d.shape == (16, 32) and not f64(d).any()
    bias = values(np.random.default_rng(1), (32,), "bfloat16")
    assert (f64(tw.gemm(a, b, scale_a=sa, scale_b=sb, bias=bias)) == f64(bias)).all()


@pytest.mark.parametrize("form", ["nvfp4", "mxfp4"])
@pytest.mark.parametrize("order", ["32x4x4", "linear"])
@pytest.mark.parametrize("shape", [(1, 8, 64), (63, 80, 96), (130, 200, 160), (129, 64, 192)],
                         ids=str)
def test_float4_of_no_whole_tiles(form, order, shape):
    """pytorch#172627: NVFP4 and MXFP4 with M, N or K between multiples of 128: "should have 512
    elements, got 1024"."""
    forms = f"{form}:{order}"
    within_the_bound(*quantised(forms, forms, *shape), *shape)


@pytest.mark.parametrize("forms", [("e4m3:tensor", "e4m3:tensor"), ("e4m3:row", "e4m3:row"),
                                   ("e4m3:1x128", "e4m3:128x128"), ("int8:row", "int8:row")],
                         ids=" ".join)
@pytest.mark.parametrize("shape", [(63, 64, 128), (63, 65, 130), (1, 33, 100), (1023, 24, 16)],
                         ids=str)
def test_any_m(forms, shape):
    """CUDALibrarySamples#172: a matrix multiplication of float8 with M = 63 is not supported
    (status 15)."""
    within_the_bound(*quantised(*forms, *shape), *shape)
