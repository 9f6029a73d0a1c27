# SPDX-License-Identifier: Apache-2.0
"""_gemm.py  gemm(): arguments as the C library takes them, results of the caller's kind."""
from . import _tw
from ._arrays import KINDS, JaxKind, kind_of, type_of_numbers
from ._errors import refused
from ._scaled import BLOCK_FORMATS, Scaled, check_scales_along_k
from ._types import DLPACK, type_name
from ._weights import Prepared

_INVARIANT = 1
_HAVE_DATA = (Scaled, Prepared)
_FLOAT8 = {"e4m3": DLPACK["float8_e4m3fn"], "e5m2": DLPACK["float8_e5m2"],
           "mxfp8": DLPACK["float8_e4m3fn"]}
_BLOCK_FORMAT = {form: form for form in BLOCK_FORMATS}
_hinted: set = set()  # names of the scales that the hint was given for


def _parts(x, name, scale, scale_as, level=None):
    """Elements, scale, order, level and format of an operand that may be Scaled."""
    if isinstance(x, Scaled):
        if scale is not None:
            raise refused("TW0484", f"scale_{name}", "given", f"not given: {name} has its scales")
        check_scales_along_k(x, name)
        return x.data, x.scale, scale_as or x.order, x.level, x.block_format
    return x, scale, scale_as, level, None


def refused_formats(of_a, of_b):
    """A refusal of operands of which one is block-scaled, or both are in different formats."""
    return refused("TW0484", "format of b", of_b or "none that is block-scaled",
                   f"{of_a or 'none that is block-scaled'}, the format of a",
                   "quantise both operands to one format")


def _hint_of_order(name, scale):
    """Once: a shape that has one reading here may have two in the next layer."""
    if name in _hinted or scale is None or getattr(scale, "ndim", 0) < 2 or min(scale.shape) == 1:
        return
    _hinted.add(name)
    import logging
    logging.getLogger("tilewright").warning(
        "the order of scale_%s was read from its shape; square scales have two readings (TW0451): "
        "name the order, scale_%s_as='1x128' or '128x128'", name, name)


def _elements(x, scaled, name):
    """The elements of an operand as _tw takes them. Arrays of CuPy have float8 as bytes, whose type
    is that of the format."""
    tensor = tensor_of(x, name)
    if type(scaled) is Scaled and scaled.format and kind_of(x).name == "cupy":
        numbers = _FLOAT8.get(scaled.format.partition(":")[0])
        if numbers is not None and x.dtype == "uint8":
            return tensor, numbers
    return tensor


