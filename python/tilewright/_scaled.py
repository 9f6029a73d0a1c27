# SPDX-License-Identifier: Apache-2.0
"""_scaled.py  Quantised matrices with their scales, and quantize()."""
from . import _tw
from ._arrays import kind_of, type_of_numbers
from ._errors import RefusedError, refused
from ._types import type_name

BLOCK_FORMATS = ("mxfp8", "mxfp4", "nvfp4")
# The type that quantize(..., out=...) takes for a word.
_POWER_OF_TWO, _GIVEN, _FLOOR = 1, 2, 4


class Scaled:
    """A matrix of small elements and its scales: element = data * scale (* level).

    `quantize()` and a `gemm()` with `scale_out` return one; `gemm()` and `plan()` take it as a or
    b.

    Attributes:
        data: the elements. Formats of 4 bits: uint8 or torch.float4_e2m1fn_x2 with two elements in
            a byte along K, so that the last extent is K / 2 ((K / 2, N) of a transpose).
        scale: the scales. Along K of each row of the matrix as it was quantised; a transpose keeps
            them: those of weights (N, K) that are passed as `w.T` are over (N, K).
        level: of "nvfp4" one float32 that all scales are multiplied by, of a batch one for each
            matrix; else None.
        format: "mxfp8", "mxfp4", "nvfp4", or type and scaling, such as "e4m3:1x128".
        order: the order of the scales in memory: a library and a scaling, such as "torch:1x128";
            of the three formats "32x4x4" or "linear". None: read from the shape.
        transposed: the matrix is the transpose of data. Of arrays of JAX alone, which have no
            transposed views.
        turned: False of a matrix as it was quantised, True of its transpose. gemm() refuses a that
            is turned and b that is not: their scales do not run along k. None, of a Scaled that is
            made by hand: not checked.
    """

    __slots__ = ("data", "scale", "level", "format", "order", "transposed", "turned")

    def __init__(self, data, scale, level=None, format=None, order=None, transposed=False,
                 turned=None):
        self.data, self.scale, self.level = data, scale, level
        self.format, self.order, self.transposed = format, order, transposed
        self.turned = turned

    @property
    def T(self):
        """The transpose, as a view: weights (N, K) become b of shape (K, N)."""
        data, transposed = self.data, self.transposed
        if kind_of(data).name == "jax":
            transposed = not transposed
        else:
            data = data.T if data.ndim == 2 else data.swapaxes(-1, -2)
        turned = None if self.turned is None else not self.turned
        return Scaled(data, self.scale, self.level, self.format, self.order, transposed, turned)

    @property
    def block_format(self):
        """The format if it is block-scaled; else None."""
        return self.format if self.format in BLOCK_FORMATS else None

    @property
    def shape(self):
        """The shape of the matrix, as data counts it."""
        shape = tuple(self.data.shape)
        return shape[:-2] + shape[:-3:-1] if self.transposed else shape

    def __repr__(self):
        level = "" if self.level is None else ", level"
        return (f"Scaled({self.format}, data {tuple(self.data.shape)}, "
                f"scale {tuple(self.scale.shape)}{level}, order {self.order})")


def check_scales_along_k(x, name, again=False):
    """Refuses an operand whose scales run along another dimension: their shape may fit. again: the
    call transposes x once more."""
    if x.turned is not ((name == "a") ^ again) or str(x.format).endswith(":tensor"):
        return
    if name == "a":
        raise refused("TW0484", "scales of a", "along m: a is the transpose of a quantised matrix",
                      "along k", "quantise a as it lies, (m, k)")
    raise refused("TW0484", "scales of b", "along n: b is (k, n) as it was quantised", "along k",
                  f"quantise weights (n, k) and pass the transpose: quantize(w, '{x.format}').T")


