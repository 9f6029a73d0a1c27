# SPDX-License-Identifier: Apache-2.0
"""test_grouped.py  grouped_gemm(): axes, forms, vectors and scales against float64, refusals."""
import numpy as np
import pytest

import tilewright as tw
from helpers import E2M1, TYPES, check, dequantized, f64, values

BF16 = TYPES["bfloat16"]
SIZES = [5, 0, 33, 1, 24]  # of 70 rows: 7 belong to no group
ENDS = np.cumsum(SIZES)
STARTS = np.concatenate([[0], ENDS])


def numbers(form, dtype=np.int32):
    return {form: {"ends": ENDS, "starts": STARTS, "sizes": np.array(SIZES)}[form].astype(dtype)}


def pieces():
    return [slice(a, b) for a, b in zip(STARTS[:-1], STARTS[1:])]


@pytest.mark.parametrize("form", ["ends", "starts", "sizes"])
@pytest.mark.parametrize("result", ["bfloat16", "float32"])
def test_rows(form, result):
    rng = np.random.default_rng(1)
    a, w = values(rng, (70, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    out = np.full((70, 48), 7, TYPES[result])
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), out=out, **numbers(form))
    assert d is out and (f64(d[ENDS[-1]:]) == 7).all()
    for g, rows in enumerate(pieces()):
        check(d[rows], f64(a[rows]), f64(w[g]).T)


def test_int64_and_an_expected_size():
    rng = np.random.default_rng(2)
    a, w = values(rng, (70, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), expected_size=14, **numbers("ends", np.int64))
    assert d.shape == (70, 48)
    for g, rows in enumerate(pieces()):
        check(d[rows], f64(a[rows]), f64(w[g]).T)


def test_columns():
    rng = np.random.default_rng(3)
    a, x = values(rng, (5, 48, 64), "bfloat16"), values(rng, (70, 64), "bfloat16")
    out = np.zeros((70, 48), BF16).T  # D of columns is column-major
    d = tw.grouped_gemm(a, x.T, out=out, **numbers("ends"))
    for g, cols in enumerate(pieces()):
        check(d[:, cols], f64(a[g]), f64(x[cols]).T)


def test_k():
    """Weight gradients: dW[g] = dY[rows of g]^T X[rows of g]; an empty group gives zeros."""
    rng = np.random.default_rng(4)
    dy, x = values(rng, (70, 48), "bfloat16"), values(rng, (70, 64), "bfloat16")
    d = tw.grouped_gemm(dy.T, x, out_dtype="float32", **numbers("sizes"))
    assert d.shape == (5, 48, 64) and not d[1].any()
    for g, rows in enumerate(pieces()):
        check(d[g], f64(dy[rows]).T, f64(x[rows]))


def test_slots():
    rng = np.random.default_rng(5)
    a, w = values(rng, (4, 20, 64), "bfloat16"), values(rng, (4, 48, 64), "bfloat16")
    used = np.array([20, 0, 7, 1], np.int32)
    out = np.full((4, 20, 48), 7, BF16)
    tw.grouped_gemm(a, w.swapaxes(1, 2), counts=used, out=out)
    for g, n in enumerate(used):
        check(out[g, :n], f64(a[g, :n]), f64(w[g]).T)
        assert (f64(out[g, n:]) == 7).all()


def test_c_alpha_and_beta():
    rng = np.random.default_rng(6)
    a, w = values(rng, (70, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    c = values(rng, (70, 48), "bfloat16")
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), c=c, alpha=0.5, beta=2.0, **numbers("ends"))
    for g, rows in enumerate(pieces()):
        check(d[rows], f64(a[rows]), f64(w[g]).T, 0.5, 2 * f64(c[rows]))


def test_bias_of_each_group_and_activation():
    rng = np.random.default_rng(7)
    a, w = values(rng, (70, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    bias = values(rng, (5, 48), "bfloat16")
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), bias=bias, activation="relu", **numbers("ends"))
    for g, rows in enumerate(pieces()):
        right = np.maximum(f64(a[rows]) @ f64(w[g]).T + f64(bias[g]), 0)
        assert (abs(f64(d[rows]) - right) <= 0.01 * abs(right) + 0.02).all()


