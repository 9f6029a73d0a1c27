# SPDX-License-Identifier: Apache-2.0
"""test_torch_scaled.py  scaled_mm and scaled_addmm: torch's arguments, recipes and enumerators.
Skipped without a torch that has them."""
import numpy as np
import pytest

import tilewright as tw
from helpers import dequantized, values

torch = pytest.importorskip("torch")
functional = torch.nn.functional
if not hasattr(functional, "ScalingType"):
    pytest.skip("scaled_mm is missing in this torch", allow_module_level=True)
import tilewright.torch as twt  # noqa: E402  # pylint: disable=wrong-import-position

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
on_devices = pytest.mark.parametrize("device", DEVICES)
Recipe, Swizzle = functional.ScalingType, functional.SwizzleType
RECIPES = {"tensor": Recipe.TensorWise, "row": Recipe.RowWise, "1x128": Recipe.BlockWise1x128,
           "128x128": Recipe.BlockWise128x128}


def tensors(device, *shapes, dtype=torch.bfloat16, seed=0):
    rng = np.random.default_rng(seed)
    return [torch.tensor(values(rng, shape, "float32")).to(dtype).to(device) for shape in shapes]


def operands(device, m, n, k, kind_a, kind_b):
    """Quantised a (m, k) and b (k, n) with torch's scales, and the matrices that they stand for."""
    x, w = tensors(device, (m, k), (n, k))
    qa, qb = tw.quantize(x, f"e4m3:{kind_a}"), tw.quantize(w, f"e4m3:{kind_b}")
    sb = qb.scale.t() if kind_b == "row" else qb.scale
    same = [tw.quantize(y.float().cpu().numpy(), f"e4m3:{kind}")
            for y, kind in ((x, kind_a), (w, kind_b))]
    return qa, qb, sb, dequantized(same[0], m, k) @ dequantized(same[1], n, k).T


def near(d, right, relative=0.01):
    assert abs(d.double().cpu().numpy() - right).max() <= relative * max(1.0, abs(right).max())


PAIRS = [("tensor", "tensor"), ("row", "row"), ("1x128", "1x128"), ("1x128", "128x128"),
         ("128x128", "1x128"), ("128x128", "128x128")]


@on_devices
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("shape", [(64, 128, 256), (63, 80, 256), (256, 256, 256), (1, 16, 128)],
                         ids=str)
def test_recipes(device, pair, shape):
    qa, qb, sb, right = operands(device, *shape, *pair)
    d = twt.scaled_mm(qa.data, qb.data.t(), qa.scale, RECIPES[pair[0]], sb, RECIPES[pair[1]])
    assert d.dtype == torch.bfloat16
    near(d, right)


@on_devices
def test_lists_of_one(device):
    qa, qb, sb, right = operands(device, 64, 128, 256, "row", "row")
    near(twt.scaled_mm(qa.data, qb.data.t(), [qa.scale], [Recipe.RowWise], [sb], [Recipe.RowWise],
                       [Swizzle.NO_SWIZZLE], [Swizzle.NO_SWIZZLE]), right)


@on_devices
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_bias_and_types(device, dtype):
    qa, qb, sb, right = operands(device, 64, 128, 256, "row", "row")
    (bias,) = tensors(device, (128,), dtype=dtype)
    d = twt.scaled_mm(qa.data, qb.data.t(), qa.scale, Recipe.RowWise, sb, Recipe.RowWise,
                      bias=bias, output_dtype=dtype, use_fast_accum=True, contraction_dim=(1, 0))
    assert d.dtype == dtype
    near(d, right + bias.double().cpu().numpy())


@on_devices
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_addmm(device, dtype):
    qa, qb, sb, right = operands(device, 64, 128, 256, "row", "row")
    (c,) = tensors(device, (64, 128), dtype=dtype)
    d = twt.scaled_addmm(c, qa.data, qb.data.t(), qa.scale, Recipe.RowWise, sb, Recipe.RowWise,
                         beta=0.5, alpha=2.0)
    assert d.dtype == dtype
    near(d, 2 * right + 0.5 * c.double().cpu().numpy())


