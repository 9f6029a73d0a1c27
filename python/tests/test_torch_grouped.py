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


def compiled(f, **options):
    torch._dynamo.reset()
    return torch.compile(f, fullgraph=True, **{"backend": "aot_eager", **options})


@pytest.mark.parametrize("dynamic", [False, True])
def test_in_a_compiled_program(device, dynamic):
    w = normal(4, 48, 64, device=device, seed=1)
    step = compiled(lambda x, offs: twt.grouped_mm(x * 2, w.mT, offs=offs) + 1, dynamic=dynamic)
    for rows in (72, 90, 75):
        x = normal(rows, 64, device=device, seed=rows)
        d = step(x, ends(device))
        near(d[:ROWS], 2 * twt.grouped_mm(x, w.mT, offs=ends(device))[:ROWS] + 1)


def test_gradients_in_a_compiled_program(device):
    x = normal(80, 64, device=device).requires_grad_()
    w = normal(4, 48, 64, device=device, seed=1).requires_grad_()
    g = normal(80, 48, device=device, seed=2)
    step = compiled(lambda x, w: twt.grouped_mm(x, w.mT, offs=ends(device)))
    found = torch.autograd.grad(step(x, w), (x, w), g)
    right = torch.autograd.grad(twt.grouped_mm(x, w.mT, offs=ends(device)), (x, w), g)
    for d, r in zip(found, right):
        assert torch.equal(d, r)


def test_scales_in_a_compiled_program(device):
    kind = F.ScalingType
    w = normal(4, 128, 256, device=device, seed=1)
    qw = tw.quantize(w, "e4m3:128x128")

    def step(x):
        qx = twt.quantize(x, "e4m3:1x128")
        return twt.scaled_grouped_mm(qx.data, qw.data.mT, qx.scale, kind.BlockWise1x128, qw.scale,
                                     kind.BlockWise128x128, offs=ends(device))

    x = normal(ROWS, 256, device=device)
    assert torch.equal(compiled(step)(x), step(x))


def test_slots_and_k_in_a_compiled_program(device):
    a, w = normal(3, 24, 64, device=device), normal(3, 48, 64, device=device, seed=1)
    used = torch.tensor([24, 0, 7], dtype=torch.int32, device=device)
    step = compiled(lambda a: twt.grouped_gemm(a, w.mT, counts=used, zeros=True))
    d = step(a)
    assert d.shape == (3, 24, 48) and not d[1].any() and not d[2, 7:].any()
    near(d[2, :7], a[2, :7].double() @ w[2].double().T)
    x, y = normal(ROWS, 48, device=device), normal(ROWS, 64, device=device, seed=1)
    dw = compiled(lambda x: twt.grouped_gemm(x.T, y, ends=ends(device), out_dtype="float32"))(x)
    assert torch.equal(dw, twt.grouped_gemm(x.T, y, ends=ends(device), out_dtype="float32"))


@pytest.mark.parametrize("compile", [False, True])
def test_a_layer_without_a_gather(device, compile):
    """Tokens of a router: gathered, multiplied, weighted and scattered."""
    tokens, w = normal(36, 64, device=device), normal(4, 48, 64, device=device, seed=1)
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(3)).int().to(device)
    weight = torch.rand(ROWS, generator=torch.Generator().manual_seed(4)).to(device)

    def layer(tokens):
        return twt.grouped_gemm(tokens, w.mT, ends=ends(device), gather=order, choices=2,
                                scatter=order, row_weight=weight)

    d = (compiled(layer) if compile else layer)(tokens)
    assert d.shape == (ROWS, 48)
    for g, s in enumerate(pieces()):
        to = order[s].long()
        if len(to):
            near(d[to], tokens[to // 2].double() @ w[g].double().T * weight[to].double()[:, None])


@pytest.mark.parametrize("compile", [False, True])
def test_four_bit_weights(device, compile):
    m = torch.randn(64, 128, generator=torch.Generator().manual_seed(5))
    prepared = tw.prepare(m, to="int4", group=64)
    if device == "cuda":
        prepared = prepared.to(device)
    x = normal(24, 128, device=device)

    def f(x):
        return twt.gemm(x, prepared) * 2

    d = (compiled(f, dynamic=True) if compile else f)(x)
    assert torch.equal(d, tw.gemm(x, prepared) * 2)
    near(d, 2 * (x.double().cpu() @ m.double().T), 0.2)
    with pytest.raises(tw.RefusedError, match="gradient"):
        twt.gemm(x.clone().requires_grad_(), prepared)


OPERATOR = {
    "rows": lambda d: (normal(ROWS, 64, device=d), normal(4, 64, 48, device=d), ends(d)),
    "k": lambda d: (normal(48, ROWS, device=d), normal(ROWS, 64, device=d), ends(d)),
    "gradients": lambda d: (normal(ROWS, 64, device=d).requires_grad_(),
                            normal(4, 64, 48, device=d).requires_grad_(), ends(d)),
}


@pytest.mark.parametrize("name", OPERATOR)
def test_opcheck(device, name):
    torch.library.opcheck(torch.ops.tilewright.grouped_gemm.default, OPERATOR[name](device), {})


def test_refusals_come_while_tracing(device):
    x, w = normal(ROWS, 64, device=device), normal(4, 32, 48, device=device)
    with pytest.raises(Exception, match="TW0616"):
        compiled(lambda x: twt.grouped_mm(x, w, offs=ends(device)))(x)


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
