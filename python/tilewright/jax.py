# SPDX-License-Identifier: Apache-2.0
"""jax.py  tilewright.jax.gemm: GEMMs inside of JAX programs: jit, vmap, gradients, FP8 with scales.

    y = jax.jit(lambda a, w: tilewright.jax.gemm(a, w.T, bias=v, activation="gelu"))(a, w)

On the CPU the emulator multiplies, on a GPU the kernels do, on XLA's stream. `tilewright.gemm` of
arrays of JAX calls it.
"""
import ctypes
import functools
import os
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy

from . import _tw
from ._arrays import Spec, type_of_numbers
from ._errors import refused
from ._scaled import Scaled, check_scales_along_k, quantized_shape, split_format
from ._types import NUMPY, activation_word, type_name
from ._weights import Prepared, prepared_of

_OPTIONAL = ("c", "bias", "scale_a", "scale_b", "level_a", "level_b", "groups")
_GROUPS, _WORKSPACE, _WEIGHTS = 64, 128, 256
_TARGET = "tilewright_gemm"
_QUANTIZE_TARGET = "tilewright_quantize"
_QUANTIZE_WORKSPACE = 256  # bytes

# The arguments that are no arrays: XLA compiles for them.
_Static = namedtuple("_Static", "out_dtype alpha beta promote invariant scale_a_as scale_b_as "
                     "format activation gate device a_transposed b_transposed given "
                     "groups_as weights", defaults=(None, None))


def _register():
    path = os.path.join(os.path.dirname(__file__), "_jax.so")
    if not os.path.exists(path):
        raise ImportError("this build of the package has no _jax.so: it was made without JAX")
    library = ctypes.CDLL(path)
    for target, symbol in ((_TARGET, "tw_jax_gemm"), (_QUANTIZE_TARGET, "tw_jax_quantize")):
        for suffix, platform in (("", "cpu"), ("_cuda", "CUDA")):
            jax.ffi.register_ffi_target(
                target, jax.ffi.pycapsule(getattr(library, symbol + suffix)), platform=platform)
    return library


_library = _register()

# Scaled and Prepared are arguments and results of compiled programs; jax.device_put() moves them.
jax.tree_util.register_pytree_node(
    Scaled, lambda x: ((x.data, x.scale, x.level), (x.format, x.order, x.transposed, x.turned)),
    lambda rest, parts: Scaled(*parts, *rest))
jax.tree_util.register_pytree_node(
    Prepared, lambda w: ((w.data,), w.header), lambda header, parts: prepared_of(*parts, header))


def _spec(x, transposed=False, place=(1, 0)):
    shape = x.shape
    if len(shape) > 3:  # nested vmap
        shape = (int(numpy.prod(shape[:-2])), *shape[-2:])
    spec = Spec(shape, str(x.dtype), None, place)
    return spec.T if transposed else spec


def _tensors(operands, static, place):
    """The tensors of _tw, without a result."""
    optional = iter(operands[2:])
    rest = {name: _spec(next(optional), False, place).tensor
            for i, name in enumerate(_OPTIONAL) if static.given & (1 << i)}
    return [_spec(operands[0], static.a_transposed, place).tensor,
            _spec(operands[1], static.b_transposed, place).tensor, rest.get("c"), None, None,
            rest.get("bias"), rest.get("scale_a"), rest.get("scale_b"), None, rest.get("level_a"),
            rest.get("level_b"), rest.get("groups"), None]


def _words_and_numbers(static):
    words = (static.scale_a_as, static.scale_b_as, None, static.format, static.activation,
             static.gate, static.device, static.groups_as, None, None, None, static.weights)
    return words, (static.alpha, static.beta, static.promote, 0,
                   1 if static.invariant else 0, 0, 0, 0)


def _result(operands, static):
    """Shape and type of the result. Refuses what the C library refuses, while tracing."""
    words, numbers = _words_and_numbers(static)
    shape, dtype, *_ = _tw.result_shape(tuple(_tensors(operands, static, (1, 0))), words, numbers)
    name = type_of_numbers(dtype) if static.out_dtype is None else static.out_dtype
    return jax.ShapeDtypeStruct(shape, NUMPY[name])


def _workspace_bytes(operands, static, result, place=(2, 0)):
    """Bytes that the plan for a device needs. Refuses a GEMM without a kernel."""
    words, numbers = _words_and_numbers(static)
    tensors = _tensors(operands, static, place)
    tensors[3] = _spec(result, False, place).tensor
    return _tw.Plan(tuple(tensors), words, numbers).workspace_bytes


