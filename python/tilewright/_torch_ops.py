# SPDX-License-Identifier: Apache-2.0
"""_torch_ops.py  The operators tilewright::gemm, gemm.out, grouped_gemm and quantize: on tensors
with data, their shapes in a trace, and their gradients."""
import torch

from ._arrays import Spec, type_of_numbers
from ._errors import refused
from ._gemm import Call
from ._grouped import with_groups
from ._scaled import Scaled, quantized_shape
from ._scaled import quantize as _quantize
from ._types import activation_word
from ._weights import prepared_of

_library = torch.library.Library("tilewright", "DEF")
_TAGS = tuple(getattr(torch.Tag, name) for name in ("pt2_compliant_tag", "needs_exact_strides")
              if hasattr(torch.Tag, name))
_OPTIONS = """Tensor? c=None, Tensor? bias=None, Tensor? scale_a=None, Tensor? scale_b=None,
    Tensor? level_a=None, Tensor? level_b=None, float alpha=1.0, float? beta=None,
    str? activation=None, str? gate=None, str? scale_a_as=None, str? scale_b_as=None,
    str? format=None, int promote=128, bool invariant=False, str? device_name=None,
    str? weights=None"""
# zeros: rows of the result that belong to no group are zeros, and not left as they are.
_OF_GROUPS = """str form="ends", str? axis=None, int expected_size=0, int choices=1,
    Tensor? row_weight=None, Tensor? group_alpha=None, Tensor? gather=None, Tensor? scatter=None,
    bool zeros=False"""
_library.define(f"gemm(Tensor a, Tensor b, *, ScalarType? out_dtype=None, {_OPTIONS}) -> Tensor",
                tags=_TAGS)
_library.define(f"gemm.out(Tensor a, Tensor b, *, {_OPTIONS}, Tensor(a!) out) -> ()", tags=_TAGS)
_library.define("grouped_gemm(Tensor a, Tensor b, Tensor groups, *, ScalarType? out_dtype=None, "
                f"{_OF_GROUPS}, {_OPTIONS}) -> Tensor", tags=_TAGS)
_library.define("quantize(Tensor x, str to, str scaling, bool power_of_two=False) -> "
                "(Tensor, Tensor, Tensor)", tags=_TAGS)
gemm, gemm_out = torch.ops.tilewright.gemm.default, torch.ops.tilewright.gemm.out
quantize = torch.ops.tilewright.quantize.default
grouped_gemm = torch.ops.tilewright.grouped_gemm.default
_PLAIN = (torch.Tensor, torch.nn.Parameter)


# ---- The operators on tensors with data ----------------------------------------------------------

def call_of(a, b, c=None, bias=None, scale_a=None, scale_b=None, level_a=None, level_b=None,
          alpha=1.0, beta=None, activation=None, gate=None, scale_a_as=None, scale_b_as=None,
          format=None, promote=128, invariant=False, device_name=None, weights=None):
    if weights is not None:  # the header of prepared weights, whose bytes are b
        b = prepared_of(b, bytes.fromhex(weights))
    if format is not None:
        a, b = (Scaled(a, scale_a, level_a, format, scale_a_as),
                Scaled(b, scale_b, level_b, format, scale_b_as))
        scale_a = scale_b = scale_a_as = scale_b_as = None
    return Call(a, b, c, bias, scale_a, scale_b, scale_a_as, scale_b_as, None, alpha, beta,
                activation, gate, promote, invariant, device_name)


def _computed(a, b, *, out_dtype=None, **options):
    call = call_of(a, b, **options)
    result = call.result(None, out_dtype)
    call.kind.run(call, None, None, keep=False)
    return result


def _computed_into(a, b, *, out, **options):
    call = call_of(a, b, **options)
    call.result(out, None)
    call.kind.run(call, None, None, keep=False)


def grouped_call_of(a, b, groups, form="ends", axis=None, expected_size=0, choices=1,
                    row_weight=None, group_alpha=None, gather=None, scatter=None, **options):
    return with_groups(call_of(a, b, **options), form, groups, axis, expected_size, choices, None,
                       row_weight, group_alpha, gather, scatter)


def computed_groups(a, b, groups, *, out_dtype=None, zeros=False, keep=False, **options):
    call = grouped_call_of(a, b, groups, **options)
    result = call.result(None, out_dtype)
    if zeros:
        result.zero_()
    call.kind.run(call, None, None, keep=keep)
    return result


def _quantized(x, to, scaling, power_of_two=False):
    q = _quantize(x, to, scaling=scaling, power_of_two=power_of_two)
    level = x.new_empty((0,), dtype=torch.float32) if q.level is None else q.level
    return q.data, q.scale, level


