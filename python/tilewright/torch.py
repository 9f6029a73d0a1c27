# SPDX-License-Identifier: Apache-2.0
"""torch.py  tilewright.torch: GEMMs inside of torch programs: gradients, torch.compile, scaled_mm.

    y = tilewright.torch.gemm(x, w.T, bias=v, activation="gelu")       # has gradients
    y = tilewright.torch.scaled_mm(a, b, sa, ScalingType.BlockWise1x128, sb,
                                   ScalingType.BlockWise128x128)       # as torch.nn.functional's

The operators are tilewright::gemm, gemm.out, grouped_gemm and quantize. CPU tensors are
multiplied by the emulator, CUDA tensors on their GPU.
"""
import torch

from . import _torch_ops as _ops
from ._errors import refused
from ._gemm import refused_formats, remembered
from ._grouped import form_of
from ._scaled import Scaled, check_scales_along_k, split_format
from ._types import DLPACK, type_name
from ._weights import Prepared


def gemm(a, b, *, out=None, out_dtype=None, c=None, alpha=1.0, beta=None, bias=None,
         activation=None, gate=None, scale_a=None, scale_b=None, scale_a_as=None, scale_b_as=None,
         promote=128, invariant=False, device=None):
    """act(alpha a b + bias + beta c) of tensors of torch, with gradients; in torch.compile too.

    Args:
        As of tilewright.gemm(). On the current stream of CUDA tensors.

    Gradients of float16, bfloat16 and float32 with bias, c, activations and gates: products of the
    type of a, summed in float32. Operands with scales have none.

    Returns:
        torch.Tensor.

    Raises:
        RefusedError: in a trace too.
    """
    if out_dtype is not None:
        out_dtype = _dtype(out_dtype)
    if _ops.untraced() and device is None:
        result = remembered(a, b, out, out_dtype, c, alpha, beta, bias, activation, gate, scale_a,
                            scale_b, scale_a_as, scale_b_as, promote, invariant)
        if result is not None:
            return result
    options = {}
    if type(b) is Prepared:
        options["weights"], b = b.word, b.data
    if isinstance(a, Scaled) or isinstance(b, Scaled):
        a, b, scale_a, scale_b, scale_a_as, scale_b_as = _parts(
            a, b, scale_a, scale_b, scale_a_as, scale_b_as, options)
    if out_dtype is not None:
        options["out_dtype"] = out_dtype
    for name, value in (("c", c), ("bias", bias), ("scale_a", scale_a), ("scale_b", scale_b),
                        ("beta", beta), ("activation", activation), ("gate", gate),
                        ("scale_a_as", scale_a_as), ("scale_b_as", scale_b_as),
                        ("device_name", device)):
        if value is not None:
            options[name] = value
    if alpha != 1.0:
        options["alpha"] = alpha
    if promote != 128:
        options["promote"] = promote
    if invariant:
        options["invariant"] = True
    return _run(a, b, out, options)


def grouped_gemm(a, b, *, ends=None, starts=None, sizes=None, rows=None, counts=None, axis=None,
                 expected_size=0, out_dtype=None, c=None, alpha=1.0, group_alpha=None, beta=None,
                 bias=None, activation=None, gate=None, row_weight=None, gather=None, choices=1,
                 scatter=None, scale_a=None, scale_b=None, scale_a_as=None, scale_b_as=None,
                 promote=128, invariant=False, device=None, zeros=False):
    """tilewright.grouped_gemm() of tensors of torch, with gradients; in torch.compile too.

    Args:
        zeros: elements of the result that belong to no group are zeros; else they are not written.
        The other arguments: as of tilewright.grouped_gemm().

    Gradients of a and b of groups of rows of float16 or bfloat16 without other operands.

    Returns:
        torch.Tensor.

    Raises:
        RefusedError: in a trace too.
    """
    form, numbers = form_of(ends, starts, sizes, rows, counts)
    options = {"form": form}
    if type(b) is Prepared:
        options["weights"], b = b.word, b.data
    if isinstance(a, Scaled) or isinstance(b, Scaled):
        a, b, scale_a, scale_b, scale_a_as, scale_b_as = _parts(
            a, b, scale_a, scale_b, scale_a_as, scale_b_as, options)
    if out_dtype is not None:
        options["out_dtype"] = _dtype(out_dtype)
    for name, value, usual in (
            ("axis", axis, None), ("expected_size", expected_size, 0), ("c", c, None),
            ("alpha", alpha, 1.0), ("group_alpha", group_alpha, None), ("beta", beta, None),
            ("bias", bias, None), ("activation", activation, None), ("gate", gate, None),
            ("row_weight", row_weight, None), ("gather", gather, None), ("choices", choices, 1),
            ("scatter", scatter, None), ("scale_a", scale_a, None), ("scale_b", scale_b, None),
            ("scale_a_as", scale_a_as, None), ("scale_b_as", scale_b_as, None),
            ("promote", promote, 128), ("invariant", invariant, False),
            ("device_name", device, None), ("zeros", zeros, False)):
        if value is not usual and (usual is None or value != usual):
            options[name] = value
    return _grouped(a, b, numbers, options)


