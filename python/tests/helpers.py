# SPDX-License-Identifier: Apache-2.0
"""helpers.py  Random matrices in every order, GEMMs in float64, and the bound of their errors."""
import ctypes

import ml_dtypes
import numpy as np

TYPES = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float32": np.float32,
         "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
         "int8": np.int8, "uint8": np.uint8, "int32": np.int32}
# Relative error of a rounding to nearest, and the smallest distance of two numbers.
ROUNDING = {"bfloat16": (2.0**-8, 2.0**-133), "float16": (2.0**-11, 2.0**-24),
            "float32": (2.0**-24, 2.0**-149), "float8_e4m3fn": (2.0**-4, 2.0**-9),
            "float8_e5m2": (2.0**-3, 2.0**-16), "int32": (0.0, 0.0), "int8": (0.0, 1.0)}
PAIRS = [("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "float32"),
         ("float8_e4m3fn", "float8_e4m3fn"), ("float8_e4m3fn", "float8_e5m2"),
         ("float8_e5m2", "float8_e4m3fn"), ("float8_e5m2", "float8_e5m2"), ("int8", "int8"),
         ("uint8", "uint8"), ("uint8", "int8"), ("int8", "uint8")]
RESULTS = {"bfloat16": ["bfloat16", "float32"], "float16": ["float16", "float32"],
           "float32": ["float32"], "float8_e4m3fn": ["bfloat16", "float16", "float32"],
           "float8_e5m2": ["bfloat16", "float16", "float32"],
           "int8": ["int32", "bfloat16", "float32"], "uint8": ["int32", "bfloat16", "float32"]}


def values(rng, shape, dtype):
    """Random elements; those of float32 are exact in tf32."""
    if dtype == "int8":
        return rng.integers(-100, 100, shape).astype(np.int8)
    if dtype == "uint8":
        return rng.integers(0, 200, shape).astype(np.uint8)
    if dtype == "float32":
        return rng.standard_normal(shape).astype(np.float16).astype(np.float32)
    return np.clip(rng.standard_normal(shape), -4, 4).astype(TYPES[dtype])


def matrix(rng, shape, dtype, order="C", offset=0, gap=0):
    """A matrix, or a stack of them, inside a larger array: `offset` elements before it and `gap`
    between rows (order C) or columns (order F)."""
    *batch, rows, cols = shape
    inner = (rows, cols + gap) if order == "C" else (cols, rows + gap)
    store = np.zeros(offset + int(np.prod([*batch, *inner])), TYPES[dtype])
    x = store[offset:].reshape(*batch, *inner)
    x = x[..., :cols] if order == "C" else x[..., :rows].swapaxes(-1, -2)
    x[...] = values(rng, shape, dtype)
    return x


def f64(x):
    return np.asarray(x).astype(np.float64)


def check(d, a, b, alpha=1.0, plus=0.0, roundings=16):
    """Asserts that d is alpha a b + plus: sums of K terms in float32, one rounding of the result.

    a and b are float64, with their scales.
    """
    k = a.shape[-1]
    right = alpha * (a @ b) + plus
    magnitude = abs(alpha) * (abs(a) @ abs(b)) + abs(plus)
    relative, tiny = ROUNDING[np.asarray(d).dtype.name]
    bound = magnitude * (k + roundings) * 2.0**-24 + abs(right) * relative * 1.01 + tiny
    if relative == 0.0:  # integers are exact
        bound = np.zeros_like(right)
    error = abs(f64(d) - right)
    wrong = ~(error <= bound)
    assert not wrong.any(), (
        f"{wrong.sum()} of {wrong.size} elements are wrong; the first at {np.argwhere(wrong)[0]}: "
        f"{f64(d)[wrong][0]}, right is {right[wrong][0]} +- {bound[wrong][0]}")


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def unpacked(data):
    """The values of e2m1 pairs in bytes, along the last dimension."""
    low, high = E2M1[data & 15], E2M1[data >> 4]
    return np.stack([low, high], axis=-1).reshape(*data.shape[:-1], -1)


def blocked_order(rows, cols):
    """The index in a tensor of order 32x4x4 of each factor (row, col)."""
    r, c = np.arange(rows)[:, None], np.arange(cols)[None, :]
    tiles = -(-cols // 4)
    return ((r // 128) * tiles + c // 4) * 512 + (r % 32) * 16 + (r // 32 % 4) * 4 + c % 4


def dequantized(q, rows, k):
    """The float64 matrix (rows, k) of a Scaled."""
    data = unpacked(np.asarray(q.data)) if q.format in ("mxfp4", "nvfp4") else f64(q.data)
    data = data[:rows, :k]
    scale = np.asarray(q.scale)
    if q.format in ("mxfp8", "mxfp4", "nvfp4"):
        per = 16 if q.format == "nvfp4" else 32
        factors = -(-k // per)
        flat = scale.reshape(-1)
        if flat.dtype == np.uint8:
            flat = flat.view(ml_dtypes.float8_e4m3fn if q.format == "nvfp4"
                             else ml_dtypes.float8_e8m0fnu)
        if q.order == "linear":
            table = f64(flat)[: rows * factors].reshape(rows, factors)
        else:
            table = f64(flat)[blocked_order(rows, factors)]
        full = np.repeat(table, per, axis=1)[:, :k]
        level = 1.0 if q.level is None else float(np.asarray(q.level).reshape(-1)[0])
        return data * full * level
    scaling = q.format.partition(":")[2]
    s = f64(scale)
    if scaling == "tensor":
        return data * s.reshape(())
    if scaling == "row":
        return data * s.reshape(rows, 1)
    if scaling == "1x128":
        return data * np.repeat(s.reshape(rows, -1), 128, axis=1)[:, :k]
    blocks = (-(-rows // 128), -(-k // 128))
    # torch has the blocks of 128x128 as (K / 128 padded to 4, N / 128), transposed.
    table = s[: blocks[1], : blocks[0]].T if q.order.startswith("torch") else s
    return data * np.repeat(np.repeat(table, 128, axis=0)[:rows], 128, axis=1)[:, :k]


class _Managed(ctypes.Structure):
    """DLManagedTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class cuda_tensor:
    """bfloat16 at an address that must not be read, on CUDA device 0."""

    def __init__(self, shape):
        self.extents = (ctypes.c_int64 * len(shape))(*shape)
        self.held = _Managed(0x100000, (2, 0), len(shape), 4, 16, 1,
                             ctypes.addressof(self.extents), None, 0, None, None)

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.held), b"dltensor", None)
