# SPDX-License-Identifier: Apache-2.0
"""_weights.py  4-bit weights in the order of the kernels, and prepare()."""
import json
import math

import numpy

from . import _tw
from ._arrays import NumpyKind, kind_of
from ._errors import refused
from ._scaled import Scaled, quantize
from ._types import DLPACK, type_name

_HEADER_BYTES = 256
_RECIPROCAL, _GPTQ_2, _FOR_E4M3 = 1, 2, 16
_GATES = {None: 0, "split": 4, "interleaved": 8}


class Prepared:
    """4-bit weights in the order of the kernels: `prepare()` returns them, and gemm(),
    grouped_gemm() and plan() take them as b, of shape (k, n).

        w = tw.prepare(qweight, scales, zeros)
        d = tw.gemm(x, w)                                  # x (m, k)
        tw.Prepared(numpy.load("w.npy"))                   # what `tilewright prepare` wrote

    Args:
        data: uint8 (bytes,), an array of NumPy, torch, CuPy or JAX. Its first 256 bytes are copied
            to host memory. Copies on a GPU: of torch `w.to("cuda")`, of CuPy
            `tw.Prepared(cupy.asarray(w.data))`, of JAX `jax.device_put(w)`.

    Attributes:
        data: the array. numpy.save() keeps it.
        format: "mxfp4", "nvfp4" or "int4".
        group: elements of K that share a scale; 0: all.
        scale_dtype: the type of the scales: of int4 the type that activations have, if they have
            16 bits.
        activations: "16 bits" or "e4m3".
        zeros: "none", "integers" or "floats".
        shape: (k, n), or (matrices, k, n).
        layout: of what prepare() returns the name of the recognised layout, else None.
        rounded_scales, nan_scales: of what prepare() returns the number of scales that were rounded
            to scale_dtype, and of those that are NaN.
        largest_error: of what prepare() returns for e4m3 the largest error of a weight, as a share
            of the largest weight in its row and 128 of k; 0: all are exact.
    """

    # word: the header as text, which torch.compile can read
    __slots__ = ("data", "header", "word", "_record")

    def __init__(self, data):
        if kind_of(data).name not in ("numpy", "torch", "cupy", "jax"):
            raise refused("TW0483", "type of data", type(data).__name__,
                          "an array of NumPy, torch, CuPy or JAX")
        if data.ndim != 1 or type_name(data.dtype) != "uint8":
            raise refused("TW0466", "prepared weights", f"{type_name(data.dtype)} "
                          f"{tuple(data.shape)}", "uint8 (bytes,)",
                          "prepare() makes them of a checkpoint's tensors")
        first = data[:_HEADER_BYTES]
        if hasattr(first, "cpu"):
            first = first.cpu().numpy()
        elif hasattr(first, "get"):
            first = first.get()
        self.data, self.header = data, numpy.asarray(first).tobytes()
        self.word = self.header.hex()
        self._record = json.loads(_tw.weights_json(self.header, int(data.shape[0])))

    @property
    def record(self):
        """The record of the header, schema tilewright.weights/1 (dict)."""
        if self._record is None:
            self._record = json.loads(_tw.weights_json(self.header, int(self.data.shape[0])))
        return self._record

    format = property(lambda self: self.record["format"])
    group = property(lambda self: self.record["group"])
    scale_dtype = property(lambda self: self.record["scale_dtype"])
    zeros = property(lambda self: self.record["zeros"])
    layout = property(lambda self: self.record.get("layout"))
    rounded_scales = property(lambda self: self.record.get("rounded_scales"))
    nan_scales = property(lambda self: self.record.get("nan_scales"))
    activations = property(lambda self: self.record["activations"])
    largest_error = property(lambda self: self.record.get("largest_error"))

    @property
    def T(self):
        """Refused: prepared weights are (k, n) already."""
        raise refused("TW0484", "transpose", "prepared weights, which are (k, n)",
                      "b as it is: gemm(x, w)")

    @property
    def shape(self):
        k, n, count = self.record["k"], self.record["n"], self.record["matrices"]
        return (k, n) if count == 1 else (count, k, n)

    def to(self, device):
        """A copy on a device of torch.

        Args:
            device: as torch.Tensor.to() takes it.

        Returns:
            Prepared.
        """
        if kind_of(self.data).name != "torch":
            raise refused("TW0483", "type of data", type(self.data).__name__, "a tensor of torch",
                          "on a GPU: tilewright.Prepared(cupy.asarray(w.data)), jax.device_put(w)")
        return prepared_of(self.data.to(device), self.header, self.record)

    def __repr__(self):
        group = self.group or "all"
        return f"Prepared({self.format}, shape {self.shape}, a scale for {group} of K)"


def prepared_of(data, header, record=None):
    """Prepared weights whose header is known: nothing is read from a GPU."""
    w = object.__new__(Prepared)
    w.data, w.header, w.word, w._record = data, header, header.hex(), record
    return w