def _attributes(static, given):
    return {"given": numpy.int64(given),
            "promote": numpy.int64(-1 if static.promote == 0 else static.promote),
            "a_transposed": static.a_transposed, "b_transposed": static.b_transposed,
            "has_beta": static.beta is not None, "invariant": static.invariant,
            "alpha": numpy.float32(static.alpha),
            "beta": numpy.float32(0.0 if static.beta is None else static.beta),
            "scale_a_as": static.scale_a_as or "", "scale_b_as": static.scale_b_as or "",
            "format": static.format or "", "activation": static.activation or "",
            "gate": static.gate or "", "device": static.device or "",
            "groups_as": static.groups_as or "",
            "weights": numpy.frombuffer(static.weights or bytes(256), numpy.int64)}


def _call(static, *operands):
    result = _result(operands, static)
    vmap = "sequential" if len(operands) > 2 else (
        "broadcast_all" if static.weights is None else "expand_dims")

    def on_cpu(*operands):
        return jax.ffi.ffi_call(_TARGET, result, vmap_method=vmap)(
            *operands, **_attributes(static, static.given))

    def on_gpu(*operands):
        room = _workspace_bytes(operands, static, result)
        if room == 0:
            return on_cpu(*operands)
        zeros = jnp.zeros((room,), jnp.uint8)  # the kernel writes a copy
        both = jax.ffi.ffi_call(
            _TARGET, (result, jax.ShapeDtypeStruct((room,), jnp.uint8)), vmap_method="sequential",
            input_output_aliases={len(operands): 1})(
                *operands, zeros, **_attributes(static, static.given | _WORKSPACE))
        return both[0]

    if jax.default_backend() == "cpu":
        if static.weights is not None:
            _workspace_bytes(operands, static, result, (1, 0))
        return on_cpu(*operands)
    return jax.lax.platform_dependent(*operands, cpu=on_cpu, cuda=on_gpu)


def _activated(x, activation, gate):
    """The epilogue in float32, whose derivative JAX takes."""
    functions = {"": lambda v: v, "relu": jax.nn.relu, "silu": jax.nn.silu,
                 "gelu": lambda v: jax.nn.gelu(v, approximate=True),
                 "gelu-erf": lambda v: jax.nn.gelu(v, approximate=False)}
    word = activation_word(activation)
    if word not in functions:
        raise refused("TW0484", "gradient", f"of {activation}", "relu, gelu, gelu_erf or silu")
    act = functions[word]
    if gate is None:
        return act(x)
    half = x.shape[-1] // 2
    g, u = (x[..., :half], x[..., half:]) if gate == "split" else (x[..., 0::2], x[..., 1::2])
    return act(g) * u


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _gemm(static, *operands):
    return _call(static, *operands)


def _forward(static, *operands):
    return _call(static, *operands), operands


def _sum_to(x, shape):
    """The sum over the dimensions that an operand of the shape was repeated along."""
    while x.ndim > len(shape):
        x = x.sum(0)
    for i, extent in enumerate(shape):
        if extent == 1 and x.shape[i] != 1:
            x = x.sum(i, keepdims=True)
    return x


def _transposed(x):
    return jnp.swapaxes(x, -1, -2)


def _backward(static, operands, g):
    a, b = operands[:2]
    if static.weights is not None:
        raise refused("TW0484", "gradient", "of a GEMM with prepared weights",
                      "a GEMM of two arrays of float16, bfloat16 or float32")
    if static.given & ~3 or not jnp.issubdtype(a.dtype, jnp.floating) or a.dtype.itemsize == 1:
        raise refused("TW0484", "gradient", f"of a GEMM of {a.dtype} with scales"
                      if static.given & ~3 else f"of a GEMM of {a.dtype}",
                      "operands of float16, bfloat16 or float32")
    rest = dict(zip([n for i, n in enumerate(_OPTIONAL) if static.given & (1 << i)], operands[2:]))
    g = g.astype(jnp.float32)
    beta = 1.0 if static.beta is None else static.beta
    if static.activation is not None or static.gate is not None:
        x = _call(static._replace(activation=None, gate=None, out_dtype="float32", given=0,
                                  beta=None), a, b)
        if "bias" in rest:
            x = x + rest["bias"].astype(jnp.float32)
        if "c" in rest:
            x = x + beta * rest["c"].astype(jnp.float32)
        _, derivative = jax.vjp(lambda v: _activated(v, static.activation, static.gate), x)
        (g,) = derivative(g)
    narrow = g.astype(a.dtype)
    wide = functools.partial(gemm, out_dtype="float32", alpha=static.alpha,
                             invariant=static.invariant, device=static.device)
    da = wide(narrow, b, b_transposed=not static.b_transposed)
    db = wide(a, narrow, a_transposed=not static.a_transposed)
    if static.a_transposed:
        da = _transposed(da)
    if static.b_transposed:
        db = _transposed(db)
    out = [_sum_to(da, a.shape).astype(a.dtype), _sum_to(db, b.shape).astype(b.dtype)]
    for name, x in rest.items():
        grad = beta * g if name == "c" else g
        shape = x.shape if x.ndim > 1 else (1, x.shape[0])
        out.append(_sum_to(grad, shape).reshape(x.shape).astype(x.dtype))
    return tuple(out)