def _run(a, b, out, options):
    if not _ops.is_direct(a, b, options) or _ops.requires_gradient(a, b, options):
        if out is None:
            return _ops.gemm(a, b, **options)
        if "out_dtype" in options:
            raise refused("TW0484", "out_dtype", "given", "not given: out has a type")
        _ops.gemm_out(a, b, out=out, **options)
        return out
    out_dtype = options.pop("out_dtype", None)
    call = _ops.call_of(a, b, **options)
    result = call.result(out, out_dtype)
    call.kind.run(call, None, None)
    if out is None and call.kind.direct:
        call.kind.remember(call, out_dtype, result)
    return result


def _parts(a, b, scale_a, scale_b, scale_a_as, scale_b_as, options):
    """The tensors of operands that are Scaled; level and format are added to the options."""
    form = form_b = None
    if isinstance(a, Scaled):
        if scale_a is not None:
            raise refused("TW0484", "scale_a", "given", "not given: a has its scales")
        check_scales_along_k(a, "a")
        form, scale_a, scale_a_as = a.block_format, a.scale, scale_a_as or a.order
        if a.level is not None:
            options["level_a"] = a.level
        a = a.data
    if isinstance(b, Scaled):
        if scale_b is not None:
            raise refused("TW0484", "scale_b", "given", "not given: b has its scales")
        check_scales_along_k(b, "b")
        form_b, scale_b, scale_b_as = b.block_format, b.scale, scale_b_as or b.order
        if b.level is not None:
            options["level_b"] = b.level
        b = b.data
    if form != form_b:
        raise refused_formats(form, form_b)
    if form is not None:
        options["format"] = form
    return a, b, scale_a, scale_b, scale_a_as, scale_b_as


_BY_NAME = {name: getattr(torch, name) for name in DLPACK if hasattr(torch, name)}


def _dtype(word):
    """A type of torch. Names are found here: torch.compile cannot read the table of type_name() if
    types of other libraries are in it."""
    if isinstance(word, torch.dtype):
        return word
    found = _BY_NAME.get(word) if isinstance(word, str) else None
    return getattr(torch, type_name(word, "out_dtype")) if found is None else found


def quantize(x, to, *, scaling=None, library="torch", power_of_two=False):
    """tilewright.quantize() as an operator, which torch.compile keeps whole. Without a gradient.

    Args:
        As of tilewright.quantize().

    Returns:
        Scaled.
    """
    to, scaling, form, order = split_format(to, scaling, library)
    data, scale, level = _ops.quantize(x, to, scaling, power_of_two)
    return Scaled(data, scale, level if form == "nvfp4" else None, form, order, turned=False)


