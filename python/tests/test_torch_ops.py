# SPDX-License-Identifier: Apache-2.0
"""test_torch_ops.py  tilewright.torch: operators, gradients, torch.compile, Linear. On CPU tensors,
and on a GPU if there is one. Skipped without torch."""
import numpy as np
import pytest

import tilewright as tw
from helpers import values

torch = pytest.importorskip("torch")
import tilewright.torch as twt  # noqa: E402  # pylint: disable=wrong-import-position

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
on_devices = pytest.mark.parametrize("device", DEVICES)
BF16 = torch.bfloat16
FORWARD = {None: lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu,
           "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
           "gelu_erf": torch.nn.functional.gelu}


def tensors(device, *shapes, dtype=BF16, seed=0, grad=False):
    rng = np.random.default_rng(seed)
    return [torch.tensor(values(rng, shape, "float32")).to(dtype).to(device).requires_grad_(grad)
            for shape in shapes]


def close(x, y, relative=0.01):
    x, y = x.detach().double(), y.detach().double()
    assert x.shape == y.shape
    assert (x - y).abs().max() <= relative * max(1.0, y.abs().max().item())


def expected(a, b, c=None, bias=None, alpha=1.0, beta=None, activation=None, gate=None):
    """The result in float64, by functions of torch that have gradients."""
    x = alpha * (a.double() @ b.double())
    if bias is not None:
        x = x + bias.double()
    if c is not None:
        x = x + (1.0 if beta is None else beta) * c.double()
    act = FORWARD[activation]
    if gate is None:
        return act(x)
    half = x.shape[-1] // 2
    g, u = (x[..., :half], x[..., half:]) if gate == "split" else (x[..., ::2], x[..., 1::2])
    return act(g) * u


