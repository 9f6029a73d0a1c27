# SPDX-License-Identifier: Apache-2.0
"""test_random.py  Random problems: shapes, strides, types and bad input. A failure prints the
example, which @hypothesis.example repeats."""
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tilewright as tw
from helpers import PAIRS, RESULTS, TYPES, check, dequantized, f64, matrix, values

EXTENT = st.integers(1, 80)
ORDER = st.sampled_from("CF")
GAP = st.sampled_from([0, 0, 1, 3, 8])
SEED = st.integers(0, 2**31)


def inside(order, m, n, dtype, gap):
    """An array of 7s, and the m x n part of it, one row and column from its border."""
    store = np.full((m + 2, n + gap + 2) if order == "C" else (n + 2, m + gap + 2), 7, TYPES[dtype])
    part = store[1:m + 1, 1:n + 1] if order == "C" else store[1:n + 1, 1:m + 1].T
    return store, part


def unchanged(store, part):
    """All of the store but the part is 7."""
    part[...] = 7
    return (f64(store) == 7).all()


@given(st.sampled_from(PAIRS), EXTENT, EXTENT, st.integers(1, 200), ORDER, ORDER, ORDER,
       st.integers(0, 3), GAP, SEED, st.data())
def test_shapes_and_strides(types, m, n, k, order_a, order_b, order_d, offset, gap, seed, data):
    rng = np.random.default_rng(seed)
    out_dtype = data.draw(st.sampled_from(RESULTS[types[0]]))
    a = matrix(rng, (m, k), types[0], order_a, offset, gap)
    b = matrix(rng, (k, n), types[1], order_b, offset, gap)
    store, d = inside(order_d, m, n, out_dtype, gap)
    tw.gemm(a, b, out=d)
    check(d, f64(a), f64(b))
    assert unchanged(store, d), "outside of out something was written"


@given(st.sampled_from(["e4m3:tensor", "e4m3:row", "int8:row", "mxfp8", "mxfp4", "nvfp4"]), EXTENT,
       EXTENT, st.integers(1, 6), SEED, st.booleans())
def test_quantised(form, m, n, blocks, seed, linear):
    rng = np.random.default_rng(seed)
    k = 32 * blocks
    if linear and form in ("mxfp8", "mxfp4", "nvfp4"):
        form += ":linear"
    x, w = values(rng, (m, k), "bfloat16"), values(rng, (n, k), "bfloat16")
    qx, qw = tw.quantize(x, form), tw.quantize(w, form)
    d = tw.gemm(qx, qw.T)
    check(d, dequantized(qx, m, k), dequantized(qw, n, k).T, roundings=64)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 500), SEED,
       st.sampled_from([("1x128", "128x128"), ("1x128", "1x128")]))
def test_block_scales(m, n, k, seed, scalings):
    rng = np.random.default_rng(seed)
    x, w = values(rng, (m, k), "bfloat16"), values(rng, (n, k), "bfloat16")
    qx = tw.quantize(x, "e4m3", scaling=scalings[0])
    qw = tw.quantize(w, "e4m3", scaling=scalings[1])
    try:
        d = tw.gemm(qx, qw.T)
    except tw.RefusedError as why:
        assert why.code in ("TW0410", "TW0505"), why
        return
    check(d, dequantized(qx, m, k), dequantized(qw, n, k).T, roundings=64)


# Anything that is given ends in a result or in a RefusedError that names an argument.
STRANGE = st.one_of(
    st.none(), st.integers(-3, 3), st.text(max_size=5), st.lists(st.floats(), max_size=3),
    st.builds(lambda shape, dtype: np.zeros(shape, dtype),
              st.lists(st.integers(0, 5), max_size=4).map(tuple),
              st.sampled_from(["f8", "f4", "f2", "i1", "u1", "i8", "c8", "?", "O", "U3", "M8[s]",
                               ">f4", *TYPES.values()])),
    st.builds(lambda step, dtype: np.zeros((9, 9), dtype)[::step, ::step],
              st.sampled_from([-2, -1, 1, 2]), st.sampled_from(["f4", "f2", "i1"])),
    st.builds(lambda dtype: np.broadcast_to(np.zeros((1, 4), dtype), (4, 4)),
              st.sampled_from(["f4", "f2"])))


@given(STRANGE, STRANGE, STRANGE, st.sampled_from(
    ["out", "c", "bias", "scale_a", "scale_b", "scale_out", "activation", "gate", "device",
     "scale_a_as", "out_dtype", "alpha", "beta", "promote"]), STRANGE)
def test_bad_input(a, b, x, name, other):
    for options in ({}, {name: x}, {name: other, "scale_a": x}):
        try:
            d = tw.gemm(a, b, **options)
        except tw.TilewrightError as why:
            assert isinstance(why, tw.RefusedError), why
            assert why.code.startswith("TW") and why.what and why.got and why.need, why
        else:
            assert isinstance(d, (np.ndarray, tw.Scaled))


@given(STRANGE, st.one_of(st.sampled_from(["e4m3", "int8", "nvfp4", "mxfp8:linear", "e4m3:2x2"]),
                          st.text(max_size=6)))
def test_bad_input_of_quantize(x, to):
    try:
        tw.quantize(x, to)
    except tw.RefusedError as why:
        assert why.code.startswith("TW") and why.what