class Linear(torch.nn.Linear):
    """torch.nn.Linear with the activation in the GEMM; parameters and state_dict are the same.

    Args:
        in_features, out_features, bias, device, dtype: as of torch.nn.Linear.
        activation: "relu", "gelu", "gelu_erf" or "silu".
        gate: "split" or "interleaved": halves of the features are a gate and what it multiplies,
            and the result has out_features / 2.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *,
                 activation=None, gate=None):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.activation, self.gate = activation, gate

    def forward(self, input):
        rows = input if input.dim() == 2 else input.reshape(-1, input.shape[-1])
        y = gemm(rows, self.weight.t(), bias=self.bias, activation=self.activation, gate=self.gate)
        return y if input.dim() == 2 else y.reshape(*input.shape[:-1], y.shape[-1])

    def extra_repr(self):
        more = "".join(f", {k}={v!r}" for k, v in (("activation", self.activation),
                                                  ("gate", self.gate)) if v is not None)
        return super().extra_repr() + more


# ---- torch.nn.functional's scaled_mm -------------------------------------------------------------

# The orders of scales, or the format, by the numbers of torch's enumerators: their names take 2 us.
_ORDERS = {"TensorWise": "tensor", "RowWise": "row", "BlockWise1x128": "torch:1x128",
           "BlockWise128x128": "torch:128x128"}
_FORMATS = {"BlockWise1x16": "nvfp4", "BlockWise1x32": "mxfp8"}


def _by_number(enumeration, words):
    members = getattr(getattr(torch.nn.functional, enumeration, None), "__members__", {})
    return {members[name].value: word for name, word in words.items() if name in members}


_ORDER_OF, _FORMAT_OF = _by_number("ScalingType", _ORDERS), _by_number("ScalingType", _FORMATS)
_FACTORS_OF = _by_number("SwizzleType", {"NO_SWIZZLE": "linear", "SWIZZLE_32_4_4": "32x4x4"})


def _two(x, name):
    """The values of the first and the second level of scales, which a list of two has."""
    if not isinstance(x, (list, tuple)):
        return x, None
    if len(x) not in (1, 2):
        raise refused("TW0484", name, f"{len(x)} values", "one, or two of two levels of scales")
    return x[0], x[1] if len(x) == 2 else None


def _operand(x, scale, recipe, swizzle, name):
    """Scale, its order, level and format of an operand by torch's enumerators."""
    if type(scale) is torch.Tensor and not isinstance(recipe, (list, tuple)):
        order = _ORDER_OF.get(recipe.value)
        if order is not None:
            return scale, order, None, None
    scale, level = _two(scale, f"scale_{name}")
    recipe, second = _two(recipe, f"recipe_{name}")
    swizzle, _ = _two(swizzle, f"swizzle_{name}")
    if second is not None and _ORDER_OF.get(second.value) != "tensor":
        raise refused("TW0484", f"recipe_{name}", str(second), "TensorWise as the second level")
    if (level is None) != (second is None):
        raise refused("TW0484", f"scale_{name}", "1 level" if level is None else "2 levels",
                      "the number of recipes")
    order = _ORDER_OF.get(recipe.value)
    if order is not None:
        return scale, order, None, None
    form = _FORMAT_OF[recipe.value]
    order = "linear" if swizzle is None else _FACTORS_OF.get(swizzle.value)
    if order is None:
        raise refused("TW0484", f"swizzle_{name}", str(swizzle), "NO_SWIZZLE or SWIZZLE_32_4_4")
    if form == "mxfp8" and x.dtype == getattr(torch, "float4_e2m1fn_x2", None):
        form = "mxfp4"
    if form == "nvfp4" and level is None:
        level = torch.ones(1, dtype=torch.float32, device=x.device)
    return scale, order, level, form


def _scales(a, b, scale_a, recipe_a, scale_b, recipe_b, swizzle_a, swizzle_b, contraction_dim):
    """Scales, their orders, levels and format: what torch's arguments stand for."""
    if contraction_dim and ([x % 2 for x in contraction_dim] != [1, 0]):
        raise refused("TW0484", "contraction_dim", str(tuple(contraction_dim)), "() or (1, 0)")
    scale_a, order_a, level_a, form = _operand(a, scale_a, recipe_a, swizzle_a, "a")
    scale_b, order_b, level_b, form_b = _operand(b, scale_b, recipe_b, swizzle_b, "b")
    if form != form_b:
        raise refused("TW0484", "recipe_b", str(recipe_b), f"a recipe of {form}, as a has")
    return scale_a, scale_b, order_a, order_b, level_a, level_b, form


_NAMES = ("scale_a", "scale_b", "scale_a_as", "scale_b_as", "level_a", "level_b", "format")


def _scaled(a, b, out_dtype, fast, scales, c=None, alpha=1.0, beta=None, bias=None):
    """gemm() with what _scales() returns."""
    promote = 0 if fast else 128
    if _ops.untraced():
        scale_a, scale_b, order_a, order_b, level_a, level_b, form = scales
        result = remembered(a, b, None, out_dtype, c, alpha, beta, bias, None, None, scale_a,
                            scale_b, order_a, order_b, promote, False, level_a, level_b, form)
        if result is not None:
            return result
    return _run(a, b, None, _given(out_dtype=out_dtype, c=c, alpha=alpha, beta=beta, bias=bias,
                                   promote=promote, **dict(zip(_NAMES, scales))))


def _given(**options):
    return {k: v for k, v in options.items() if v is not None}