for _name, _function in (("gemm", _computed), ("gemm.out", _computed_into),
                         ("grouped_gemm", computed_groups), ("quantize", _quantized)):
    _library.impl(_name, _function, "CompositeExplicitAutograd")


# ---- Shapes without data -------------------------------------------------------------------------

_UNKNOWN = object()


def _number(n):
    """An extent as a number; of a symbolic one its value in this trace, _UNKNOWN without. No guard
    is made: the shape that is returned has the symbols."""
    if isinstance(n, int):
        return n
    node = n.node
    try:
        return int(node.hint) if node.has_hint() else _UNKNOWN
    except Exception:  # pylint: disable=broad-except  # a symbol without a value
        return _UNKNOWN


def _spec(x):
    """The tensor of _tw for a fake one; None if an extent is unknown."""
    shape, strides = [_number(n) for n in x.shape], [_number(n) for n in x.stride()]
    if _UNKNOWN in shape or _UNKNOWN in strides:
        return None
    place = (2, x.device.index or 0) if x.device.type == "cuda" else (1, 0)
    return Spec(shape, x.dtype, strides, place)


def _usual_type(a, format):
    if format is not None or (a.dtype.is_floating_point and a.dtype.itemsize == 1):
        return torch.bfloat16
    return a.dtype if a.dtype.is_floating_point else torch.int32


def _fake(a, b, *, out_dtype=None, c=None, bias=None, scale_a=None, scale_b=None, level_a=None,
          level_b=None, gate=None, format=None, **options):
    """The result of the operator, without its values: refused if the C library refuses it."""
    given = [a, b, c, bias, scale_a, scale_b, level_a, level_b]
    specs = [None if x is None else _spec(x) for x in given]
    columns, matrices = b.shape[-1], []
    if options.get("weights") is not None:
        columns, matrices = _extents_of_weights(options["weights"], b)
    n = columns // 2 if gate is not None else columns
    stack = [x for x in (a, b) if x.dim() == 3] + matrices
    batch = next((x.shape[0] for x in stack if _number(x.shape[0]) != 1),
                 stack[0].shape[0] if stack else None)
    shape = (a.shape[-2], n) if batch is None else (batch, a.shape[-2], n)
    dtype = out_dtype or _usual_type(a, format)
    if all((x is None) == (s is None) for x, s in zip(given, specs)):
        a_, b_, c_, bias_, sa, sb, la, lb = specs
        found, numbers, *_ = call_of(a_, b_, c_, bias_, sa, sb, la, lb, gate=gate, format=format,
                                   **options).shape()
        if tuple(found) != tuple(_number(x) for x in shape):
            raise AssertionError(f"the shape of a fake result: {shape}, of the library: {found}")
        dtype = out_dtype or getattr(torch, type_of_numbers(numbers))
    return a.new_empty(shape, dtype=dtype)


def _extents_of_weights(header, b):
    """Columns of prepared weights, and a tensor with one dimension more if there are several."""
    import json

    from . import _tw
    record = json.loads(_tw.weights_json(bytes.fromhex(header), b.shape[0]))
    matrices = record["matrices"]
    return record["n"], [] if matrices == 1 else [b.new_empty((matrices, 0, 0))]


def _fake_grouped(a, b, groups, *, out_dtype=None, zeros=False, form="ends", axis=None,
                  expected_size=0, choices=1, row_weight=None, group_alpha=None, gather=None,
                  scatter=None, c=None, bias=None, scale_a=None, scale_b=None, gate=None,
                  **options):
    """The result of grouped_gemm, without its values."""
    n = b.shape[-1]
    if options.get("weights") is not None:
        n, _ = _extents_of_weights(options["weights"], b)
    of_b = b.dim() == 3 or options.get("weights") is not None
    m = a.shape[-2]
    if gather is not None:
        m, n = (m, gather.shape[0]) if a.dim() == 3 else (gather.shape[0], n)
    n = n // 2 if gate is not None else n
    shape = (m, n)
    if (a.dim() == 3) == of_b:  # slots, or groups of k
        count = b.shape[0] if of_b else groups.shape[0] - (1 if form == "starts" else 0)
        shape = (count, m, n)
    given = (a, b, groups, row_weight, group_alpha, gather, scatter, c, bias, scale_a, scale_b)
    specs = [None if x is None else _spec(x) for x in given]
    dtype = out_dtype or _usual_type(a, None)
    if all((x is None) == (s is None) for x, s in zip(given, specs)):
        a_, b_, groups_, weight, alpha, gather_, scatter_, c_, bias_, sa, sb = specs
        found, numbers, *_ = grouped_call_of(
            a_, b_, groups_, form, axis, expected_size, choices, weight, alpha, gather_, scatter_,
            c=c_, bias=bias_, scale_a=sa, scale_b=sb, gate=gate, **options).shape()
        if tuple(found) != tuple(_number(x) for x in shape):
            raise AssertionError(f"the shape of a fake result: {shape}, of the library: {found}")
        dtype = out_dtype or getattr(torch, type_of_numbers(numbers))
    return a.new_empty(shape, dtype=dtype)