@pytest.mark.parametrize("form", ["nvfp4", "mxfp4", "mxfp8"])
@pytest.mark.parametrize("order", ["32x4x4", "linear"])
@pytest.mark.parametrize("shape", [(128, 128, 256), (63, 80, 96)], ids=str)
def test_block_scaled(form, order, shape):
    m, n, k = shape
    x, w = tensors("cpu", (m, k), (n, k))
    qa, qb = (tw.quantize(y, form, scaling=order) for y in (x, w))
    swizzle = Swizzle.SWIZZLE_32_4_4 if order == "32x4x4" else Swizzle.NO_SWIZZLE
    recipe = Recipe.BlockWise1x16 if form == "nvfp4" else Recipe.BlockWise1x32
    if form == "nvfp4":
        scales = [[q.scale, q.level] for q in (qa, qb)]
        recipe = [recipe, Recipe.TensorWise]
    else:
        scales = [qa.scale, qb.scale]
    d = twt.scaled_mm(qa.data, qb.data.t(), scales[0], recipe, scales[1], recipe, swizzle, swizzle)
    assert torch.equal(d, tw.gemm(qa, qb.T))
    assert d.shape == (m, n)


def test_nvfp4_of_one_level():
    x, w = tensors("cpu", (64, 128), (32, 128))
    qa, qb = tw.quantize(x, "nvfp4"), tw.quantize(w, "nvfp4")
    d = twt.scaled_mm(qa.data, qb.data.t(), qa.scale, Recipe.BlockWise1x16, qb.scale,
                      Recipe.BlockWise1x16, Swizzle.SWIZZLE_32_4_4, Swizzle.SWIZZLE_32_4_4,
                      output_dtype=torch.float32)
    near(d * qa.level * qb.level, tw.gemm(qa, qb.T, out_dtype="f32").double().numpy(), 1e-5)


@on_devices
def test_k_of_zero(device):
    a = torch.empty(16, 0, dtype=torch.float8_e4m3fn, device=device)
    b = torch.empty(32, 0, dtype=torch.float8_e4m3fn, device=device)
    one = torch.ones((), device=device)
    d = twt.scaled_mm(a, b.t(), one, Recipe.TensorWise, one, Recipe.TensorWise)
    assert d.shape == (16, 32) and not d.any()


REFUSED = {
    "a second level of blocks": lambda a, b, s: twt.scaled_mm(
        a, b, [s, s], [Recipe.BlockWise1x16, Recipe.RowWise], s, Recipe.BlockWise1x16),
    "two formats": lambda a, b, s: twt.scaled_mm(a, b, s, Recipe.BlockWise1x32, s, Recipe.RowWise),
    "contraction_dim": lambda a, b, s: twt.scaled_mm(
        a, b, s, Recipe.TensorWise, s, Recipe.TensorWise, contraction_dim=(0, 1)),
    "three scales": lambda a, b, s: twt.scaled_mm(
        a, b, [s, s, s], Recipe.TensorWise, s, Recipe.TensorWise),
    "a scale of another recipe": lambda a, b, s: twt.scaled_mm(
        a, b, s, Recipe.BlockWise1x128, s, Recipe.TensorWise),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    a = torch.ones(32, 64).to(torch.float8_e4m3fn)
    with pytest.raises(tw.RefusedError):
        REFUSED[name](a, a.t(), torch.ones(()))


@on_devices
@pytest.mark.parametrize("pair", [("row", "row"), ("1x128", "128x128")], ids=" ".join)
def test_compile(device, pair):
    torch._dynamo.reset()
    f = torch.compile(twt.scaled_mm, fullgraph=True, backend="aot_eager", dynamic=True)
    for m in (24, 64):
        qa, qb, sb, right = operands(device, m, 128, 256, *pair)
        near(f(qa.data, qb.data.t(), qa.scale, RECIPES[pair[0]], sb, RECIPES[pair[1]]), right)


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_agrees_with_torch(pair):
    """Both results of equal operands, for recipes that torch takes."""
    qa, qb, sb, right = operands("cuda", 256, 512, 1024, *pair)
    arguments = (qa.data, qb.data.t(), qa.scale, RECIPES[pair[0]], sb, RECIPES[pair[1]])
    near(twt.scaled_mm(*arguments), right)
    try:
        theirs = functional.scaled_mm(*arguments)
    except (RuntimeError, ValueError, NotImplementedError) as why:
        pytest.skip(f"torch refuses it: {str(why)[:100]}")
    near(theirs, right)
    near(twt.scaled_mm(*arguments), theirs.double().cpu().numpy())