@pytest.mark.parametrize("to", ["e4m3:row", "e4m3:1x128"])
def test_scales(to):
    rng = np.random.default_rng(8)
    x, w = values(rng, (70, 256), "bfloat16"), values(rng, (5, 128, 256), "bfloat16")
    qa = tw.quantize(x, to)
    qw = tw.quantize(w, "e4m3:row" if to == "e4m3:row" else "e4m3:128x128", library="deepgemm")
    d = tw.grouped_gemm(qa, qw.T, **numbers("ends"))
    left = dequantized(qa, 70, 256)
    for g, rows in enumerate(pieces()):
        one = tw.Scaled(qw.data[g], qw.scale[g], None, qw.format, qw.order)
        check(d[rows], left[rows], dequantized(one, 128, 256).T)


SOURCE = np.arange(70) * 29 % 70  # a permutation


def test_scattered_rows_take_the_c_of_their_place():
    to = np.array([3, 0, 7, 1, 6, 2, 5, 4], np.int32)
    c = np.arange(8 * 24, dtype=np.float32).reshape(8, 24)
    got = tw.grouped_gemm(A, B, ends=TWO, scatter=to, c=c, out_dtype="float32")
    want = c.copy()
    want[to] += np.asarray(tw.grouped_gemm(A, B, ends=TWO, out_dtype="float32"))
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_gathered_weighted_and_scattered_rows():
    """Pairs (token, choice): row i is token SOURCE[i] // 2, and row SOURCE[i] of the result."""
    rng = np.random.default_rng(9)
    a, w = values(rng, (35, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    weight = rng.random(70, np.float32)
    alphas = np.array([1, 2, 0.5, 0, -1], np.float32)
    bias = values(rng, (5, 48), "bfloat16")
    out = np.full((80, 48), 7, BF16)  # more rows than pairs
    index = SOURCE.astype(np.int32)
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), gather=index, choices=2, scatter=index, bias=bias,
                        row_weight=np.concatenate([weight, np.ones(10, np.float32)]),
                        group_alpha=alphas, alpha=0.5, out=out, **numbers("ends"))
    left = np.ones(80, bool)
    for g, rows in enumerate(pieces()):
        to = SOURCE[rows]
        left[to] = False
        x = 0.5 * alphas[g] * (f64(a[to // 2]) @ f64(w[g]).T) + f64(bias[g])
        right = x * f64(weight[to])[:, None]
        assert (abs(f64(d[to]) - right) <= abs(right) / 200 + 1e-3).all()
    assert (f64(d[left]) == 7).all()


def test_gathered_columns():
    rng = np.random.default_rng(10)
    a, x = values(rng, (5, 48, 64), "bfloat16"), values(rng, (30, 64), "bfloat16")
    index = rng.integers(0, 30, 70).astype(np.int32)
    out = np.zeros((70, 48), BF16).T
    d = tw.grouped_gemm(a, x.T, out=out, gather=index, **numbers("ends"))
    for g, cols in enumerate(pieces()):
        check(d[:, cols], f64(a[g]), f64(x[index[cols]]).T)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_group_of_each_row(dtype):
    """DeepGEMM's contiguous layout: groups begin at multiples of 128."""
    rng = np.random.default_rng(11)
    a, w = values(rng, (384, 64), "bfloat16"), values(rng, (3, 48, 64), "bfloat16")
    rows = np.full(384, -1, dtype)
    rows[:100], rows[128:300] = 2, 0
    out = np.full((384, 48), 7, BF16)
    d = tw.grouped_gemm(a, w.swapaxes(1, 2), rows=rows, out=out)
    for g, part in ((2, slice(0, 100)), (0, slice(128, 300))):
        check(d[part], f64(a[part]), f64(w[g]).T)
    assert (f64(d[rows < 0]) == 7).all()


def test_plans():
    rng = np.random.default_rng(12)
    a, w = values(rng, (70, 64), "bfloat16"), values(rng, (5, 48, 64), "bfloat16")
    b, ends = w.swapaxes(1, 2), numbers("ends")["ends"]
    right = tw.grouped_gemm(a, b, ends=ends, gather=SOURCE.astype(np.int32), expected_size=14)
    p = tw.plan(a, b, ends=tw.spec((5,), "int32"), gather=tw.spec((70,), "int32"),
                expected_size=14)
    assert p.us > 0 and "groups" in p.kernel
    for _ in range(2):
        d = p(a, b, ends, gather=SOURCE.astype(np.int32))
        assert (f64(d)[:63] == f64(right)[:63]).all()
    for call in (lambda: p(a, b), lambda: tw.plan(a[:5], b[0])(a[:5], b[0], ends),
                 lambda: tw.plan(a, b[0], gather=ends)):
        with pytest.raises(tw.RefusedError) as caught:
            call()
        assert caught.value.code == "TW0484"


@pytest.mark.parametrize("to", ["int4", "mxfp4"])
def test_four_bit_weights(to):
    """The experts of a checkpoint, a matrix of weights for each."""
    rng = np.random.default_rng(13)
    a = values(rng, (70, 128), "bfloat16")
    if to == "int4":
        q = rng.integers(-8, 8, (5, 64, 128))
        scale = (rng.random((5, 64, 2)) + 0.5).astype(BF16)
        w = f64((q * np.repeat(f64(scale), 64, -1)).astype(BF16))
        q = (q & 15).astype(np.uint8)
        prepared = tw.prepare((q[..., ::2] | q[..., 1::2] << 4).view(np.int8), scale)
    else:
        q = rng.integers(0, 16, (5, 64, 4, 32)).astype(np.uint8)
        scale = rng.integers(120, 128, (5, 64, 4)).astype(np.uint8)
        w = (E2M1[q] * 2.0 ** (scale[..., None].astype(int) - 127)).reshape(5, 64, 128)
        prepared = tw.prepare(q[..., ::2] | q[..., 1::2] << 4, scale)  # gpt-oss's blocks
    assert prepared.shape == (5, 128, 64)
    d = tw.grouped_gemm(a, prepared, **numbers("ends"))
    for g, rows in enumerate(pieces()):
        check(d[rows], f64(a[rows]), w[g].T)


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_a_status_stays_0(dtype):
    status = np.zeros(1, dtype)
    d = tw.grouped_gemm(A, B, ends=TWO, status=status)
    assert status[0] == 0 and (f64(d) == 16).all()
    with pytest.raises(tw.RefusedError) as caught:
        tw.grouped_gemm(A, B, ends=TWO, status=np.zeros(1, "int64"))
    assert (caught.value.code, caught.value.what) == ("TW0483", "type of status")


def test_no_groups():
    a, w = np.ones((4, 8), BF16), np.ones((0, 16, 8), BF16)
    out = np.full((4, 16), 7, BF16)
    tw.grouped_gemm(a, w.swapaxes(1, 2), ends=np.zeros(0, np.int32), out=out)
    assert (f64(out) == 7).all()


def planned(**tensors):
    """A plan of groups on GPU 0, whose other tensors have these devices and shapes."""
    def on(shape, dtype, device=0):
        return tw.Spec(shape, dtype, None, (2, device))

    given = {"ends": on((5,), "int32")} | {
        name: tw.spec(shape, dtype) if device is None else on(shape, dtype, device)
        for name, (shape, dtype, device) in tensors.items()}
    return tw.plan(on((70, 64), "bfloat16"), on((5, 48, 64), "bfloat16").T, device="h200", **given)


A, B = np.ones((8, 16), BF16), np.ones((2, 24, 16), BF16).swapaxes(1, 2)
TWO = np.array([3, 8], np.int32)
TABLE = {
    "no sizes": (lambda: tw.grouped_gemm(A, B), "TW0484", "sizes of the groups"),
    "two forms": (lambda: tw.grouped_gemm(A, B, ends=TWO, sizes=TWO), "TW0484", "sizes"),
    "a list": (lambda: tw.grouped_gemm(A, B, ends=[3, 8]), "TW0483", "ends"),
    "floats": (lambda: tw.grouped_gemm(A, B, ends=TWO.astype("f4")), "TW0483", "type of ends"),
    "int16": (lambda: tw.grouped_gemm(A, B, ends=TWO.astype(np.int16)), "TW0483", "type of ends"),
    "two dimensions": (lambda: tw.grouped_gemm(A, B, ends=TWO[None]), "TW0616", "shape of ends"),
    "strides": (lambda: tw.grouped_gemm(A, B, ends=np.array([3, 0, 8, 0], np.int32)[::2]), "TW0482",
                "ends"),
    "another number of groups": (lambda: tw.grouped_gemm(A, B, ends=TWO[:1]), "TW0616",
                                 "matrices in b"),
    "descending": (lambda: tw.grouped_gemm(A, B, ends=TWO[::-1].copy()), "TW0496",
                   "number of group 1"),
    "past the end": (lambda: tw.grouped_gemm(A, B, ends=TWO + 1), "TW0496", "number of group 1"),
    "negative": (lambda: tw.grouped_gemm(A, B, sizes=TWO - 4), "TW0496", "number of group 0"),
    "a later start": (lambda: tw.grouped_gemm(A, B, starts=np.array([-1, 3, 8], np.int32)),
                      "TW0496", "number of group 0"),
    "counts of rows": (lambda: tw.grouped_gemm(A, B, counts=TWO), "TW0486", "form of the sizes"),
    "ends of slots": (lambda: tw.grouped_gemm(np.ones((2, 8, 16), BF16), B, ends=TWO), "TW0486",
                      "form of the sizes"),
    "another axis": (lambda: tw.grouped_gemm(A, B, ends=TWO, axis="k"), "TW0486", "axis"),
    "a batch of results": (lambda: tw.grouped_gemm(A, B, ends=TWO, out=np.ones((2, 8, 24), BF16)),
                           "TW0616", "matrices in"),
    "bias of one group": (lambda: tw.grouped_gemm(A, B, ends=TWO, bias=np.ones(24, BF16)), "TW0616",
                          "bias"),
    "inner sizes": (lambda: tw.grouped_gemm(A[:, :8], B, ends=TWO), "TW0616", "a b"),
    "too many groups": (lambda: tw.grouped_gemm(A, np.ones((1025, 16, 16), BF16),
                                                ends=np.full(1025, 8, np.int32)), "TW0492",
                        "number of groups"),
    "rows past the end": (lambda: tw.grouped_gemm(A, B, ends=TWO, gather=np.full(
        8, 8, np.int32)), "TW0496", "number 0 of gather"),
    "a row twice": (lambda: tw.grouped_gemm(A, B, ends=TWO, scatter=np.zeros(8, np.int32)),
                    "TW0496", "number 1 of scatter"),
    "int64 numbers of rows": (lambda: tw.grouped_gemm(A, B, ends=TWO, gather=np.zeros(
        8, np.int64)), "TW0483", "gather"),
    "choices alone": (lambda: tw.grouped_gemm(A, B, ends=TWO, choices=2), "TW0484", "gather"),
    "gathered k": (lambda: tw.grouped_gemm(A, A.T, ends=TWO, gather=np.zeros(16, np.int32)),
                   "TW04", ""),
    "weights of rows of another number": (lambda: tw.grouped_gemm(
        A, B, ends=TWO, row_weight=np.ones(9, np.float32)), "TW0616", "row_weight"),
    "alphas of another number": (lambda: tw.grouped_gemm(
        A, B, ends=TWO, group_alpha=np.ones(3, np.float32)), "TW0616", "group_alpha"),
    "rows of another number": (lambda: tw.grouped_gemm(A, B, rows=TWO), "TW0616", "shape of rows"),
    "sizes in host memory, a GPU": (lambda: planned(ends=((5,), "int32", None)), "TW0485",
                                    "device of groups"),
    "sizes on another GPU": (lambda: planned(ends=((5,), "int64", 1)), "TW0485",
                             "device of groups"),
    "numbers of rows in host memory, a GPU": (lambda: planned(gather=((70,), "int32", None)),
                                              "TW0485", "device of gather"),
    "places of rows in host memory, a GPU": (lambda: planned(scatter=((70,), "int32", None)),
                                             "TW0485", "device of scatter"),
    "an odd leading dimension": (lambda: tw.grouped_gemm(
        np.ones((20, 17), BF16), np.ones((2, 8, 17), BF16).swapaxes(1, 2), ends=TWO), "TW0495",
                                 "a of a GEMM of groups"),
    "integers": (lambda: tw.grouped_gemm(np.ones((8, 16), np.int8), np.ones((2, 16, 16), np.int8),
                                         ends=TWO), "TW0494", "groups"),
}


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_refusals(row):
    call, code, argument = TABLE[row]
    with pytest.raises(tw.RefusedError) as caught:
        call()
    assert caught.value.code.startswith(code) and argument in caught.value.what, caught.value