_gemm.defvjp(_forward, _backward)


def gemm(a, b, *, out_dtype=None, c=None, alpha=1.0, beta=None, bias=None, activation=None,
         gate=None, scale_a=None, scale_b=None, scale_a_as=None, scale_b_as=None, promote=128,
         invariant=False, device=None, a_transposed=False, b_transposed=False):
    """act(alpha a b + bias + beta c) of arrays of JAX, in or out of jit.

    Args:
        a, b, and the other arguments: as of tilewright.gemm(). b: or Prepared, 4-bit weights.
        a_transposed, b_transposed: a is given as (k, m), b as (n, k): weights are read in
            place, while `w.T` may become a copy in XLA.

    vmap makes one GEMM with a batch if a and b are the only operands, else one after another.
    Scaled and Prepared may be arguments of compiled programs; vmap over a Prepared is refused.
    Gradients of float16, bfloat16 and float32 with bias, c, activations and gates.

    Returns:
        jax.Array.

    Raises:
        RefusedError: while tracing.
    """
    level_a = level_b = form = None
    form_b = None
    if isinstance(a, Scaled):
        check_scales_along_k(a, "a", a_transposed)
        a_transposed ^= a.transposed
        a, scale_a, scale_a_as, level_a, form = _of_scaled(a, scale_a, scale_a_as, "a")
    if isinstance(b, Scaled):
        check_scales_along_k(b, "b", b_transposed)
        b_transposed ^= b.transposed
        b, scale_b, scale_b_as, level_b, form_b = _of_scaled(b, scale_b, scale_b_as, "b")
    if form != form_b:
        raise refused_formats(form, form_b)
    b, given, weights = _of_prepared(b, scale_b)
    operands = [_array(a, "a"), _array(b, "b")]
    for i, (x, name) in enumerate(zip((c, bias, scale_a, scale_b, level_a, level_b), _OPTIONAL)):
        if x is not None:
            operands.append(_array(x, name))
            given |= 1 << i
    static = _Static(None if out_dtype is None else type_name(out_dtype, "out_dtype"),
                     float(alpha), None if beta is None else float(beta), int(promote),
                     bool(invariant), scale_a_as, scale_b_as, form, activation, gate, device,
                     bool(a_transposed), bool(b_transposed), given, None, weights)
    return _gemm(static, *operands)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _ragged(static, lhs, rhs, sizes):
    d = _call(static, lhs, rhs, sizes)
    within = jnp.arange(lhs.shape[0]) < sizes.sum()
    return jnp.where(within[:, None], d, jnp.zeros((), d.dtype))  # the kernel does not write them


def _ragged_forward(static, lhs, rhs, sizes):
    return _ragged(static, lhs, rhs, sizes), (lhs, rhs, sizes)


def _ragged_backward(static, operands, g):
    if static.weights is not None:
        raise refused("TW0484", "gradient", "of a GEMM with prepared weights", "arrays")
    lhs, rhs, sizes = operands
    g = g.astype(lhs.dtype)
    of_lhs = static._replace(out_dtype=str(lhs.dtype), b_transposed=True)
    of_rhs = static._replace(out_dtype="float32", a_transposed=True)
    return (_ragged(of_lhs, g, rhs, sizes), _call(of_rhs, lhs, g, sizes).astype(rhs.dtype),
            numpy.zeros(sizes.shape, jax.dtypes.float0))


_ragged.defvjp(_ragged_forward, _ragged_backward)


