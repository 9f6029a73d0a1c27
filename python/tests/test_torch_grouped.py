# SPDX-License-Identifier: Apache-2.0
"""test_torch_grouped.py  grouped_mm() and scaled_grouped_mm() against torch's and float64."""
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional
if not hasattr(F, "grouped_mm"):
    pytest.skip("grouped_mm came with a later torch", allow_module_level=True)

import tilewright as tw  # noqa: E402
import tilewright.torch as twt  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
ENDS = [16, 16, 48, 72]  # torch needs multiples of 16 bytes where groups divide k
ROWS = 72


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def normal(*shape, device, seed=0, dtype=torch.bfloat16):
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return x.to(dtype).to(device)


def ends(device, dtype=torch.int32):
    return torch.tensor(ENDS, dtype=dtype, device=device)


def pieces():
    return [slice(a, b) for a, b in zip([0, *ENDS], ENDS)]


def near(d, right, share=0.02):
    error = (d.double().cpu() - right.double().cpu()).abs().max()
    assert error <= share * right.abs().max().cpu(), error


def test_rows(device):
    x, w = normal(ROWS, 64, device=device), normal(4, 48, 64, device=device, seed=1)
    d = twt.grouped_mm(x, w.mT, offs=ends(device))
    assert d.dtype == x.dtype and d.device == x.device
    near(d, F.grouped_mm(x, w.mT, offs=ends(device)))
    near(d, torch.cat([x[s].double() @ w[g].double().T for g, s in enumerate(pieces())]))


def test_sizes_that_torch_does_not_take(device):
    """Any number of rows, and 64-bit numbers."""
    x, w = normal(70, 64, device=device), normal(3, 48, 64, device=device, seed=1)
    offs = torch.tensor([1, 38, 70], dtype=torch.int64, device=device)
    d = twt.grouped_mm(x, w.mT, offs=offs)
    right = [x[a:b].double() @ w[g].double().T for g, (a, b) in enumerate(((0, 1), (1, 38),
                                                                           (38, 70)))]
    near(d, torch.cat(right))


def test_k(device):
    dy, x = normal(ROWS, 48, device=device), normal(ROWS, 64, device=device, seed=1)
    d = twt.grouped_mm(dy.T, x, offs=ends(device), out_dtype=torch.float32)
    assert d.shape == (4, 48, 64) and not d[1].any()
    near(d, torch.stack([dy[s].double().T @ x[s].double() for s in pieces()]))


def test_without_offs(device):
    a, b = normal(3, 24, 64, device=device), normal(3, 48, 64, device=device, seed=1)
    near(twt.grouped_mm(a, b.mT), torch.bmm(a.double(), b.double().mT))


def test_gradients(device):
    x = normal(80, 64, device=device).requires_grad_()  # 8 rows of no group
    w = normal(4, 48, 64, device=device, seed=1).requires_grad_()
    g = normal(80, 48, device=device, seed=2)
    twt.grouped_mm(x, w.mT, offs=ends(device)).backward(g)
    assert not x.grad[ROWS:].any() and not w.grad[1].any()
    for i, s in enumerate(pieces()):
        if s.stop > s.start:
            near(x.grad[s], g[s].double() @ w[i].detach().double())
            near(w.grad[i], g[s].double().T @ x[s].detach().double())


def test_a_gradient_of_a_bias_is_refused(device):
    x, w = normal(ROWS, 64, device=device), normal(4, 64, 48, device=device)
    bias = normal(4, 48, device=device).requires_grad_()
    with pytest.raises(tw.RefusedError, match="gradient"):
        twt.grouped_mm(x, w, offs=ends(device), bias=bias)


def test_a_bias_of_each_group(device):
    x, w = normal(ROWS, 64, device=device), normal(4, 48, 64, device=device, seed=1)
    bias = normal(4, 48, device=device, seed=2)
    d = twt.grouped_mm(x, w.mT, offs=ends(device), bias=bias)
    near(d, torch.cat([x[s].double() @ w[g].double().T + bias[g].double()
                       for g, s in enumerate(pieces())]))


def test_in_a_compiled_program(device):
    x, w = normal(ROWS, 64, device=device), normal(4, 48, 64, device=device, seed=1)
    step = torch.compile(lambda x: twt.grouped_mm(x * 2, w.mT, offs=ends(device)) + 1,
                         backend="eager")
    near(step(x), 2 * twt.grouped_mm(x, w.mT, offs=ends(device)) + 1)


@pytest.mark.parametrize("recipe", ["RowWise", "BlockWise1x128"])
def test_scales(device, recipe):
    kind = F.ScalingType
    x, w = normal(ROWS, 256, device=device), normal(4, 128, 256, device=device, seed=1)
    of_w = kind.RowWise if recipe == "RowWise" else kind.BlockWise128x128
    word = "row" if recipe == "RowWise" else "1x128"
    qx = tw.quantize(x, f"e4m3:{word}")
    qw = tw.quantize(w, "e4m3:row" if word == "row" else "e4m3:128x128")
    sa, sb = ((qx.scale.reshape(-1), qw.scale.reshape(4, 128)) if word == "row"
              else (qx.scale, qw.scale))
    d = twt.scaled_grouped_mm(qx.data, qw.data.mT, sa, getattr(kind, recipe), sb, of_w,
                              offs=ends(device))
    assert d.dtype == torch.bfloat16
    near(d, torch.cat([x[s].double() @ w[g].double().T for g, s in enumerate(pieces())]), 0.06)


def test_block_formats_are_refused(device):
    kind = F.ScalingType
    q, w = normal(ROWS, 64, device=device).to(torch.float8_e4m3fn), normal(
        4, 64, 48, device=device).to(torch.float8_e4m3fn)
    s = torch.ones(ROWS, 2, dtype=torch.uint8, device=device)
    with pytest.raises(tw.RefusedError, match="block-scaled"):
        twt.scaled_grouped_mm(q, w, s, kind.BlockWise1x32, s, kind.BlockWise1x32,
                              offs=ends(device))
