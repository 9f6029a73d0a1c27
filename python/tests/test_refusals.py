# SPDX-License-Identifier: Apache-2.0
"""test_refusals.py  Bad input, row by row: its code, and the argument that the message names."""
import os
import pickle

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from helpers import TYPES, check, cuda_tensor, f64, values

BF16 = TYPES["bfloat16"]
A, B = np.ones((4, 8), BF16), np.ones((8, 16), BF16)
Q = np.ones((256, 256), TYPES["float8_e4m3fn"])


def read_only(shape):
    x = np.zeros(shape, BF16)
    x.flags.writeable = False
    return x


def overlapping():
    store = np.ones((8, 16), BF16)
    return store[:4, :8], store[:8, :16]


def on(kind, index, rows, cols, dtype="bfloat16"):
    """A tensor without data on a device by the numbers of DLPack."""
    return tw.Spec((rows, cols), dtype, None, (kind, index))


class Broken:
    """An object whose DLPack does not work."""
    shape, dtype = (4, 8), "bfloat16"

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        raise BufferError("moved")


E4M3 = "float8_e4m3fn"
FACTOR = np.ones((), "f4")
WIDE = np.ones((256, 256), BF16)
SQUARE = tw.quantize(WIDE, "e4m3:1x128")
TABLE = {
    "one dimension": (lambda: tw.gemm(A[0], B), "TW0481", "a"),
    "no dimension": (lambda: tw.gemm(np.ones((), BF16), B), "TW0481", "a"),
    "four dimensions": (lambda: tw.gemm(A, np.ones((1, 1, 8, 16), BF16)), "TW0481", "b"),
    "inner sizes": (lambda: tw.gemm(A, B[:7]), "TW0616", "a b"),
    "batches": (lambda: tw.gemm(np.ones((2, 4, 8), BF16), np.ones((3, 8, 4), BF16)),
                "TW0616", "matrices in a"),
    "float64": (lambda: tw.gemm(A.astype("f8"), B), "TW0483", "a"),
    "complex": (lambda: tw.gemm(A, np.ones((8, 16), "c8")), "TW0483", "b"),
    "bool": (lambda: tw.gemm(np.ones((4, 8), bool), B), "TW0483", "a"),
    "int64": (lambda: tw.gemm(np.ones((4, 8), np.int64), B), "TW0483", "a"),
    "objects": (lambda: tw.gemm(np.ones((4, 8), object), B), "TW0483", "a"),
    "the other byte order": (lambda: tw.gemm(np.ones((4, 8), ">f4"), B), "TW0483", "a"),
    "float4 of ml_dtypes": (lambda: tw.gemm(np.ones((4, 8), ml_dtypes.float4_e2m1fn), B), "TW0483",
                            "a"),
    "another float8": (lambda: tw.gemm(np.ones((4, 8), ml_dtypes.float8_e4m3fnuz), B), "TW0483",
                       "a"),
    "mixed types": (lambda: tw.gemm(A, B.astype(np.float16)), "TW0404", "operand types"),
    "a list": (lambda: tw.gemm([[1.0]], B), "TW0483", "a"),
    "None": (lambda: tw.gemm(None, B), "TW0483", "a"),
    "a masked array": (lambda: tw.gemm(np.ma.ones((4, 8), "f4"), B), "TW0483", "array"),
    "two strides": (lambda: tw.gemm(np.ones((4, 16), BF16)[:, ::2], B), "TW0482", "a"),
    "negative stride": (lambda: tw.gemm(A[::-1], B), "TW0482", "a"),
    "zero stride": (lambda: tw.gemm(np.broadcast_to(A[:1], (4, 8)), B), "TW0482", "a"),
    "bias of a wrong size": (lambda: tw.gemm(A, B, bias=np.ones(5, BF16)), "TW0616", "bias"),
    "c of a wrong size": (lambda: tw.gemm(A, B, c=np.ones((4, 8), BF16)), "TW0616", "c"),
    "out of a wrong size": (lambda: tw.gemm(A, B, out=np.ones((4, 8), BF16)), "TW0616", "out"),
    "out of a wrong type": (lambda: tw.gemm(A, B, out=np.ones((4, 16), np.int32)), "TW0405",
                            "out"),
    "read-only out": (lambda: tw.gemm(A, B, out=read_only((4, 16))), "TW0484", "out"),
    "out is a list": (lambda: tw.gemm(A, B, out=[1]), "TW0483", "out"),
    "out and out_dtype": (lambda: tw.gemm(A, B, out=np.ones((4, 16), BF16), out_dtype="f32"),
                          "TW0484", "out_dtype"),
    "out_dtype": (lambda: tw.gemm(A, B, out_dtype="float128x"), "TW0483", "out_dtype"),
    "activation": (lambda: tw.gemm(A, B, activation="tanh"), "TW0486", "activation"),
    "gate": (lambda: tw.gemm(A, B, gate="left"), "TW0486", "gate"),
    "device": (lambda: tw.gemm(A, B, device="h9000"), "TW0434", "device"),
    "promote": (lambda: tw.gemm(Q, Q, promote=100), "TW0437", "promotion"),
    "promote below 0": (lambda: tw.gemm(Q, Q, promote=-1), "TW0437", "promotion"),
    "promote is an array": (lambda: tw.gemm(Q, Q, promote=np.zeros(3)), "TW0486", "promote"),
    "alpha is an array": (lambda: tw.gemm(Q, Q, alpha=np.zeros(3)), "TW0486", "alpha"),
    "a stream": (lambda: tw.gemm(A, B, stream=0), "TW0484", "stream"),
    "scales of a wrong size": (lambda: tw.gemm(Q, Q, scale_a=np.ones((3, 5), "f4"),
                                               scale_b=np.ones((2, 2), "f4")), "TW0450", "scale_a"),
    "ambiguous scales": (lambda: tw.gemm(Q, Q.T, scale_a=np.ones((256, 2), "f4"),
                                         scale_a_as="1x128", scale_b=np.ones((2, 2), "f4")),
                         "TW0451", "scale_b"),
    "scales of float64": (lambda: tw.gemm(Q, Q, scale_a=np.ones(()), scale_b=np.ones(())),
                          "TW0483", "scale_a"),
    "scales twice": (lambda: tw.gemm(tw.quantize(A, "e4m3"), B, scale_a=np.ones((4, 1), "f4")),
                     "TW0484", "scale_a"),
    "one format alone": (lambda: tw.gemm(tw.quantize(A.repeat(4, 1), "mxfp8"), Q[:32]), "TW0475",
                         "block-scaled operands"),
    "scales along n": (lambda: tw.gemm(SQUARE, SQUARE), "TW0484", "scales of b"),
    "scales along m": (lambda: tw.gemm(SQUARE.T, SQUARE.T), "TW0484", "scales of a"),
    "scales along n, a format": (lambda: tw.gemm(tw.quantize(WIDE, "mxfp8"), tw.quantize(
        WIDE, "mxfp8")), "TW0484", "scales of b"),
    "scales along n, 128x128": (lambda: tw.gemm(SQUARE, tw.quantize(WIDE.T, "e4m3:128x128")),
                                "TW0484", "scales of b"),
    "scales along n, a plan": (lambda: tw.plan(tw.spec((256, 256), "e4m3:1x128"), tw.spec(
        (256, 256), "e4m3:1x128")), "TW0484", "scales of b"),
    "a format and a scaling": (lambda: tw.gemm(SQUARE, tw.quantize(WIDE, "mxfp8").T),
                               "TW0484", "format of b"),
    "int4 of activations": (lambda: tw.quantize(A, "int4"), "TW0486", "to"),
    "the emulator's device": (lambda: tw.gemm(A, B, device="cuda"), "TW0434", "device"),
    "a plan of shapes": (lambda: tw.plan((4, 8), (8, 16)), "TW0483", "a"),
    "a gated unit without a gate": (lambda: tw.gemm(A, B, activation="swiglu"), "TW0486",
                                    "activation"),
    "the unit as the gate": (lambda: tw.gemm(A, B, gate="swiglu"), "TW0486", "gate"),
    "word of an order": (lambda: tw.gemm(Q, Q, scale_a=np.ones((), "f4"), scale_a_as="2x2"),
                         "TW0486", "scale_a_as"),
    "to": (lambda: tw.quantize(A, "e9m9"), "TW0486", "to"),
    "scaling": (lambda: tw.quantize(A, "e4m3", scaling="4x4"), "TW0486", "scaling"),
    "quantised from integers": (lambda: tw.quantize(np.ones((4, 8), np.int8), "e4m3"), "TW0452",
                                "type to quantise"),
    "a spec": (lambda: tw.gemm(tw.spec((4, 8), "bf16"), tw.spec((8, 8), "bf16")), "TW0408", "a"),
    "a page": (lambda: tw.explain("TW9999"), "TW0617", "error code"),
    "a spec of many rows": (lambda: tw.gemm(tw.spec((2**31, 8), "bf16"), B), "TW0408", "a"),
    "two GPUs": (lambda: tw.plan(on(2, 0, 4, 8), on(2, 1, 8, 16)), "TW0485", "b"),
    "host memory and a GPU": (lambda: tw.plan(on(2, 0, 4, 8), B), "TW0485", "b"),
    "scales in host memory, a GPU": (
        lambda: tw.plan(on(2, 0, 256, 256, E4M3), on(2, 0, 256, 256, E4M3), scale_a=FACTOR,
                        scale_b=FACTOR), "TW0485", "scale_a"),
    "c on another GPU": (lambda: tw.plan(on(2, 1, 4, 8), on(2, 1, 8, 16), c=on(2, 0, 4, 16)),
                         "TW0485", "c"),
    "bias in host memory, a GPU": (lambda: tw.plan(on(2, 0, 4, 8), on(2, 0, 8, 16),
                                                   bias=np.ones(16, BF16)), "TW0485", "bias"),
    "out in host memory, a GPU": (lambda: tw.plan(on(2, 0, 4, 8), on(2, 0, 8, 16),
                                                  out=np.ones((4, 16), BF16)), "TW0485", "out"),
    "another kind of device": (lambda: tw.plan(on(8, 0, 4, 8), on(8, 0, 8, 16)), "TW0485", "a"),
    "DLPack that fails": (lambda: tw.gemm(Broken(), B, out=np.ones((4, 16), BF16)), "TW0483", "a"),
    "a buffer": (lambda: tw.gemm(memoryview(bytes(64)).cast("B", (4, 16)), B), "TW0483", "a"),
    "a class": (lambda: tw.gemm(np.ndarray, B), "TW0483", "a"),
    "b is a list": (lambda: tw.gemm(A, [[1.0]]), "TW0483", "b"),
    "b is None": (lambda: tw.gemm(A, None), "TW0483", "b"),
    "b of one dimension": (lambda: tw.gemm(A, B[:, 0]), "TW0481", "b"),
    "b of float64": (lambda: tw.gemm(A, B.astype("f8")), "TW0483", "b"),
    "b of int16": (lambda: tw.gemm(A, np.ones((8, 16), np.int16)), "TW0483", "b"),
    "two strides of b": (lambda: tw.gemm(A, np.ones((16, 16), BF16)[::2, ::2]), "TW0482", "b"),
    "negative stride of b": (lambda: tw.gemm(A, B[:, ::-1]), "TW0482", "b"),
    "zero stride of b": (lambda: tw.gemm(A, np.broadcast_to(B[:, :1], (8, 16))), "TW0482", "b"),
    "integers by floats": (lambda: tw.gemm(np.ones((4, 8), np.int8), B), "TW0404", "operand types"),
    "floats of 8 by 16 bits": (lambda: tw.gemm(Q, np.ones((256, 4), BF16)), "TW0404",
                               "operand types"),
    "c is a list": (lambda: tw.gemm(A, B, c=[[1.0]]), "TW0483", "c"),
    "c of float64": (lambda: tw.gemm(A, B, c=np.ones((4, 16))), "TW0483", "c"),
    "strides of c": (lambda: tw.gemm(A, B, c=np.ones((4, 32), BF16)[:, ::2]), "TW0482", "c"),
    "c of another batch": (lambda: tw.gemm(np.ones((2, 4, 8), BF16), B,
                                           c=np.ones((3, 4, 16), BF16)), "TW0616", "c"),
    "beta without c": (lambda: tw.gemm(A, B, beta=2.0), "TW0407", "beta"),
    "beta is a word": (lambda: tw.gemm(A, B, c=np.ones((4, 16), BF16), beta="x"), "TW0486", "beta"),
    "alpha is None": (lambda: tw.gemm(A, B, alpha=None), "TW0486", "alpha"),
    "bias is a list": (lambda: tw.gemm(A, B, bias=[1.0]), "TW0483", "bias"),
    "bias of float64": (lambda: tw.gemm(A, B, bias=np.ones(16)), "TW0483", "bias"),
    "bias of two dimensions": (lambda: tw.gemm(A, B, bias=np.ones((4, 16), BF16)), "TW0616",
                               "bias"),
    "strides of bias": (lambda: tw.gemm(A, B, bias=np.ones(32, BF16)[::2]), "TW0482", "bias"),
    "activation is no word": (lambda: tw.gemm(A, B, activation=3), "TW0486", "activation"),
    "gate of odd columns": (lambda: tw.gemm(A, B[:, :15], gate="split", activation="silu"),
                            "TW0411", "N with a gate"),
    "device is no word": (lambda: tw.gemm(A, B, device=3), "TW0486", "device"),
    "a workspace": (lambda: tw.gemm(A, B, workspace=np.zeros(8, np.uint8)), "TW0484", "workspace"),
    "out of another batch": (lambda: tw.gemm(A, B, out=np.ones((2, 4, 16), BF16)), "TW0616", "out"),
    "strides of out": (lambda: tw.gemm(A, B, out=np.ones((4, 32), BF16)[:, ::2]), "TW0482", "out"),
    "zero stride of out": (lambda: tw.gemm(A, B, out=np.lib.stride_tricks.as_strided(
        np.ones(16, BF16), (4, 16), (0, 2))), "TW0482", "out"),
    "out of float64": (lambda: tw.gemm(A, B, out=np.ones((4, 16))), "TW0483", "out"),
    "out_dtype of float64": (lambda: tw.gemm(A, B, out_dtype="f8"), "TW0483", "out_dtype"),
    "scale_a is a list": (lambda: tw.gemm(Q, Q, scale_a=[1.0], scale_b=np.ones((), "f4")),
                          "TW0483", "scale_a"),
    "scale_b of integers": (lambda: tw.gemm(Q, Q, scale_a=np.ones((), "f4"),
                                            scale_b=np.ones((), np.int64)), "TW0483", "scale_b"),
    "scale_b of a wrong size": (lambda: tw.gemm(Q, Q, scale_a=np.ones((), "f4"),
                                                scale_b=np.ones((7, 9), "f4")), "TW0450",
                                "scale_b"),
    "scale_b as a number": (lambda: tw.gemm(Q, Q, scale_b=np.ones((), "f4"), scale_b_as=2),
                            "TW0486", "scale_b_as"),
    "another order than named": (lambda: tw.gemm(Q, Q, scale_a=np.ones((256, 1), "f4"),
                                                 scale_a_as="1x128",
                                                 scale_b=np.ones((), "f4")), "TW0450", "scale_a"),
    "two formats": (lambda: tw.gemm(tw.quantize(A.repeat(4, 1), "mxfp8"),
                                    tw.quantize(A.repeat(4, 1), "nvfp4").T), "TW0484",
                    "format of b"),
    "scale_out is a word": (lambda: tw.gemm(Q, Q, scale_out="2x2"), "TW0486", "scale_out"),
    "scale_out of float64": (lambda: tw.gemm(Q, Q, scale_out=np.ones(()),
                                             out_dtype="e4m3"), "TW0483", "scale_out"),
    "x is a list": (lambda: tw.quantize([[1.0]], "e4m3"), "TW0483", "x"),
    "x of float64": (lambda: tw.quantize(np.ones((4, 8)), "e4m3"), "TW0483", "x"),
    "x of one dimension": (lambda: tw.quantize(np.ones(8, "f4"), "e4m3"), "TW0481", "x"),
    "two strides of x": (lambda: tw.quantize(np.ones((8, 16), "f4")[::2, ::2], "e4m3"), "TW0482",
                         "x"),
    "scaling of a format": (lambda: tw.quantize(A, "nvfp4", scaling="row"), "TW0486", "scaling"),
    "library": (lambda: tw.quantize(A, "e4m3", scaling="1x128", library="numpy"), "TW0486",
                "scaling"),
    "to is a number": (lambda: tw.quantize(A, 3), "TW0486", "to"),
    "quantised into an array": (lambda: tw.quantize(A, "e4m3", out=A), "TW0484", "out"),
    "quantised into another shape": (lambda: tw.quantize(A, "e4m3:row", out=tw.quantize(
        A[:2], "e4m3:row")), "TW0616", "out"),
    "a plan for no device": (lambda: tw.plan(A, B, device="h9000"), "TW0434", "device"),
    "a plan of inner sizes": (lambda: tw.plan(A, B.T), "TW0616", "a b"),
    "a plan of float64": (lambda: tw.plan(tw.spec((4, 8), "f8"), tw.spec((8, 8), "f8")), "TW0483",
                          "dtype"),
    "a plan of one dimension": (lambda: tw.plan(tw.spec((8,), "bf16"), B), "TW0481", "a"),
    "a type of a spec": (lambda: tw.spec((4, 8), "bf17"), "TW0483", "dtype"),
    "strides of a spec": (lambda: tw.spec((4, 8), "bf16", strides=(1,)), "TW0481", "strides"),
    "a model without sizes": (lambda: tw.plan_model({"hidden_size": 64}), "TW0484",
                              "intermediate_size"),
    "a layout": (lambda: tw.layout("(4,8:(8,1)"), "TW0101", "layout"),
    "an operation": (lambda: tw.layout("4:1").complement("x"), "TW0101", "layout"),
    "a log function": (lambda: tw.set_log(3), "TW0484", "function"),
}


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_table(row):
    call, code, argument = TABLE[row]
    with pytest.raises(tw.RefusedError) as caught:
        call()
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, tw.TilewrightError)
    assert code and error.code == code, error
    assert argument and argument in error.what, error
    assert error.got and error.need and str(error).startswith(error.code)
    assert error.hint or code != "TW0482", f"strides without a remedy: {error}"
    assert "tw_" not in str(error), f"a name of C in the message: {error}"
    assert "`tilewright " not in str(error), f"a verb of the command in the message: {error}"
    assert " --" not in str(error), f"an option of the command in the message: {error}"
    assert tw.explain(error.code).startswith(f"# {error.code}: ")