def _fake_into(a, b, *, out, **options):
    _fake(a, b, **options)


def _fake_quantized(x, to, scaling, power_of_two=False):
    rows = x.shape[0] if x.dim() == 2 and scaling in ("row", "torch:1x128") else None
    fixed = [_number(n) if n is rows else int(n) for n in x.shape]
    if _UNKNOWN in fixed:
        fixed = [int(n) for n in x.shape]
        rows = None
    shape, numbers, scale_shape, scale_strides, scale_numbers, _, _ = quantized_shape(
        Spec(fixed, x.dtype).tensor, to, scaling)
    if rows is not None:  # the two scalings with the extents of x
        shape = (rows, *shape[1:])
        scale_shape = (rows, *scale_shape[1:])
        scale_strides = (1, rows) if scaling == "torch:1x128" else (1, 1)
    data = x.new_empty(shape, dtype=getattr(torch, type_of_numbers(numbers)))
    scale = x.new_empty_strided(scale_shape, scale_strides,
                                dtype=getattr(torch, type_of_numbers(scale_numbers)))
    return data, scale, x.new_empty((1 if to == "nvfp4" else 0,), dtype=torch.float32)


torch.library.register_fake("tilewright::gemm", _fake, lib=_library)
torch.library.register_fake("tilewright::gemm.out", _fake_into, lib=_library)
torch.library.register_fake("tilewright::grouped_gemm", _fake_grouped, lib=_library)
torch.library.register_fake("tilewright::quantize", _fake_quantized, lib=_library)


# ---- Gradients -----------------------------------------------------------------------------------

_FORWARD = {"": lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu,
            "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
            "gelu-erf": torch.nn.functional.gelu}
_BACKWARD = {"": lambda g, x: g,
             "relu": lambda g, x: torch.where(x > 0, g, 0),
             "silu": torch.ops.aten.silu_backward.default,
             "gelu": lambda g, x: torch.ops.aten.gelu_backward(g, x, approximate="tanh"),
             "gelu-erf": lambda g, x: torch.ops.aten.gelu_backward(g, x, approximate="none")}


def _through_activation(g, x, activation, gate):
    """The gradient of x from the gradient of the result."""
    if gate is None:
        return _BACKWARD[activation](g, x)
    half = x.shape[-1] // 2
    gates, values = ((x[..., :half], x[..., half:]) if gate == "split"
                     else (x[..., 0::2], x[..., 1::2]))
    parts = (_BACKWARD[activation](g * values, gates), g * _FORWARD[activation](gates))
    return torch.cat(parts, -1) if gate == "split" else torch.stack(parts, -1).flatten(-2)


def _check_gradient(a, options):
    """Refuses a GEMM without gradients before it runs."""
    got = None
    if options.get("weights") is not None:
        got = "of a GEMM with 4-bit weights"
    elif a.dtype not in (torch.float16, torch.bfloat16, torch.float32) or options.get("scale_a"
            ) is not None or options.get("scale_b") is not None:
        got = f"of a GEMM of {a.dtype} with scales" if a.dtype.itemsize > 1 else f"of {a.dtype}"
    elif activation_word(options.get("activation")) not in _FORWARD:
        got = f"of {options['activation']}"
    if got:
        raise refused("TW0484", "gradient", got, "operands of float16, bfloat16 or float32 without "
                      "scales; relu, gelu, gelu_erf or silu",
                      "x.detach() is a view without a gradient")


class _Gemm(torch.autograd.Function):
    """The GEMM of tensors that require gradients. Gradients of float32 are computed in tf32."""

    @staticmethod
    def forward(ctx, keyset, options, a, b, c, bias):
        ctx.options = options
        ctx.save_for_backward(a, b, c, bias)
        with torch._C._AutoDispatchBelowAutograd():
            return gemm.redispatch(keyset & torch._C._after_autograd_keyset, a, b, c=c, bias=bias,
                                  **options)

    @staticmethod
    def backward(ctx, g):
        a, b, c, bias = ctx.saved_tensors
        o = ctx.options
        alpha, beta = o.get("alpha", 1.0), o.get("beta", None)
        beta = (0.0 if c is None else 1.0) if beta is None else beta
        activation, gate = activation_word(o.get("activation")), o.get("gate")
        common = {k: o[k] for k in ("invariant", "device_name") if k in o}
        g = g.float()
        if activation or gate:
            x = gemm(a, b, c=c, bias=bias, out_dtype=torch.float32, alpha=alpha,
                    beta=None if c is None else beta, **common)
            g = _through_activation(g, x, activation, gate)
        da = db = dc = dbias = None
        needs = ctx.needs_input_grad
        narrow = g.to(a.dtype)
        if needs[2]:
            da = gemm(narrow, b.mT, alpha=alpha, out_dtype=torch.float32, **common)
            da = da.sum_to_size(a.shape).to(a.dtype)
        if needs[3]:
            db = gemm(a.mT, narrow, alpha=alpha, out_dtype=torch.float32, **common)
            db = db.sum_to_size(b.shape).to(b.dtype)
        if needs[4]:
            dc = (beta * g).sum_to_size(c.shape).to(c.dtype)
        if needs[5]:
            dbias = g.sum_to_size(bias.shape).to(bias.dtype)
        return None, None, da, db, dc, dbias


