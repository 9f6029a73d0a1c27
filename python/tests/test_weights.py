# SPDX-License-Identifier: Apache-2.0
"""test_weights.py  prepare(): each layout of a checkpoint decoded in NumPy against gemm()."""
import numpy as np
import pytest

import tilewright as tw
from helpers import E2M1, TYPES, check, dequantized, f64, values

BF16, F16 = TYPES["bfloat16"], np.float16
N, K, G = 64, 256, 64


def packed(q, axis, order=range(8)):
    """Eight elements of 4 bits in an int32 along an axis, the element order[i] at bit 4 i."""
    q = np.moveaxis(q.astype(np.uint32), axis, -1)
    q = q.reshape(*q.shape[:-1], -1, 8)
    word = sum(q[..., j] << np.uint32(4 * i) for i, j in enumerate(order))
    return np.ascontiguousarray(np.moveaxis(word, -1, axis)).view(np.int32)


def parts(seed=0, zeros=True, scale=BF16):
    """q (N, K), scales (N, K / G), zero points, and the weights rounded once."""
    rng = np.random.default_rng(seed)
    q = rng.integers(0, 16, (N, K))
    s = (rng.random((N, K // G)) + 0.5).astype(scale)
    z = rng.integers(0, 16, (N, K // G)) if zeros else np.full((N, K // G), 8)
    wide = np.repeat(z, G, 1), np.repeat(f64(s), G, 1)
    return q, s, z, f64(((q - wide[0]) * wide[1]).astype(scale))


AWQ = [0, 2, 4, 6, 1, 3, 5, 7]


def gptq(version=2, **options):
    """Version 1 stores a zero point less 1: 15 is 16."""
    q, s, z, w = parts(**options)
    if version == 1:
        w = f64(((q - np.repeat(z + 1, G, 1)) * np.repeat(f64(s), G, 1)).astype(s.dtype))
    tensors = packed(q.T, 0), np.ascontiguousarray(s.T), packed(z.T, 1)
    return tw.prepare(*tensors, gptq_version=version), w


def awq(**options):
    q, s, z, w = parts(**options)
    return tw.prepare(packed(q.T, 1, AWQ), np.ascontiguousarray(s.T), packed(z.T, 1, AWQ)), w


def compressed_tensors(**options):
    q, s, z, w = parts(**options)
    return tw.prepare(packed(q, 1), s, packed(z, 0)), w


def without_zeros(**options):
    q, s, z, w = parts(zeros=False, **options)
    return tw.prepare(packed(q, 1), s), w


def int8_pairs(**options):
    q, s, _, w = parts(zeros=False, **options)
    q = (q - 8 & 15).astype(np.uint8)
    return tw.prepare((q[:, ::2] | q[:, 1::2] << 4).view(np.int8), s), w


LAYOUTS = {"GPTQ": lambda **o: gptq(1, **o), "GPTQ 2": gptq, "AWQ": awq,
           "compressed-tensors": compressed_tensors, "no zero points": without_zeros,
           "int8 pairs": int8_pairs}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("scale", [BF16, F16], ids=["bf16", "f16"])
@pytest.mark.parametrize("m", [1, 40, 200])
def test_layouts(name, scale, m):
    prepared, w = LAYOUTS[name](scale=scale)
    assert prepared.shape == (K, N) and prepared.format == "int4" and prepared.group == G
    assert prepared.rounded_scales == 0
    a = values(np.random.default_rng(1), (m, K), "bfloat16" if scale is BF16 else "float16")
    d = tw.gemm(a, prepared)
    assert d.shape == (m, N) and d.dtype == a.dtype
    check(d, f64(a), w.T)


@pytest.mark.parametrize("layout", ["GPTQ", "AWQ", "compressed-tensors", "int4", "mxfp4"])
def test_a_list_of_experts(layout):
    """Experts in separate tensors: a matrix of each, of one call or of one after the other."""
    def tensors(seed):
        q, s, z, _ = parts(seed)
        if layout == "GPTQ":
            return packed(q.T, 0), np.ascontiguousarray(s.T), packed(z.T, 1)
        if layout == "AWQ":
            return packed(q.T, 1, AWQ), np.ascontiguousarray(s.T), packed(z.T, 1, AWQ)
        if layout == "compressed-tensors":
            return packed(q, 1), s, packed(z, 0)
        return (np.random.default_rng(seed).standard_normal((N, K)).astype("f4"),)

    to = {"to": layout} if layout in ("int4", "mxfp4") else {}
    experts = [tensors(seed) for seed in range(3)]
    prepared = tw.prepare(*(list(x) for x in zip(*experts)), **to)
    assert prepared.shape == (3, K, N)
    x = values(np.random.default_rng(1), (3, 24, K), "bfloat16")
    d = tw.gemm(x, prepared)
    for i, expert in enumerate(experts):
        alone = f64(tw.gemm(x[i], tw.prepare(*expert, **to)))  # another kernel may be planned
        assert (abs(f64(d[i]) - alone) <= 2.0**-7 * abs(alone) + 2.0**-14 * abs(alone).max()).all()
    with pytest.raises(tw.RefusedError, match="TW0616"):
        tw.prepare([x[0] for x in experts] + [experts[0][0][:16]], **to)


def pairs(form, seed=2):
    """e2m1 pairs, scales and the weights of mxfp4 or nvfp4, with the float32 of nvfp4."""
    rng = np.random.default_rng(seed)
    q = rng.integers(0, 16, (N, K)).astype(np.uint8)
    if form == "mxfp4":
        s = rng.integers(120, 128, (N, K // 32)).astype(np.uint8)
        w = E2M1[q] * np.repeat(2.0 ** (s.astype(int) - 127), 32, 1)
        return q[:, ::2] | q[:, 1::2] << 4, s, None, w
    s = (rng.random((N, K // 16)) * 4 + 0.1).astype(TYPES["float8_e4m3fn"])
    second = np.array([0.37], np.float32)
    w = E2M1[q] * np.repeat(f64(s), 16, 1) * float(second[0])
    return q[:, ::2] | q[:, 1::2] << 4, s, second, w


@pytest.mark.parametrize("form", ["mxfp4", "nvfp4"])
@pytest.mark.parametrize("result", ["bfloat16", "float32"])
def test_float4(form, result):
    if (form, result) == ("nvfp4", "float32"):
        pytest.skip("no kernel: docs/weights4.md")
    data, s, second, w = pairs(form)
    a = values(np.random.default_rng(3), (40, K), "bfloat16")
    prepared = tw.prepare(data, s, second=second)
    check(tw.gemm(a, prepared, out_dtype=result), f64(a), w.T)
    if second is not None:
        same = tw.prepare(data, s, second=1 / second, second_is_reciprocal=True)
        check(tw.gemm(a, same, out_dtype=result), f64(a), w.T, roundings=32)


@pytest.mark.parametrize("gate", ["split", "interleaved"])
def test_gate(gate):
    data, s, _, w = pairs("mxfp4")
    n = N // 16 * 16
    data, s, w = data[:n], s[:n], w[:n]
    a = values(np.random.default_rng(3), (40, K), "bfloat16")
    prepared = tw.prepare(data, s, gate=gate)
    d = tw.gemm(a, prepared, activation="relu", gate=gate)
    x = f64(a) @ w.T
    up, low = (x[:, n // 2:], x[:, :n // 2]) if gate == "split" else (x[:, 1::2], x[:, ::2])
    want = np.maximum(low, 0) * up
    assert d.shape == (40, n // 2)
    assert np.all(np.abs(f64(d) - want) <= np.abs(want) / 64 + 1e-3)
    with pytest.raises(tw.RefusedError, match="TW0467"):
        tw.gemm(a, prepared)


@pytest.mark.parametrize("form", ["mxfp4", "nvfp4"])
def test_of_scaled(form):
    """The elements of quantize() are multiplied exactly."""
    rng = np.random.default_rng(4)
    m = rng.standard_normal((N, K)).astype(np.float32)
    q = tw.quantize(m, form, scaling="linear")
    prepared = tw.prepare(q)
    low, high = E2M1[q.data & 15], E2M1[q.data >> 4]
    per = 32 if form == "mxfp4" else 16
    s = q.scale.view(np.uint8).reshape(-1)[:N * K // per].reshape(N, -1)
    s = 2.0 ** (s.astype(int) - 127) if form == "mxfp4" else f64(s.view(TYPES["float8_e4m3fn"]))
    w = np.stack([low, high], -1).reshape(N, K) * np.repeat(s, per, 1)
    w = w * (1.0 if q.level is None else float(q.level[0]))
    a = values(rng, (24, K), "bfloat16")
    check(tw.gemm(a, prepared), f64(a), w.T)


@pytest.mark.parametrize("group", [32, 64, 0])
@pytest.mark.parametrize("dtype", [np.float32, F16, BF16], ids=["f32", "f16", "bf16"])
def test_a_matrix_is_quantised(group, dtype):
    rng = np.random.default_rng(5)
    m = rng.standard_normal((N, K)).astype(dtype)
    of = F16 if dtype is F16 else BF16
    prepared = tw.prepare(m, to="int4", group=group)
    per = group or K
    s = f64((abs(f64(m)).reshape(N, -1, per).max(-1) / 7).astype(np.float32).astype(of))
    s = np.repeat(s, per, 1)
    w = f64((np.clip(np.rint(f64(m) / s), -8, 7) * s).astype(of))
    a = values(rng, (24, K), "float16" if of is F16 else "bfloat16")
    d = f64(tw.gemm(a, prepared))
    right = f64(a) @ w.T
    # An element between two integers may round to the other one in float32.
    assert abs(d - right).max() < 0.02 * abs(right).max() and abs(d - right).mean() < 0.02


def test_bias_activation_and_a_batch():
    prepared, w = int8_pairs()
    rng = np.random.default_rng(6)
    a, bias = values(rng, (40, K), "bfloat16"), values(rng, (N,), "bfloat16")
    check(tw.gemm(a, prepared, bias=bias, alpha=0.5), f64(a), w.T, 0.5, f64(bias))
    d = f64(tw.gemm(a, prepared, activation="relu"))
    right = np.maximum(f64(a) @ w.T, 0)
    assert (abs(d - right) <= abs(right) / 200 + 0.01).all()
    x = values(rng, (3, 40, K), "bfloat16")
    check(tw.gemm(x, prepared), f64(x), w.T)


def test_zero_points_with_a_bias():
    """A dense layer of a GPTQ checkpoint in its type, f16."""
    prepared, w = gptq(scale=F16)
    assert prepared.zeros == "integers"
    rng = np.random.default_rng(12)
    a, bias = values(rng, (40, K), "float16"), values(rng, (N,), "float16")
    check(tw.gemm(a, prepared, bias=bias, alpha=0.5), f64(a), w.T, 0.5, f64(bias))


def tinygemm(seed):
    """values, scales with float zero points, and the weights: (q - 8) s + z."""
    q, s, _, _ = parts(seed, zeros=False)
    z = np.random.default_rng(seed).standard_normal(s.shape).astype(BF16)
    tiles = q.reshape(N // 8, 8, K // 64, 2, 2, 2, 4, 2)  # n, k: 64, 32, 16, 8, 2, 1
    words = tiles.transpose(0, 2, 1, 6, 3, 4, 5, 7).reshape(N // 8, K // 64, 32, 2, 8)
    wide = np.repeat(f64(s), G, 1), np.repeat(f64(z), G, 1)
    w = f64(((q - 8) * wide[0] + wide[1]).astype(BF16))
    return (packed(words, -1, AWQ)[..., 0],
            np.ascontiguousarray(np.stack([s.T, z.T], -1)), w)


def test_float_zero_points_in_groups():
    """Experts of tinygemm's layout, with a bias of each and an activation."""
    first, second = tinygemm(1), tinygemm(2)
    prepared = tw.prepare([first[0], second[0]], [first[1], second[1]])
    assert (prepared.layout, prepared.zeros, prepared.shape) == (
        "torch tinygemm", "floats", (2, K, N))
    assert (tw.prepare(*second[:2]).data[-512:] == prepared.data[-512:]).all()
    rng = np.random.default_rng(13)
    a, bias = values(rng, (40, K), "bfloat16"), values(rng, (2, N), "bfloat16")
    d = tw.grouped_gemm(a, prepared, ends=np.array([13, 40], np.int32), bias=bias)
    for rows, w, add in ((slice(0, 13), first[2], bias[0]), (slice(13, 40), second[2], bias[1])):
        check(d[rows], f64(a[rows]), w.T, 1.0, f64(add))


def test_as_a_file():
    """numpy.save() keeps prepared weights; the header has format and extents."""
    prepared, w = awq()
    again = tw.Prepared(prepared.data.copy())
    assert again.shape == prepared.shape and again.layout is None and again.zeros == "integers"
    assert "int4" in repr(again)
    a = values(np.random.default_rng(7), (8, K), "bfloat16")
    check(tw.gemm(a, again), f64(a), w.T)


def test_a_plan():
    prepared, w = without_zeros()
    a = values(np.random.default_rng(8), (40, K), "bfloat16")
    p = tw.plan(a, prepared)
    assert p.us > 0
    check(p(a, prepared), f64(a), w.T)


def test_scales_of_another_type_are_rounded_by_request():
    q, s, z, w = parts(scale=F16)
    a = values(np.random.default_rng(9), (8, K), "bfloat16")
    with pytest.raises(tw.RefusedError) as caught:
        tw.gemm(a, tw.prepare(packed(q, 1), s, packed(z, 0)))
    assert caught.value.code == "TW0467"
    rounded = tw.prepare(packed(q, 1), s, packed(z, 0), scales_to="bf16")
    assert rounded.rounded_scales > 0
    of = f64(s.astype(BF16))
    w = f64(((q - np.repeat(z, G, 1)) * np.repeat(of, G, 1)).astype(BF16))
    check(tw.gemm(a, rounded), f64(a), w.T)


@pytest.mark.parametrize("rows", [False, True], ids=["one", "rows"])
def test_e4m3_activations(rows):
    """int4 is exact; the activations have one scale, or one for each row."""
    q, s, _, _ = parts(zeros=False)
    s = s[:, ::2]  # for 128 of K
    w = (q - 8) * np.repeat(f64(s), 128, 1)
    words = (q - 8 & 15).astype(np.uint8)
    prepared = tw.prepare((words[:, ::2] | words[:, 1::2] << 4).view(np.int8),
                          np.ascontiguousarray(s), activations="e4m3")
    assert prepared.activations == "e4m3" and prepared.largest_error == 0
    assert tw.Prepared(prepared.data).activations == "e4m3"
    assert int8_pairs()[0].activations == "16 bits"
    x = values(np.random.default_rng(10), (40, K), "float32")
    qx = tw.quantize(x, "e4m3:row" if rows else "e4m3:tensor")
    d = tw.gemm(qx, prepared)
    assert d.dtype == BF16
    check(d, dequantized(qx, 40, K), w.T, roundings=64)


@pytest.mark.parametrize("layout", ["GPTQ", "AWQ", "compressed-tensors"])
def test_zero_points_with_e4m3_activations(layout):
    """q - z is exact in e4m3, and the scales for 128 of K are float32 factors."""
    q, s, z, _ = parts()
    s, z = (np.ascontiguousarray(x[:, ::2]) for x in (s, z))
    tensors = {"GPTQ": lambda: (packed(q.T, 0), np.ascontiguousarray(s.T), packed(z.T, 1)),
               "AWQ": lambda: (packed(q.T, 1, AWQ), np.ascontiguousarray(s.T),
                               packed(z.T, 1, AWQ)),
               "compressed-tensors": lambda: (packed(q, 1), s, packed(z, 0))}[layout]()
    prepared = tw.prepare(*tensors, activations="e4m3")
    assert (prepared.zeros, prepared.group, prepared.largest_error) == ("integers", 128, 0)
    assert prepared.activations == "e4m3"
    z = z + 1 if layout == "GPTQ" else z  # stored less 1: up to 16
    w = (q - np.repeat(z, 128, 1)) * np.repeat(f64(s), 128, 1)
    x = tw.quantize(values(np.random.default_rng(12), (40, K), "float32"), "e4m3:row")
    check(tw.gemm(x, prepared), dequantized(x, 40, K), w.T, roundings=64)


@pytest.mark.parametrize("gate", [None, "split", "interleaved"])
def test_mxfp4_with_e4m3_activations(gate):
    data, s, _, w = pairs("mxfp4")
    prepared = tw.prepare(data, s, gate=gate, activations="e4m3")
    assert prepared.largest_error == 0
    a = values(np.random.default_rng(11), (40, K), "float8_e4m3fn")
    d = tw.gemm(a, prepared, activation=gate and "relu", gate=gate)
    x = f64(a) @ w.T
    if gate is None:
        check(d, f64(a), w.T, roundings=64)
        return
    up, low = (x[:, N // 2:], x[:, :N // 2]) if gate == "split" else (x[:, 1::2], x[:, ::2])
    want = np.maximum(low, 0) * up
    assert d.shape == want.shape and np.all(abs(f64(d) - want) <= abs(want) / 64 + 1e-3)


REFUSED = {
    "no layout": (lambda: tw.prepare(np.zeros((4, 5), np.int32), np.zeros((3, 2), BF16)), "TW0468"),
    "no scales": (lambda: tw.prepare(np.zeros((64, 8), np.int32)), "TW0484"),
    "a list": (lambda: tw.prepare([1, 2], np.zeros((3, 2), BF16)), "TW0483"),
    "another format": (lambda: tw.prepare(tw.quantize(np.ones((64, 64), np.float32), "e4m3:row")),
                       "TW0484"),
    "swizzled scales": (lambda: tw.prepare(tw.quantize(np.ones((64, 64), np.float32), "mxfp4")),
                        "TW0484"),
    "strides": (lambda: tw.prepare(np.zeros((64, 64), np.int32)[:, ::2], np.zeros((64, 4), BF16)),
                "TW0482"),
    "a version": (lambda: tw.prepare(np.zeros((8, 8), np.int32), np.zeros((1, 8), BF16),
                                     gptq_version=3), "TW0486"),
    "a type of scales": (lambda: tw.prepare(np.ones((64, 64), np.float32), to="int4",
                                            scales_to="float32"), "TW0486"),
    "a group": (lambda: tw.prepare(np.ones((64, 64), np.float32), to="int4", group=48), "TW0465"),
    "a word": (lambda: tw.prepare(np.ones((64, 64), np.float32), to="int3"), "TW0486"),
    "bytes without a header": (lambda: tw.Prepared(np.zeros(1024, np.uint8)), "TW0466"),
    "few bytes": (lambda: tw.Prepared(np.zeros(24, np.uint8)), "TW0466"),
    "a part": (lambda: tw.Prepared(int8_pairs()[0].data[:-1]), "TW0466"),
    "another type": (lambda: tw.Prepared(np.zeros(1024, np.int32)), "TW0466"),
    "scales of b too": (lambda: tw.gemm(np.ones((8, K), BF16), int8_pairs()[0],
                                         scale_b=np.ones((), np.float32)), "TW0484"),
    "a gate": (lambda: tw.gemm(np.ones((8, K), BF16), int8_pairs()[0], activation="silu",
                               gate="split"), "TW0467"),
    "another k": (lambda: tw.gemm(np.ones((8, 128), BF16), int8_pairs()[0]), "TW0616"),
    "activations of a type": (lambda: tw.prepare(np.ones((64, 128), np.float32), to="int4",
                                                 activations="bf16"), "TW0486"),
    "scales_to with e4m3": (lambda: tw.prepare(np.ones((64, 128), np.float32), to="int4",
                                               activations="e4m3", scales_to="bf16"), "TW0484"),
    "a group with e4m3": (lambda: tw.prepare(np.ones((64, 128), np.float32), to="int4", group=64,
                                             activations="e4m3"), "TW0465"),
    "float zero points with e4m3": (lambda: tw.prepare(*tinygemm(1)[:2], activations="e4m3"),
                                    "TW0465"),
    "16 bits by weights for e4m3": (lambda: tw.gemm(np.ones((8, 128), BF16), tw.prepare(
        np.ones((64, 128), np.float32), to="int4", activations="e4m3")), "TW0467"),
    "to of NumPy": (lambda: int8_pairs()[0].to("cuda"), "TW0483"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused(row):
    call, code = REFUSED[row]
    with pytest.raises(tw.RefusedError) as caught:
        call()
    assert caught.value.code == code, caught.value