def test_messages_say_what_python_has():
    for name, text in (("one format alone", "tilewright.quantize()"),
                       ("a list", "float32"),
                       ("scales of float64", "convert it to float32")):
        with pytest.raises(tw.RefusedError) as caught:
            TABLE[name][0]()
        assert text in caught.value.hint, caught.value
        assert "tf32" not in caught.value.hint, "scales are not multiplied as tf32"


def test_the_message_of_a_square_scale_names_the_argument_to_add():
    with pytest.raises(tw.RefusedError, match="scale_b_as"):
        TABLE["ambiguous scales"][0]()


@pytest.mark.parametrize("part", ["a", "w", "bias"])
def test_overlap(part):
    """out may not be an operand, nor a part of one; c may be out."""
    store = np.ones((16, 32), BF16)
    x = {"a": store[:4, :8], "w": store[:16, :8], "bias": store[0, :16]}[part]
    given = {"a": A, "w": np.ones((16, 8), BF16), "bias": np.ones(16, BF16), part: x}
    with pytest.raises(tw.RefusedError) as caught:
        tw.gemm(given["a"], given["w"].T, bias=given["bias"], out=store[:4, 4:20])
    assert caught.value.code == "TW0446" and "out" in caught.value.what, caught.value
    assert (f64(store) == 1).all()