def scaled_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None,
              swizzle_b=None, bias=None, output_dtype=torch.bfloat16, contraction_dim=(),
              use_fast_accum=False):
    """torch.nn.functional.scaled_mm, with its arguments and enumerators.

    Beyond torch's: 128x128 blocks on both sides, any M, N and K, K = 0, a bias of float32, CPU
    tensors.

    Args:
        mat_a, mat_b: (m, k) and (k, n): float8, or float4_e2m1fn_x2 with two elements in a byte.
        scale_a, scale_b: of each operand its scales in torch's order; a list of two for two levels.
        scale_recipe_a, scale_recipe_b: torch.nn.functional.ScalingType, or a list of two.
        swizzle_a, swizzle_b: torch.nn.functional.SwizzleType of 1x16 and 1x32 blocks.
        bias: (n,).
        output_dtype: of the result; None: the type of mat_a.
        contraction_dim: () or (1, 0).
        use_fast_accum: sums of float8 stay in the tensor core (promote=0).

    Returns:
        torch.Tensor (m, n).
    """
    scales = _scales(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a,
                     swizzle_b, contraction_dim)
    return _scaled(mat_a, mat_b, mat_a.dtype if output_dtype is None else output_dtype,
                   use_fast_accum, scales, bias=bias)


def scaled_addmm(input, mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b,
                 swizzle_a=None, swizzle_b=None, contraction_dim=(), use_fast_accum=False, *,
                 beta=1.0, alpha=1.0):
    """torch.nn.functional.scaled_addmm: beta input + alpha scaled_mm(mat1, mat2), in one kernel.

    Args:
        input: (m, n) float16, bfloat16 or float32, of any strides that gemm() takes.
        mat1, mat2, and the other arguments: as of scaled_mm().

    Returns:
        torch.Tensor (m, n), of input's type.
    """
    scales = _scales(mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a,
                     swizzle_b, contraction_dim)
    return _scaled(mat1, mat2, input.dtype, use_fast_accum, scales, input, float(alpha),
                   float(beta))


# ---- torch.nn.functional's grouped_mm ------------------------------------------------------------

def _grouped(a, b, offs, options):
    """The GEMM of groups that end at offs."""
    if not _ops.is_direct(a, b, options) or _ops.requires_gradient(a, b, options):
        return _ops.grouped_gemm(a, b, offs, **options)
    return _ops.computed_groups(a, b, offs, keep=True, **options)


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """torch.nn.functional.grouped_mm, with its arguments.

    Beyond torch's: any sizes of groups, a bias, CPU tensors without a loop. torch.compile keeps it
    as the operator tilewright::grouped_gemm.

    Args:
        mat_a, mat_b: (m, k) and (G, k, n): groups of rows of mat_a; (G, m, k) and (k, n): of
            columns of mat_b; (m, k) and (k, n): of k; (G, m, k) and (G, k, n), without offs.
        offs: (G,) int32 or int64: the index after the last row, column or k of each group. Rows and
            columns of no group are not written.
        bias: (G, n) of groups of rows.
        out_dtype: of the result; None: the type of mat_a.

    Gradients of groups of rows, float16 or bfloat16, without a bias.

    Returns:
        torch.Tensor (m, n); (G, m, n) of groups of k and without offs.
    """
    options = {"out_dtype": mat_a.dtype if out_dtype is None else out_dtype}
    if bias is not None:
        options["bias"] = bias
    if offs is None:
        return _run(mat_a, mat_b, None, options)
    return _grouped(mat_a, mat_b, offs, options)


def scaled_grouped_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b,
                      swizzle_a=None, swizzle_b=None, bias=None, offs=None,
                      output_dtype=torch.bfloat16, contraction_dim=(), use_fast_accum=False):
    """torch.nn.functional.scaled_grouped_mm, with its arguments and enumerators.

    Args:
        mat_a, mat_b, bias, offs: as of grouped_mm(), float8.
        scale_a, scale_recipe_a, scale_b, scale_recipe_b: as of scaled_mm(): TensorWise, RowWise,
            BlockWise1x128 of mat_a and BlockWise128x128 of mat_b. Scales of the operand with a
            matrix for each group have the groups in front.
        The other arguments: as of scaled_mm(). Without a gradient.

    Returns:
        torch.Tensor, as of grouped_mm().
    """
    out_dtype = mat_a.dtype if output_dtype is None else output_dtype
    scales = _scales(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a,
                     swizzle_b, contraction_dim)
    if offs is None:
        return _scaled(mat_a, mat_b, out_dtype, use_fast_accum, scales, bias=bias)
    if scales[-1] is not None:
        raise refused("TW0484", "scale_recipe_a", f"a recipe of {scales[-1]}",
                      "TensorWise, RowWise, BlockWise1x128 or BlockWise128x128",
                      "no kernel of groups has block-scaled operands")
    return _grouped(mat_a, mat_b, offs, _given(
        out_dtype=out_dtype, bias=bias, promote=0 if use_fast_accum else 128,
        **dict(zip(_NAMES, scales))))