@on_devices
@pytest.mark.parametrize("dtype", [BF16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("shapes", [((48, 64), (64, 32)), ((2, 48, 64), (64, 32)),
                                    ((2, 48, 64), (2, 64, 32)), ((1, 64), (64, 32))], ids=str)
def test_operator(device, dtype, shapes):
    a, b = tensors(device, *shapes, dtype=dtype)
    d = torch.ops.tilewright.gemm(a, b)
    assert d.dtype == dtype and d.device == a.device
    close(d, expected(a, b))
    assert torch.equal(twt.gemm(a, b), d)
    out = torch.empty_like(d)
    torch.ops.tilewright.gemm.out(a, b, out=out)
    assert torch.equal(out, d)
    assert twt.gemm(a, b, out=out.zero_()) is out and torch.equal(out, d)


@on_devices
@pytest.mark.parametrize("activation", [None, "relu", "silu", "gelu", "gelu_erf"])
@pytest.mark.parametrize("gate", [None, "split"])
def test_epilogue(device, activation, gate):
    if gate and activation is None:
        pytest.skip("a gate has an activation")
    a, w, v = tensors(device, (48, 64), (32, 64), (32,))
    options = {"bias": v, "activation": activation, "gate": gate}
    close(twt.gemm(a, w.t(), **options), expected(a, w.t(), **options))


@on_devices
@pytest.mark.parametrize("forms", [("e4m3:row", "e4m3:row"), ("e4m3:1x128", "e4m3:128x128"),
                                   ("e4m3:tensor", "e4m3:tensor"), ("int8:row", "int8:row"),
                                   ("nvfp4", "nvfp4"), ("mxfp8", "mxfp8"), ("mxfp4", "mxfp4")],
                         ids=" ".join)
def test_quantised(device, forms):
    if device == "cuda" and forms[0] in ("nvfp4", "mxfp8", "mxfp4"):
        pytest.skip("its kernels need a Blackwell GPU")
    x, w = tensors(device, (64, 256), (128, 256))
    qx, qw = twt.quantize(x, forms[0]), twt.quantize(w, forms[1])
    same = tw.quantize(x, forms[0])
    assert torch.equal(qx.data.view(torch.uint8), same.data.view(torch.uint8))
    assert qx.scale.stride() == same.scale.stride() and qx.order == same.order
    d = twt.gemm(qx, qw.T)
    assert torch.equal(d, tw.gemm(qx, qw.T))
    close(d, expected(x, w.t()), 0.4 if "4" in forms[0][-2:] else 0.1)


# ---- torch.library's own checks ------------------------------------------------------------------

def weights(device):
    """a (m, k), and b (k, n) as the transpose of weights."""
    a, w = tensors(device, (24, 64), (32, 64), grad=True)
    return [a, w.detach().t().requires_grad_()]


CHECKS = {
    "plain": lambda d: (torch.ops.tilewright.gemm.default,
                        tensors(d, (24, 64), (64, 32), grad=True), {}),
    "float16": lambda d: (torch.ops.tilewright.gemm.default,
                          tensors(d, (2, 24, 64), (64, 32), dtype=torch.float16, grad=True), {}),
    "transposed": lambda d: (torch.ops.tilewright.gemm.default,
                             [x.t() for x in tensors(d, (64, 24), (32, 64))], {}),
    "bias": lambda d: (torch.ops.tilewright.gemm.default, weights(d),
                       {"bias": tensors(d, (32,), grad=True)[0], "activation": "gelu"}),
    "c": lambda d: (torch.ops.tilewright.gemm.default, tensors(d, (24, 64), (64, 32), grad=True),
                    {"c": tensors(d, (24, 32), grad=True)[0], "beta": 0.5, "alpha": 2.0,
                     "out_dtype": torch.float32}),
    "gate": lambda d: (torch.ops.tilewright.gemm.default, weights(d),
                       {"activation": "silu", "gate": "split"}),
    "out": lambda d: (torch.ops.tilewright.gemm.out, tensors(d, (24, 64), (64, 32)),
                      {"out": torch.zeros(24, 32, dtype=BF16, device=d)}),
    "row": lambda d: (torch.ops.tilewright.quantize.default,
                      (*tensors(d, (24, 256)), "e4m3", "row"), {}),
    "1x128": lambda d: (torch.ops.tilewright.quantize.default,
                        (*tensors(d, (24, 256)), "e4m3", "torch:1x128"), {}),
    "128x128": lambda d: (torch.ops.tilewright.quantize.default,
                          (*tensors(d, (256, 256)), "e4m3", "torch:128x128"), {}),
}


@on_devices
@pytest.mark.parametrize("name", CHECKS)
def test_opcheck(device, name):
    op, args, kwargs = CHECKS[name](device)
    torch.library.opcheck(op, tuple(args), kwargs)


@on_devices
def test_opcheck_of_scales(device):
    x, w = tensors(device, (24, 256), (128, 256))
    qx, qw = tw.quantize(x, "e4m3:1x128"), tw.quantize(w, "e4m3:128x128")
    options = {"scale_a": qx.scale, "scale_b": qw.scale, "scale_a_as": qx.order,
               "scale_b_as": qw.order}
    # test_schema multiplies its arguments, which torch cannot in float8.
    torch.library.opcheck(torch.ops.tilewright.gemm.default, (qx.data, qw.data.t()), options,
                          test_utils=("test_autograd_registration", "test_faketensor",
                                      "test_aot_dispatch_dynamic"))


# ---- Gradients -----------------------------------------------------------------------------------

@on_devices
@pytest.mark.parametrize("dtype", [BF16, torch.float16], ids=str)
@pytest.mark.parametrize("activation", [None, "relu", "silu", "gelu", "gelu_erf"])
@pytest.mark.parametrize("gate", [None, "split", "interleaved"])
def test_gradients(device, dtype, activation, gate):
    if gate and activation is None:
        pytest.skip("a gate has an activation")
    a, w, v = tensors(device, (16, 32), (64, 32), (64,), dtype=dtype, grad=True)
    options = {"activation": activation, "gate": gate}
    y = twt.gemm(a, w.t(), bias=v, out_dtype=torch.float32, **options)
    g = torch.randn(y.shape, generator=torch.Generator().manual_seed(1)).to(device)
    found = torch.autograd.grad(y, (a, w, v), g)
    right = torch.autograd.grad(expected(a, w.t(), bias=v, **options), (a, w, v), g.double())
    for x, r in zip(found, right):
        assert x.dtype == dtype
        close(x, r, 0.02)


@on_devices
@pytest.mark.parametrize("shapes", [((2, 16, 32), (32, 64)), ((16, 32), (2, 32, 64)),
                                    ((2, 16, 32), (2, 32, 64)),
                                    ((1, 16, 32), (3, 32, 64))], ids=str)
def test_gradients_of_batches(device, shapes):
    a, b = tensors(device, *shapes, grad=True)
    y = twt.gemm(a, b, alpha=0.5)
    for x, r in zip(torch.autograd.grad(y.float().sum(), (a, b)),
                    torch.autograd.grad(expected(a, b, alpha=0.5).sum(), (a, b))):
        close(x, r, 0.02)


@on_devices
def test_gradients_of_c(device):
    a, b, c = tensors(device, (16, 32), (32, 64), (16, 64), grad=True)
    options = {"c": c, "beta": 0.5, "activation": "silu"}
    y = twt.gemm(a, b, out_dtype=torch.float32, **options)
    for x, r in zip(torch.autograd.grad(y.sum(), (a, b, c)),
                    torch.autograd.grad(expected(a, b, **options).sum(), (a, b, c))):
        close(x, r, 0.02)


@on_devices
@pytest.mark.parametrize("options", [{}, {"alpha": 0.5}], ids=str)
def test_gradcheck(device, options):
    """Small multiples of 1/8 are exact in tf32, and a GEMM is linear in each operand."""
    a, b = ((torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(2)) / 8)
            .to(device).requires_grad_() for shape in ((3, 4), (4, 8)))
    assert torch.autograd.gradcheck(lambda a, b: twt.gemm(a, b, **options), (a, b), eps=0.25,
                                    atol=1e-4, rtol=1e-4)


@on_devices
def test_second_gradient(device):
    a, b = tensors(device, (16, 32), (32, 64), grad=True)
    (ga,) = torch.autograd.grad(twt.gemm(a, b, activation="silu", out_dtype=torch.float32).sum(),
                                a, create_graph=True)
    (found,) = torch.autograd.grad(ga.float().square().sum(), b)
    (ra,) = torch.autograd.grad(expected(a, b, activation="silu").sum(), a, create_graph=True)
    (right,) = torch.autograd.grad(ra.square().sum(), b)
    close(found, right, 0.05)


def test_gradient_only_if_it_is_required():
    a, b = tensors("cpu", (16, 32), (32, 64), grad=True)
    with torch.no_grad():
        assert not tw.gemm(a, b).requires_grad and not twt.gemm(a, b).requires_grad
    assert twt.gemm(a, b).requires_grad and not twt.gemm(a.detach(), b.detach()).requires_grad
    y = twt.gemm(a.detach(), b)
    (g,) = torch.autograd.grad(y.sum(), b)
    close(g, a.double().t() @ torch.ones(16, 64).double(), 0.02)


REFUSED = {
    "gradient of scales": lambda a, b: twt.gemm(
        a.detach().to(torch.float8_e4m3fn).requires_grad_(), b.detach().to(torch.float8_e4m3fn)),
    "gradient of out": lambda a, b: twt.gemm(a, b, out=torch.empty(16, 64, dtype=BF16)),
    "out_dtype and out": lambda a, b: twt.gemm(
        a.detach(), b.detach(), out=torch.empty(16, 64, dtype=BF16), out_dtype="f32"),
    "inner sizes": lambda a, b: twt.gemm(a, b.t()),
    "inner sizes of the operator": lambda a, b: torch.ops.tilewright.gemm(a, b.t()),
    "activation": lambda a, b: twt.gemm(a, b, activation="tanh"),
    "a word of a type": lambda a, b: twt.gemm(a, b, out_dtype="bf17"),
    "plain gemm with a gradient": tw.gemm,
    "a stream": lambda a, b: tw.gemm(a.detach(), b.detach(), stream=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    a, b = tensors("cpu", (16, 32), (32, 64), grad=True)
    with pytest.raises(tw.RefusedError) as caught:
        REFUSED[name](a, b)
    assert "tw_" not in str(caught.value)


# ---- torch.compile -------------------------------------------------------------------------------

def compiled(f, **options):
    torch._dynamo.reset()
    return torch.compile(f, fullgraph=True, **{"backend": "aot_eager", **options})


@on_devices
@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(device, dynamic):
    """With dynamic shapes one program serves every M; the first M may have another one."""
    from torch._dynamo.testing import CompileCounterWithBackend
    w, v = tensors(device, (32, 64), (32,))
    counter = CompileCounterWithBackend("aot_eager")
    g = compiled(lambda x: twt.gemm(x * 2, w.t(), bias=v, activation="gelu") + 1, dynamic=dynamic,
                 backend=counter)
    for m in (24, 48, 17, 130):
        (x,) = tensors(device, (m, 64), seed=m)
        close(g(x), expected(x * 2, w.t(), bias=v, activation="gelu") + 1)
    if dynamic:
        assert counter.frame_count <= 2
    else:
        assert counter.frame_count == 4


@on_devices
def test_compile_of_gradients(device):
    w, v = tensors(device, (32, 64), (32,), grad=True)
    g = compiled(lambda x: twt.gemm(x, w.t(), bias=v, activation="silu", out_dtype=torch.float32),
                 dynamic=True)
    for m in (24, 40):
        (x,) = tensors(device, (m, 64), seed=m, grad=True)
        found = torch.autograd.grad(g(x).sum(), (x, w, v))
        right = torch.autograd.grad(expected(x, w.t(), bias=v, activation="silu").sum(), (x, w, v))
        for y, r in zip(found, right):
            close(y, r, 0.02)


@on_devices
@pytest.mark.parametrize("forms", [("e4m3:row", "e4m3:row"), ("e4m3:1x128", "e4m3:128x128")],
                         ids=" ".join)
def test_compile_of_quantised(device, forms):
    (w,) = tensors(device, (128, 256))
    qw = tw.quantize(w, forms[1])
    g = compiled(lambda x: twt.gemm(twt.quantize(x, forms[0]), qw.T), dynamic=True)
    for m in (24, 63, 130):
        (x,) = tensors(device, (m, 256), seed=m)
        assert torch.equal(g(x), tw.gemm(tw.quantize(x, forms[0]), qw.T))


@on_devices
def test_compile_of_out(device):
    a, b = tensors(device, (24, 64), (64, 32))

    def f(a, b, out):
        twt.gemm(a, b, out=out)
        return out + 1

    out = torch.zeros(24, 32, dtype=BF16, device=device)
    close(compiled(f)(a, b, out), expected(a, b) + 1)
    close(out, expected(a, b))


def test_refusals_come_while_tracing():
    a, b = tensors("cpu", (24, 64), (32, 64))
    with pytest.raises(Exception, match="TW0616"):
        compiled(twt.gemm)(a, b)


@on_devices
def test_vmap(device):
    a, b = tensors(device, (3, 24, 64), (64, 32))
    close(torch.func.vmap(lambda a: torch.ops.tilewright.gemm(a, b))(a), expected(a, b))


# ---- Linear --------------------------------------------------------------------------------------

@on_devices
@pytest.mark.parametrize("options", [{}, {"activation": "gelu"}, {"activation": "silu",
                                                                   "gate": "split"}], ids=str)
@pytest.mark.parametrize("shape", [(24, 64), (2, 12, 64), (64,), (2, 3, 4, 64)], ids=str)
def test_linear(device, options, shape):
    torch.manual_seed(0)
    layer = twt.Linear(64, 32, device=device, dtype=BF16, **options)
    plain = torch.nn.Linear(64, 32, device=device, dtype=BF16)
    plain.load_state_dict(layer.state_dict())
    (x,) = tensors(device, shape, grad=True)
    y = layer(x)
    right = expected(x.reshape(-1, 64), plain.weight.t(), bias=plain.bias, **options)
    close(y, right.reshape(*shape[:-1], -1))
    y.float().sum().backward()
    right.sum().backward()
    close(layer.weight.grad, plain.weight.grad, 0.03)
    close(layer.bias.grad, plain.bias.grad, 0.03)
    assert ("activation" in repr(layer)) == ("activation" in options)


def test_training():
    """The loss of a network falls to a tenth."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(twt.Linear(32, 64, dtype=BF16, activation="gelu"),
                              twt.Linear(64, 8, dtype=BF16))
    x = torch.randn(64, 32).to(BF16)
    target = (x[:, :8] * 0.5).float()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        loss = (net(x).float() - target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0], losses[::10]


# ---- On a GPU ------------------------------------------------------------------------------------

@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
class TestGpu:
    @pytest.mark.parametrize("k", [512, 511])
    def test_reduce_overhead(self, k):
        """511: a leading dimension that TMA cannot address: the plan needs a workspace, which the
        compiled program's pool owns."""
        w = tensors("cuda", (128, k))[0]
        g = compiled(lambda x: twt.gemm(x, w.t()).relu(), backend="inductor",
                     mode="reduce-overhead")
        for seed in range(5):
            (x,) = tensors("cuda", (64, k), seed=seed)
            close(g(x).clone(), expected(x, w.t()).relu())

    def test_graph_of_operators(self):
        a, b = tensors("cuda", (64, 512), (512, 128))
        right = torch.ops.tilewright.gemm(a, b)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = torch.ops.tilewright.gemm(a, b)
        for _ in range(3):
            d.zero_()
            graph.replay()
            assert torch.equal(d, right)

    def test_two_streams(self):
        a, b = tensors("cuda", (512, 512), (512, 512))
        right = twt.gemm(a, b)
        streams = [torch.cuda.Stream() for _ in range(2)]
        torch.cuda.synchronize()
        results = []
        for _ in range(10):
            for s in streams:
                with torch.cuda.stream(s):
                    results.append(twt.gemm(a, b))
        torch.cuda.synchronize()
        assert all(torch.equal(d, right) for d in results)

    @pytest.mark.skipif("torch.cuda.device_count() < 2", reason="one GPU")
    def test_two_devices(self):
        for i in (1, 0, 1):
            a, b = tensors(f"cuda:{i}", (64, 512), (512, 128))
            close(twt.gemm(a, b), expected(a, b))
            assert torch.cuda.current_device() == 0

    @pytest.mark.parametrize("form", ["mxfp8", "mxfp4", "nvfp4", "e4m3:1x128", "int8:row"])
    @pytest.mark.parametrize("shape", [(64, 256), (63, 80), (3, 130, 96)], ids=str)
    @pytest.mark.parametrize("dtype", [BF16, torch.float16, torch.float32], ids=str)
    def test_quantise_as_the_cpu(self, form, shape, dtype):
        """Bit for bit."""
        (x,) = tensors("cuda", shape, dtype=dtype)
        found, right = tw.quantize(x, form), tw.quantize(x.cpu(), form)
        for y, r in ((found.data, right.data), (found.scale, right.scale),
                     (found.level, right.level)):
            if r is not None:
                assert y.is_cuda and y.shape == r.shape
                # One dimension: of one column torch keeps the strides, and refuses the view.
                assert torch.equal(y.cpu().contiguous().reshape(-1).view(torch.uint8),
                                   r.contiguous().reshape(-1).view(torch.uint8))

    def test_device_is_refused(self):
        a, b = tensors("cuda", (64, 512), (512, 128))
        for f in (tw.gemm, twt.gemm, lambda a, b, device: torch.ops.tilewright.gemm(
                a, b, device_name=device)):
            with pytest.raises(tw.RefusedError, match="device"):
                f(a, b, device="h200")