def test_neighbours_do_not_overlap():
    store = np.ones((8, 32), BF16)
    tw.gemm(store[:4, :8], B, out=store[4:, :16])
    tw.gemm(store[:4, :8], B, out=store[:4, 8:24])  # other columns of the same rows
    assert (f64(store[:4, :8]) == 1).all()


@pytest.mark.parametrize("shape", [(0, 8, 16), (4, 8, 0), (4, 0, 16), (0, 0, 0), (0, 0, 4)],
                         ids=str)
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int8"])
def test_empty(shape, dtype):
    m, k, n = shape
    a, b = np.ones((m, k), TYPES[dtype]), np.ones((k, n), TYPES[dtype])
    d = tw.gemm(a, b)
    assert d.shape == (m, n) and not f64(d).any()


def test_no_sum_is_bias_and_c():
    a, b = np.ones((4, 0), BF16), np.ones((0, 16), BF16)
    bias, c = values(np.random.default_rng(1), (16,), "bfloat16"), np.ones((4, 16), BF16)
    assert (f64(tw.gemm(a, b, bias=bias)) == f64(bias)).all()
    assert (f64(tw.gemm(a, b, c=c, beta=2.0)) == 2).all()


@pytest.mark.parametrize("m", [0, 63])
def test_no_rows_with_scales(m):
    a = np.ones((m, 256), TYPES["float8_e4m3fn"])
    w = np.ones((128, 256), TYPES["float8_e4m3fn"])
    d = tw.gemm(a, w.T, scale_a=np.ones((m, 2), "f4"), scale_b=np.ones((1, 2), "f4"),
                scale_b_as="torch:128x128" if m else None)
    assert d.shape == (m, 128)