class Call:
    """The arguments of a GEMM as _tw takes them; the result is added by result()."""

    __slots__ = ("kind", "a", "tensors", "words", "numbers", "options", "scale_word")

    def __init__(self, a, b, c, bias, scale_a, scale_b, scale_a_as, scale_b_as, scale_out, alpha,
                 beta, activation, gate, promote, invariant, device):
        level_a = level_b = form = None
        given_a, given_b = a, b
        if scale_a is not None or type(a) is Scaled:
            a, scale_a, scale_a_as, level_a, form = _parts(a, "a", scale_a, scale_a_as)
        if scale_b is not None or type(b) is Scaled:
            b, scale_b, scale_b_as, level_b, form_b = _parts(b, "b", scale_b, scale_b_as)
            if form_b != form:
                raise refused_formats(form, form_b)
        if form is None:
            if scale_a is not None and scale_a_as is None:
                _hint_of_order("a", scale_a)
            if scale_b is not None and scale_b_as is None:
                _hint_of_order("b", scale_b)
        header = None
        if type(b) is Prepared:
            if scale_b is not None:
                raise refused("TW0484", "scale_b", "given", "not given: b has its scales")
            header, b = b.header, b.data
            given_b = b
        if device is not None and str(device).startswith("cuda"):
            raise refused("TW0434", "device", str(device), "a name of devices(), such as h200: the "
                          "GPU that the emulator runs as", "arrays on a GPU are multiplied there")
        kind = self.kind = kind_of(a)
        self.a = a
        word = scale_out if type(scale_out) is str else None
        self.scale_word = word
        of = kind.tensor
        self.tensors = [
            of(a, "a") if a is given_a else _elements(a, given_a, "a"),
            (of(b, "b") if type(b) is type(a) else tensor_of(b, "b")) if b is given_b
            else _elements(b, given_b, "b"),
            None if c is None else tensor_of(c, "c"), None, None,
            None if bias is None else tensor_of(bias, "bias"),
            None if scale_a is None else tensor_of(scale_a, "scale_a"),
            None if scale_b is None else tensor_of(scale_b, "scale_b"),
            None if word is not None or scale_out is None else tensor_of(scale_out, "scale_out"),
            None if level_a is None else tensor_of(level_a, "the level of a"),
            None if level_b is None else tensor_of(level_b, "the level of b")]
        self.words = (scale_a_as, scale_b_as, word, form, activation, gate, device)
        if header is not None:
            self.words += (None, None, None, None, header)
        self.options = (alpha, beta, promote, 0, _INVARIANT if invariant else 0)

    def numbers_on(self, stream=0, workspace=0, workspace_bytes=0):
        return self.options + (stream, workspace, workspace_bytes)

    def shape(self):
        return _tw.result_shape(tuple(self.tensors), self.words, self.numbers_on())

    def again(self, a, b, c, bias, scale_a, scale_b, scale_out):
        """This call on other tensors, for a plan."""
        call = object.__new__(Call)
        level_a = level_b = None
        given_a, given_b = a, b
        if type(a) is Scaled:
            a, scale_a, _, level_a, _ = _parts(a, "a", scale_a, None)
        if type(b) is Scaled:
            b, scale_b, _, level_b, _ = _parts(b, "b", scale_b, None)
        words = self.words
        if type(b) is Prepared:
            words = (*words[:11], b.header)
            b = given_b = b.data
        kind = call.kind = kind_of(a)
        of = kind.tensor if type(b) is type(a) else tensor_of
        call.a, call.words, call.options = a, words, self.options
        call.scale_word = self.scale_word
        call.tensors = [
            kind.tensor(a, "a") if a is given_a else _elements(a, given_a, "a"),
            of(b, "b") if b is given_b else _elements(b, given_b, "b"),
            None if c is None else tensor_of(c, "c"), None, None,
            None if bias is None else tensor_of(bias, "bias"),
            None if scale_a is None else tensor_of(scale_a, "scale_a"),
            None if scale_b is None else tensor_of(scale_b, "scale_b"),
            None if scale_out is None else tensor_of(scale_out, "scale_out"),
            None if level_a is None else tensor_of(level_a, "the level of a"),
            None if level_b is None else tensor_of(level_b, "the level of b")]
        return call

    def result(self, out, out_dtype, kind=None, stream=None):
        """Adds out and returns the caller's result. Without out one is allocated, in the kind that
        is given and in the order of the stream."""
        kind, tensors, word = kind or self.kind, self.tensors, self.scale_word
        if stream is not None and hasattr(kind, "on_stream"):
            with kind.on_stream(stream, self.a):
                return self.result(out, out_dtype, kind)
        if out is None:
            shape, numbers, scale_shape, scale_strides, scale_numbers, _, offset = self.shape()
            dtype = (type_of_numbers(numbers) if out_dtype is None
                     else type_name(out_dtype, "out_dtype"))
            out = kind.empty(shape, dtype, self.a)
            tensors[3] = kind.tensor(out, "out")
            if word is None:
                return out if tensors[8] is None else Scaled(out, None, None, dtype)
            scale = kind.strided(scale_shape, scale_strides, type_of_numbers(scale_numbers), self.a)
            tensors[8] = kind.tensor(scale, "scale_out")
            return _scaled_of(word, dtype, out, scale, offset)
        if out_dtype is not None:
            raise refused("TW0484", "out_dtype", str(out_dtype), "not given beside out")
        data, scale = (out.data, out.scale) if isinstance(out, Scaled) else (out, None)
        written = kind if type(data) is type(self.a) else kind_of(data)
        if written is JaxKind:
            raise refused("TW0484", "out", "an array of JAX", "memory that can be written",
                          "arrays of JAX are immutable: take the result")
        written.check_written(data, "out")
        tensors[3] = written.tensor(data, "out")
        if word is None:
            return out
        if scale is None:
            _, _, scale_shape, scale_strides, scale_numbers, _, offset = self.shape()
            scale = kind.strided(scale_shape, scale_strides, type_of_numbers(scale_numbers), self.a)
            out = _scaled_of(word, None, out, scale, offset)
        tensors[8] = kind.tensor(scale, "scale_out")
        return out