def requires_gradient(a, b, options):
    return torch.is_grad_enabled() and (
        a.requires_grad or b.requires_grad or any(
            x.requires_grad for x in options.values() if isinstance(x, torch.Tensor)))


def _with_gradient(keyset, a, b, **options):
    if not requires_gradient(a, b, options):
        if is_direct(a, b, options):
            return _computed(a, b, **options)
        with torch._C._AutoDispatchBelowAutograd():
            return gemm.redispatch(keyset & torch._C._after_autograd_keyset, a, b, **options)
    _check_gradient(a, options)
    c, bias = options.pop("c", None), options.pop("bias", None)
    return _Gemm.apply(keyset, options, a, b, c, bias)


def _into_without_gradient(keyset, a, b, **options):
    if requires_gradient(a, b, options):
        raise refused("TW0484", "out", "given, and an operand requires a gradient",
                      "out without a gradient: x.detach()", "")
    with torch._C._AutoDispatchBelowAutograd():
        return gemm_out.redispatch(keyset & torch._C._after_autograd_keyset, a, b, **options)


class _GroupedGemm(torch.autograd.Function):
    """Rows of a in groups, a matrix of b for each: gradients of a and b."""

    @staticmethod
    def forward(ctx, keyset, options, a, b, groups):
        ctx.options = options
        ctx.save_for_backward(a, b, groups)
        with torch._C._AutoDispatchBelowAutograd():
            return grouped_gemm.redispatch(keyset & torch._C._after_autograd_keyset, a, b, groups,
                                          **options)

    @staticmethod
    def backward(ctx, g):
        a, b, groups = ctx.saved_tensors
        o = ctx.options
        common = {k: o[k] for k in ("alpha", "form", "expected_size", "invariant", "device_name")
                  if k in o}
        g = g.to(a.dtype).contiguous()
        da = db = None
        if ctx.needs_input_grad[2]:
            da = grouped_gemm(g, b.mT, groups, zeros=True, out_dtype=a.dtype, **common)
        if ctx.needs_input_grad[3]:
            db = grouped_gemm(a.mT, g, groups, out_dtype=torch.float32, **common).to(b.dtype)
        return None, None, da, db, None


def _grouped_with_gradient(keyset, a, b, groups, **options):
    if not requires_gradient(a, b, options):
        if is_direct(a, b, options):
            return computed_groups(a, b, groups, **options)
        with torch._C._AutoDispatchBelowAutograd():
            return grouped_gemm.redispatch(keyset & torch._C._after_autograd_keyset, a, b, groups,
                                          **options)
    known = {"out_dtype", "alpha", "form", "expected_size", "invariant", "device_name", "zeros",
             "promote", "choices"}
    if (a.dim() != 2 or b.dim() != 3 or a.dtype not in (torch.float16, torch.bfloat16)
            or any(v is not None for k, v in options.items() if k not in known)):
        raise refused("TW0484", "gradient", "of other groups, types or operands",
                      "groups of rows of float16 or bfloat16, without bias, scales, activation, "
                      "gather and scatter", "x.detach() is a view without a gradient")
    return _GroupedGemm.apply(keyset, options, a, b, groups)


_library.impl("gemm", _with_gradient, "Autograd", with_keyset=True)
_library.impl("grouped_gemm", _grouped_with_gradient, "Autograd", with_keyset=True)
_library.impl("gemm.out", _into_without_gradient, "Autograd", with_keyset=True)


def untraced():
    """Is a call now neither of a program that is traced nor transformed?"""
    return (not torch.compiler.is_compiling() and torch._C._len_torch_dispatch_stack() == 0
            and torch._C._functorch.peek_interpreter_stack() is None)


def is_direct(a, b, options):
    """May the operator's code be called without torch's dispatcher? Not while a program is traced
    or transformed, and not with a subclass of Tensor."""
    return (untraced() and type(a) in _PLAIN and type(b) in _PLAIN and all(
        type(x) in _PLAIN for x in options.values() if isinstance(x, torch.Tensor)))