def test_errors_are_values():
    with pytest.raises(tw.RefusedError) as caught:
        tw.gemm(A, B[:7])
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tw.RefusedError and str(again) == str(caught.value)
    assert (again.code, again.need, again.hint) == (
        caught.value.code, caught.value.need, caught.value.hint)


def test_freed_memory_is_kept():
    """An operand that Python no longer names lives until the call has returned."""
    d = tw.gemm(np.ones((64, 64), BF16).T, np.ones((64, 64), BF16))
    assert (f64(d) == 64).all()


def test_a_memory_map(tmp_path):
    path = os.path.join(tmp_path, "a.bin")
    np.ones((4, 8), np.float16).tofile(path)
    a = np.memmap(path, np.float16, "r", shape=(4, 8))
    check(tw.gemm(a, np.ones((8, 4), np.float16)), f64(a), np.ones((8, 4)))


@pytest.mark.parametrize("rows", [2**30, 2**31 - 1, 2**31, 2**33, 2**62])
@pytest.mark.parametrize("device", ["h200", "b200"])
def test_a_plan_for_many_rows(rows, device):
    """A plan, or a refusal: no crash."""
    try:
        p = tw.plan(tw.spec((rows, 64), "bf16"), tw.spec((64, 64), "bf16").T, device=device)
    except tw.RefusedError as why:
        assert rows > 2**31 - 1 - 512 and why.code == "TW0401", why
    else:
        assert p.us > 0


def test_cuda_memory_without_a_gpu():
    """NoDeviceError: its address is not read."""
    if tw.devices()["gpu"] is not None:
        pytest.skip("a GPU is there")
    a, b, d = (cuda_tensor(s) for s in ((4, 8), (8, 16), (4, 16)))
    with pytest.raises(tw.NoDeviceError) as caught:
        tw.gemm(a, b, out=d)
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.code in ("TW0501", "TW0502", "TW0503"), caught.value


def test_a_in_cuda_memory_b_in_host_memory():
    with pytest.raises(tw.RefusedError) as caught:
        tw.gemm(cuda_tensor((4, 8)), B, out=np.ones((4, 16), BF16))
    assert caught.value.code == "TW0485" and "b" in caught.value.what