def prepare(values, scales=None, zeros=None, *, second=None, second_is_reciprocal=False,
            order=None, gptq_version=1, scales_to=None, to=None, group=128, gate=None,
            activations=None):
    """4-bit weights (n, k) in the order of the kernels, for b of gemm() and grouped_gemm().

    The layout of a checkpoint is recognised by types and shapes: GPTQ, AWQ, compressed-tensors,
    torch tinygemm, int8 pairs, MXFP4 rows and blocks, NVFP4 rows (docs/weights4.md). Tensors with a
    first dimension of experts become a matrix for each group or each of a batch, and so do lists of
    tensors, one of each expert. Runs on the CPU.

        w = tw.prepare(qweight, scales, qzeros)                      # GPTQ or AWQ
        w = tw.prepare([e.qweight for e in experts], [e.scales for e in experts])
        w = tw.prepare(down_proj_blocks, down_proj_scales)           # gpt-oss
        w = tw.prepare(m, to="int4", group=64)                       # m (n, k), quantised

    Args:
        values: arrays of NumPy or CPU tensors of torch, in C order: qweight, weight_packed, _blocks
            ...; or a Scaled of mxfp4 or nvfp4 with the order "linear"; with `to` (n, k) or
            (experts, n, k) float32, float16 or bfloat16. Or a list of them, one of each expert.
        scales: the scales. A list, if values are one; so are zeros.
        zeros: zero points. Without them those that the layout has.
        second: of nvfp4 the float32 of the matrix, or one for each matrix.
        second_is_reciprocal: second is 1 divided by that (compressed-tensors).
        order: g_idx of GPTQ.
        gptq_version: 1: zero points are stored as z - 1; 2: as z.
        scales_to: of int4 "bfloat16" or "float16", the type of the activations; scales are rounded
            to it. Without it they keep their type.
        to: values are quantised: "int4", symmetric with the scale amax / 7 of each group; "mxfp4"
            or "nvfp4", as by quantize().
        group: of "int4" 16, 32 or a multiple of 64 elements of k; 0: all k.
        gate: "split" or "interleaved", for a GEMM with this gate: n counts gate and up rows, and is
            a multiple of 16.
        activations: "e4m3": the order for activations of e4m3, of mxfp4, and of int4 with scales
            for 128 of k, a multiple of it, or all, without float zero points. None: 16 bits.

    Returns:
        Prepared, with an array of values' kind.

    Raises:
        RefusedError: no layout has these tensors (TW0468), or they cannot be prepared (TW0465).
    """
    values, scales, zeros = (_stacked(x, name) for x, name in (
        (values, "values"), (scales, "scales"), (zeros, "zeros")))
    if to in ("mxfp4", "nvfp4"):
        values, to = quantize(values, to, scaling="linear"), None
    if isinstance(values, Scaled):
        if scales is not None or values.format not in ("mxfp4", "nvfp4") or (
                values.order != "linear"):
            raise refused("TW0484", "values", f"{values!r}", "a Scaled of mxfp4 or nvfp4 with "
                          "linear scales, alone", f"prepare(m, to='{values.format}')" if
                          values.format in ("mxfp4", "nvfp4") else "prepare(m, to='int4')")
        values, scales, second = _rows_of(values)
    kind = kind_of(values)
    if kind.name not in ("numpy", "torch"):
        raise refused("TW0483", "type of values", type(values).__name__,
                      "an array of NumPy, or a CPU tensor of torch")
    if gptq_version not in (1, 2):
        raise refused("TW0486", "gptq_version", str(gptq_version), "1 or 2")
    if gate not in _GATES:
        raise refused("TW0486", "gate", str(gate), "split, interleaved or None")
    if activations is not None and type_name(activations, "activations") != "float8_e4m3fn":
        raise refused("TW0486", "activations", str(activations), "e4m3, or None for 16 bits")
    if to is None and scales is None:
        raise refused("TW0484", "scales", "None", "the scales of a checkpoint's tensor, or `to`, "
                      "for a matrix that is quantised: 'int4', 'mxfp4' or 'nvfp4'")
    word = None if scales_to is None else type_name(scales_to, "scales_to")
    flags = (_RECIPROCAL if second_is_reciprocal else 0) | (_GPTQ_2 if gptq_version == 2 else 0)
    flags |= _GATES[gate] | (0 if activations is None else _FOR_E4M3)
    tensors = tuple(x if x is None or isinstance(x, tuple) else kind_of(x).tensor(x, name)
                    for name, x in (("values", values), ("scales", scales), ("zeros", zeros),
                                    ("second", second), ("order", order)))
    if to is None:
        group = 0
    elif group == 0:
        group = -1
    made = _tw.Weights(tensors, (word, to), (flags, group))
    data = numpy.empty(made.bytes, numpy.uint8)
    made.copy_to(data)
    header = data[:_HEADER_BYTES].tobytes()
    if kind is not NumpyKind:
        data = kind.torch.from_numpy(data)
    return prepared_of(data, header, json.loads(made.json()))


def _stacked(x, name):
    """Tensors of experts, of which each has its own, as one."""
    if not isinstance(x, (list, tuple)) or not x or not hasattr(x[0], "shape"):
        return x
    if len({(tuple(part.shape), str(part.dtype)) for part in x}) > 1:
        shapes = sorted({f"{part.dtype} {tuple(part.shape)}" for part in x})
        raise refused("TW0616", f"tensors of {name}", ", ".join(shapes), "one shape and type")
    kind = kind_of(x[0])
    return kind.torch.stack(list(x)) if kind.name == "torch" else numpy.stack(x)


def _rows_of(q):
    """Elements as bytes, scales as a matrix (n, k / 16) or (n, k / 32), and the float32."""
    of_nvfp4 = q.format == "nvfp4"
    data, scale = q.data, q.scale
    kind = kind_of(data)
    byte = kind.torch.uint8 if kind.name == "torch" else numpy.uint8
    data, scale = data.view(byte), scale.view(byte).reshape(-1)
    shape = (*data.shape[:-1], 2 * data.shape[-1] // (16 if of_nvfp4 else 32))
    scale = scale[:math.prod(shape)].reshape(shape)
    return data, (scale, DLPACK["float8_e4m3fn" if of_nvfp4 else "uint8"]), q.level