def _scaled_of(word, dtype, data, scale, offset):
    """Data and the scales of scale_out = word. Those of a format are bytes with an order; the
    float32 of each matrix of nvfp4 lies after them."""
    form, _, order = word.partition(":")
    if form in BLOCK_FORMATS:
        level = None
        if offset >= 0:
            level = _level_in(scale, offset)
            scale = scale[:offset]
        return Scaled(data, scale, level, form, order or "32x4x4", turned=False)
    name = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(dtype, dtype)
    scaling = word.rpartition(":")[2]
    library = "" if scaling == "row" or ":" in word else "torch:"
    return Scaled(data, scale, None, f"{name}:{scaling}", library + word, turned=False)


def _level_in(scale, offset):
    if hasattr(scale, "tensor"):  # a spec
        return type(scale)((1,), "float32")
    return scale[offset:].view("float32")


def remembered(a, b, out, out_dtype, c, alpha, beta, bias, activation, gate, scale_a, scale_b,
               scale_a_as, scale_b_as, promote, invariant, level_a=None, level_b=None, form=None):
    """The result of a GEMM of CUDA tensors whose plan is remembered. None: Call has to compute or
    to refuse it."""
    if type(a) is Scaled:
        if scale_a is not None or a.turned:
            return None
        form = _BLOCK_FORMAT.get(a.format)
        if type(b) is not Scaled and form is not None:
            return None
        scale_a_as = scale_a_as or a.order
        a, scale_a, level_a = a.data, a.scale, a.level
    words = None
    if type(b) is Scaled:
        if scale_b is not None or b.turned is False or _BLOCK_FORMAT.get(b.format) != form:
            return None
        scale_b_as = scale_b_as or b.order
        b, scale_b, level_b = b.data, b.scale, b.level
    elif type(b) is Prepared:
        words = (scale_a_as, scale_b_as, None, form, activation, gate, None, None, None, None,
                 None, b.header)
        b = b.data
    return _tw.remembered_gemm(
        (a, b, c, out, bias, scale_a, scale_b, level_a, level_b, out_dtype),
        words or (scale_a_as, scale_b_as, None, form, activation, gate, None),
        (alpha, beta, promote, 0, _INVARIANT if invariant else 0))


def tensor_of(x, name):
    return kind_of(x).tensor(x, name)