def split_format(to, scaling, library):
    """The words of tw_quantize_args, the format and the order of Scaled."""
    if not isinstance(to, str):
        try:
            name = type_name(to, "to")
        except RefusedError:
            name = str(to)
        to = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int8": "int8"}.get(name, name)
    if ":" in to and scaling is None:
        to, scaling = to.split(":", 1)
    if to in ("int4", "uint4"):
        raise refused("TW0486", "to", to, "e4m3, e5m2, int8, mxfp8, mxfp4 or nvfp4",
                      "prepare(w, to='int4') makes weights of 4 bits")
    if to in BLOCK_FORMATS:
        order = scaling or "32x4x4"
        return to, order, to, order
    to = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "s8": "int8"}.get(to, to)
    scaling = scaling or "row"
    if ":" in scaling:
        library, scaling = scaling.split(":", 1)
    word = scaling if scaling in ("tensor", "row") else f"{library}:{scaling}"
    return to, word, f"{to}:{scaling}", word


def quantized_shape(tensor, to, scaling):
    """(shape, type, scale shape, scale strides, scale type, scale bytes, second offset)"""
    return _tw.quantize_shape((tensor, None, None, None), (to, scaling), (0, 0, 0, 0))


def quantize(x, to, *, scaling=None, library=None, power_of_two=False, out=None, stream=None):
    """Quantises a matrix: data times scale is near x.

    Args:
        x: (m, k) or (batch, m, k); float32, float16 or bfloat16. Scales are along k: activations
            (m, k) and weights (n, k) are quantised as they lie.
        to: "e4m3", "e5m2", "int8", "mxfp8", "mxfp4", "nvfp4"; or with the scaling after a colon,
            "e4m3:1x128".
        scaling: of 8-bit types "tensor", "row" (the default), "1x128" or "128x128"; of the three
            formats the order of the factors, "32x4x4" (the default) or "linear".
        library: whose order scales of "1x128" and "128x128" have: "torch", "deepgemm", "cublaslt",
            "flashinfer-mn", "flashinfer-k". Without it "torch"; of arrays of JAX, which have C
            order, "flashinfer-k".
        power_of_two: scales are powers of two.
        out: a Scaled that is written, with the shapes that a call without it returns.
        stream: of CUDA arrays, as in gemm().

    Returns:
        Scaled, with arrays of the kind of x. On the CPU the bits are those of the GPU.

    Raises:
        RefusedError: x has no such quantisation; the message names the argument.
    """
    kind = kind_of(x)
    if kind.name == "jax":
        if stream is not None:
            raise refused("TW0484", "stream", "given", "not given: XLA has its own")
        from . import jax
        return jax.quantize(x, to, scaling=scaling, library=library or "flashinfer-k",
                            power_of_two=power_of_two, out=out)
    if stream is not None and hasattr(kind, "on_stream"):
        with kind.on_stream(stream, x):
            return quantize(x, to, scaling=scaling, library=library, power_of_two=power_of_two,
                            out=out)
    to, scaling, format_, order = split_format(to, scaling, library or "torch")
    source = kind.tensor(x, "x")
    if out is None:
        shape, numbers, scale_shape, scale_strides, scale_numbers, _, _ = quantized_shape(
            source, to, scaling)
        data = kind.empty(shape, type_of_numbers(numbers), x)
        scale = kind.strided(scale_shape, scale_strides, type_of_numbers(scale_numbers), x)
        if kind.name == "torch" and scaling.endswith("128x128"):
            scale.zero_()  # torch's order has elements that belong to no block
        level = kind.empty((1,), "float32", x) if format_ == "nvfp4" else None
        out = Scaled(data, scale, level, format_, order, turned=False)
    else:
        if not isinstance(out, Scaled):
            raise refused("TW0484", "out", type(out).__name__, "a Scaled",
                          "quantize() without out returns one")
        for part, name in ((out.data, "out.data"), (out.scale, "out.scale")):
            kind_of(part).check_written(part, name)
        out.format, out.order, out.turned = format_, order, False
    if kind.name == "spec":
        return out
    number, workspace = kind.quantize_room(x, scaling) if hasattr(
        kind, "quantize_room") else (0, None)
    tensors = (source, kind.tensor(out.data, "out"), kind.tensor(out.scale, "scale"),
               None if out.level is None else kind.tensor(out.level, "level"))
    _tw.quantize(tensors, (to, scaling),
                 (_POWER_OF_TWO if power_of_two else 0, number,
                  0 if workspace is None else workspace[0],
                  0 if workspace is None else workspace[1]))
    return out