def ragged_dot(lhs, rhs, group_sizes, *, preferred_element_type=None, device=None):
    """jax.lax.ragged_dot: groups of rows of lhs, a matrix of rhs for each; in or out of jit.

    Args:
        lhs: (m, k), float16 or bfloat16.
        rhs: (G, k, n), of lhs's type; or Prepared, 4-bit weights.
        group_sizes: (G,) int32: rows of each group, one after the other. Those of the result after
            the last group are zeros. The CPU refuses sizes that are not possible; a GPU takes the
            nearest ones.
        preferred_element_type: of the result; None: lhs's type.
        device: as of tilewright.gemm().

    Gradients of lhs and rhs.

    Returns:
        jax.Array (m, n).

    Raises:
        RefusedError: while tracing.
    """
    dimensions = numpy.ndim(lhs), len(rhs.shape)
    if dimensions != (2, 3):
        raise refused("TW0481", "dimensions of lhs and rhs", "{} and {}".format(*dimensions),
                      "2 and 3: (m, k) and (G, k, n)")
    rhs, given, weights = _of_prepared(rhs)
    lhs, rhs, sizes = jnp.asarray(lhs), jnp.asarray(rhs), jnp.asarray(group_sizes)
    out = lhs.dtype if preferred_element_type is None else preferred_element_type
    static = _Static(type_name(out, "preferred_element_type"), 1.0, None, 128, False, None, None,
                     None, None, None, device, False, False, _GROUPS | given, "sizes", weights)
    return _ragged(static, lhs, rhs, sizes)


def _array(x, name):
    if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer) and x.is_deleted():
        raise refused("TW0408", f"address of {name}", "an array that was deleted or donated",
                      "an array with its memory")
    return jnp.asarray(x)


def _of_prepared(b, scale_b=None):
    """The array of b, the bit of prepared weights, and their header."""
    if type(b) is not Prepared:
        return b, 0, None
    if scale_b is not None:
        raise refused("TW0484", "scale_b", "given", "not given: b has its scales")
    return b.data, _WEIGHTS, b.header


def _of_scaled(x, scale, scale_as, name):
    if scale is not None:
        raise refused("TW0484", f"scale_{name}", "given", f"not given: {name} has its scales")
    level = None if x.level is None else jnp.asarray(x.level)
    return x.data, x.scale, scale_as or x.order, level, x.block_format


def gemm_of_arrays(a, b, *, out, scale_out, stream, workspace, **options):
    """tilewright.gemm() of arrays of JAX."""
    for name, value, hint in (("out", out, "arrays of JAX are immutable: take the result"),
                              ("scale_out", scale_out, ""), ("stream", stream, "XLA has its own"),
                              ("workspace", workspace, "XLA allocates it")):
        if value is not None:
            raise refused("TW0484", name, type(value).__name__, "not given beside arrays of JAX",
                          hint)
    return gemm(a, b, **options)


def quantize(x, to, *, scaling=None, library="flashinfer-k", power_of_two=False, out=None):
    """tilewright.quantize() of an array of JAX, in or out of jit. Without a gradient.

    Args:
        x, to, and the other arguments: as of tilewright.quantize(). Arrays of JAX have C order:
            so have scales of 1x128 and 128x128 of "flashinfer-k" and "flashinfer-mn".

    Returns:
        Scaled.

    Raises:
        RefusedError: while tracing.
    """
    if out is not None:
        raise refused("TW0484", "out", "given", "not given beside arrays of JAX",
                      "arrays of JAX are immutable: take the result")
    x = jnp.asarray(x)
    to, scaling, form, order = split_format(to, scaling, library)
    shape, numbers, scale_shape, scale_strides, scale_numbers, _, _ = quantized_shape(
        _spec(x).tensor, to, scaling)
    c_order = [int(numpy.prod(scale_shape[i + 1:])) for i in range(len(scale_shape))]
    if any(n > 1 and s != c for n, s, c in zip(scale_shape, scale_strides, c_order)):
        raise refused("TW0484", "library", library, "flashinfer-k or flashinfer-mn: arrays of JAX "
                      "have C order", 'library="flashinfer-k"')
    results = [jax.ShapeDtypeStruct(shape, NUMPY[type_of_numbers(numbers)]),
               jax.ShapeDtypeStruct(scale_shape, NUMPY[type_of_numbers(scale_numbers)])]
    if form == "nvfp4":
        results.append(jax.ShapeDtypeStruct((1,), numpy.float32))
    count = len(results)
    results.append(jax.ShapeDtypeStruct((_QUANTIZE_WORKSPACE,), numpy.uint8))
    found = jax.ffi.ffi_call(_QUANTIZE_TARGET, tuple(results), vmap_method="sequential")(
        x, to=to, scaling=scaling, flags=numpy.int64(1 if power_of_two else 0))
    return Scaled(found[0], found[1], found[2] if count == 3 else None, form, order, turned=False)


# They call gemm().
from ._jax_dist import (all_gather_matmul, matmul_all_reduce,  # noqa: E402,F401
                        matmul_reduce_scatter)