def gemm(a, b, *, out=None, out_dtype=None, c=None, alpha=1.0, beta=None, bias=None,
         activation=None, gate=None, scale_a=None, scale_b=None, scale_a_as=None, scale_b_as=None,
         scale_out=None, promote=128, invariant=False, device=None, stream=None, workspace=None):
    """The matrix multiplication act(alpha a b + bias + beta c).

    CPU arrays are multiplied by the emulator, which runs the kernel of the GPU, CUDA arrays on
    their GPU. Nothing is copied: strides are read as they are.

    Args:
        a: (m, k) or (batch, m, k): float16, bfloat16, float32 (multiplied as tf32), float8_e4m3fn,
            float8_e5m2, int8 or uint8; or Scaled.
        b: (k, n) or (batch, k, n). Weights (n, k) are passed as `w.T`, a view; or Prepared, 4-bit
            weights.
        out: (m, n), written; with a gate (m, n / 2). Without it an array of a's kind is returned.
        out_dtype: the type of the result: that of a and b; bfloat16 of 8-bit floats, int32 of
            integers. Names, or types of NumPy, torch and JAX.
        c: (m, n), added with the factor beta.
        alpha, beta: factors (float). beta is 1 where c is given.
        bias: (n,), one for each column, or (m, 1), one for each row.
        activation: "relu", "gelu" (tanh), "gelu_erf", "silu"; with a gate also the unit: "swiglu",
            "geglu", "geglu_erf", "reglu", "swigluoai" (gpt-oss).
        gate: "split": the left half of the columns is a gate, the right half what it multiplies;
            "interleaved": each pair of columns.
        scale_a, scale_b: scales of a over (m, k), of b over (n, k): one, rows, 1x128 or 128x128, in
            the order of torch, DeepGEMM, cuBLASLt or FlashInfer.
        scale_a_as, scale_b_as: "row", "1x128", "128x128", "torch:1x128", "deepgemm" ...: the order.
            Without it the order is read from shape and strides; square scales are refused.
        scale_out: one float32 that the result is divided by; or "row", "1x128", "mxfp8", "mxfp4",
            "nvfp4": scales are computed, and the result is Scaled.
        promote: 8-bit floats: partial sums leave the tensor core after 128 or 64 elements of k, or
            never (0).
        invariant: the bits of a row of the result depend on that row of a alone, not on m.
        device: of CPU arrays, the GPU that the emulator runs as: "h200" (the default), "b200" (the
            default of block-scaled operands) ...; devices() lists them.
        stream: of CUDA arrays, a stream of their library or its address (int), in whose order the
            result is allocated and written. Without it the current stream of torch or CuPy.
        workspace: of CUDA arrays, memory for the call. Without it the package has one for each
            device and stream, where the kernel needs one.

    Returns:
        The result, of a's kind of array; Scaled where scale_out is given.

    Raises:
        RefusedError: the message names the argument, what it is and what is needed.
        NoDeviceError: no GPU, or none that the kernels run on.
        KernelFault: the emulated kernel broke a rule.
    """
    data = a.data if type(a) is Scaled else a
    kind = KINDS.get(type(data)) or kind_of(data)
    short = (kind.direct and scale_out is None and stream is None and workspace is None
             and device is None)
    if short:
        result = remembered(a, b, out, out_dtype, c, alpha, beta, bias, activation, gate, scale_a,
                            scale_b, scale_a_as, scale_b_as, promote, invariant)
        if result is not None:
            return result
    if kind is JaxKind or kind_of(b.data if type(b) in _HAVE_DATA else b) is JaxKind:
        from . import jax
        return jax.gemm_of_arrays(
            a, b, out=out, out_dtype=out_dtype, c=c, alpha=alpha, beta=beta, bias=bias,
            activation=activation, gate=gate, scale_a=scale_a, scale_b=scale_b,
            scale_a_as=scale_a_as, scale_b_as=scale_b_as, scale_out=scale_out, promote=promote,
            invariant=invariant, device=device, stream=stream, workspace=workspace)
    call = Call(a, b, c, bias, scale_a, scale_b, scale_a_as, scale_b_as, scale_out, alpha, beta,
                activation, gate, promote, invariant, device)
    result = call.result(out, out_dtype, None, stream)
    kind.run(call, stream, workspace)
    if short and out is None:
        kind.remember(call, out_dtype, result)
    return result if scale_out is None else _given_scale(result, scale_out)


def _given_scale(result, scale_out):
    if type(result) is Scaled and result.scale is None:
        name = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(result.format, result.format)
        return Scaled(result.data, scale_out, None, f"{name}:tensor", "tensor")
    return result
