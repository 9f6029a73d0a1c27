# SPDX-License-Identifier: Apache-2.0
"""test_torch.py  Tensors of torch: in host memory, and on a GPU if there is one. Skipped without
torch."""
import numpy as np
import pytest

import tilewright as tw
from helpers import check, values

torch = pytest.importorskip("torch")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def tensors(device, *shapes, dtype=torch.bfloat16, seed=0):
    rng = np.random.default_rng(seed)
    return [torch.tensor(values(rng, shape, "float32")).to(dtype).to(device) for shape in shapes]


def f64(x):
    return x.to(torch.float64).cpu().numpy()


def right(d, expected, relative=0.01):
    assert abs(f64(d) - expected).max() <= relative * max(1.0, abs(expected).max())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int8,
                                   torch.float8_e4m3fn], ids=str)
def test_types(device, dtype):
    a, w = tensors(device, (48, 64), (32, 64), dtype=dtype)
    d = tw.gemm(a, w.T)
    assert isinstance(d, torch.Tensor) and d.device == a.device
    right(d, f64(a) @ f64(w).T)
    out = torch.empty_like(d)
    assert tw.gemm(a, w.T, out=out) is out and torch.equal(out, d)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("forms", [("e4m3:row", "e4m3:row"), ("e4m3:1x128", "e4m3:128x128"),
                                   ("int8:row", "int8:row")], ids=" ".join)
def test_scales(device, forms):
    x, w = tensors(device, (64, 256), (128, 256))
    d = tw.gemm(tw.quantize(x, forms[0]), tw.quantize(w, forms[1]).T)
    right(d, f64(x) @ f64(w).T, 0.1)


@pytest.mark.parametrize("device", DEVICES)
def test_a_plan(device):
    a, w = tensors(device, (48, 64), (32, 64))
    p = tw.plan(a, w.T)
    right(p(a, w.T), f64(a) @ f64(w).T)
    right(tw.plan(torch.empty(48, 64, device="meta", dtype=torch.bfloat16),
                  torch.empty(64, 32, device="meta", dtype=torch.bfloat16), device="h200")
          and p(a, w.T), f64(a) @ f64(w).T)


def test_refusals():
    a, w = tensors("cpu", (48, 64), (32, 64))
    with pytest.raises(tw.RefusedError, match="gradient"):
        tw.gemm(a.clone().requires_grad_(), w.T)
    with pytest.raises(tw.RefusedError, match="stream"):
        tw.gemm(a, w.T, stream=0)


def test_freed_tensors():
    """A tensor whose storage was released is refused by its argument's name."""
    a, w, out = tensors("cpu", (48, 48), (48, 48), (48, 48))
    for call, name in ((lambda: tw.gemm(out, w), "a"), (lambda: tw.gemm(a, out), "b"),
                       (lambda: tw.gemm(a, w, out=out), "out")):
        out.untyped_storage().resize_(0)
        with pytest.raises(tw.RefusedError) as caught:
            call()
        assert caught.value.code == "TW0408" and caught.value.what.endswith(f" of {name}")


REMEMBERED = {
    "plain": lambda x, w: (x, w.T, {}),
    "bias, silu": lambda x, w: (x, w.T, {"bias": w[:, 0].contiguous(), "activation": "silu"}),
    "c": lambda x, w: (x, w.T, {"c": x[:, :w.shape[0]].contiguous(), "beta": 0.5}),
    "float32": lambda x, w: (x, w.T, {"out_dtype": torch.float32}),
    "float32 by name": lambda x, w: (x, w.T, {"out_dtype": "float32"}),
    "a batch": lambda x, w: (x.expand(3, *x.shape), w.T, {}),
    "k 127": lambda x, w: (x[:, :127], w[:, :127].T, {}),  # a workspace
    "row": lambda x, w: (tw.quantize(x, "e4m3:row"), tw.quantize(w, "e4m3:row").T, {}),
    "blocks": lambda x, w: (tw.quantize(x, "e4m3:1x128"), tw.quantize(w, "e4m3:128x128").T, {}),
    "4-bit": lambda x, w: (x, tw.prepare(w.cpu(), to="int4").to(x.device), {}),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", REMEMBERED)
def test_a_remembered_plan(device, form):
    """Calls after the first, of a plan that is remembered, have its bits, also with other elements,
    and each has its own result; a plan and tilewright.torch have these bits too."""
    import tilewright.torch as twt
    results = []
    for seed in (0, 1, 0):
        x, w = tensors(device, (64, 128), (64, 128), seed=seed)
        a, b, options = REMEMBERED[form](x, w)
        results.append(tw.gemm(a, b, **options))
        out = torch.empty_like(results[-1])
        tw.gemm(a, b, out=out, **{k: v for k, v in options.items() if k != "out_dtype"})
        plan = tw.plan(a, b, **options)
        run = {k: v for k, v in options.items() if k in ("c", "bias")}
        for d in (out, plan(a, b, **run), plan(a, b, **run), twt.gemm(a, b, **options)):
            assert d.dtype == results[-1].dtype and torch.equal(d, results[-1])
    first, other, again = results
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert len({d.data_ptr() for d in results}) == 3 and first.is_contiguous()


@pytest.mark.parametrize("device", DEVICES)
def test_refusals_after_a_plan_is_remembered(device):
    """Types, gradients and arguments count after a plan is remembered."""
    import tilewright.torch as twt
    a, w = tensors(device, (64, 128), (64, 128))
    parameter = torch.nn.Parameter(w)
    for _ in range(2):
        for dtype in (None, torch.float32, "float16", torch.bfloat16):
            d = tw.gemm(a, w.T, out_dtype=dtype)
            assert d.dtype == (torch.float16 if dtype == "float16" else dtype or torch.bfloat16)
        with torch.no_grad():
            assert not twt.gemm(a, parameter.T).requires_grad
        assert twt.gemm(a, parameter.T).requires_grad
        for refused in ({"out": d, "out_dtype": torch.float16}, {"alpha": "1"}, {"stream": "x"},
                        {"scale_a": d}, {"activation": "tan"}, {"beta": 1.0}):
            with pytest.raises(tw.RefusedError):
                tw.gemm(a, w.T, **refused)
        with pytest.raises(tw.RefusedError, match="gradient"):
            tw.gemm(a, parameter.T)
        with pytest.raises(tw.RefusedError, match="inner"):
            tw.gemm(a, w)


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
class TestGpu:
    def test_prepared_weights_move(self):
        """4-bit weights are prepared in host memory; their copy on a GPU gives its result."""
        x, w = tensors("cpu", (48, 256), (64, 256))
        on_host = tw.prepare(w, to="int4", group=64)
        there = on_host.to("cuda")
        assert there.data.is_cuda and there.shape == on_host.shape == (256, 64)
        right(tw.gemm(x.cuda(), there), f64(tw.gemm(x, on_host)))

    def test_results_belong_to_the_allocator(self):
        """A result is memory of torch's caching allocator: record_stream() keeps it from reuse."""
        a, w = tensors("cuda", (512, 512), (512, 512))
        side = torch.cuda.Stream()
        for _ in range(2):
            d = tw.gemm(a, w.T)
            d.record_stream(side)
            with torch.cuda.stream(side):
                torch.cuda._sleep(20_000_000)
            address = d.data_ptr()
            del d
            assert tw.gemm(a, w.T).data_ptr() != address
            torch.cuda.synchronize()

    def test_current_stream(self):
        a, w = tensors("cuda", (512, 512), (512, 512))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            d = tw.gemm(a, w.T)
        stream.synchronize()
        right(d, f64(a) @ f64(w).T)

    @pytest.mark.parametrize("k", [512, 511])
    def test_graph(self, k):
        """511: a leading dimension that TMA cannot address: the plan needs a workspace."""
        a, w = tensors("cuda", (64, k), (128, k))
        expected = tw.gemm(a, w.T)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = tw.gemm(a, w.T)
        for _ in range(3):
            d.zero_()
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(d, expected)

    @pytest.mark.parametrize("form", [None, "e4m3:row", "e4m3:1x128"])
    def test_graph_of_three_calls(self, form):
        """Three calls that depend on each other. Each replay has the bits of eager calls, also
        with other data at the captured addresses."""
        (x,) = tensors("cuda", (96, 256))
        layers = tensors("cuda", (256, 256), (256, 256), (128, 256), seed=1)
        weights = layers if form is None else [
            tw.quantize(w, "e4m3:row" if form == "e4m3:row" else "e4m3:128x128") for w in layers]

        def three(h):
            for w in weights:
                h = tw.gemm(h if form is None else tw.quantize(h, form), w.T,
                            activation="silu", alpha=0.125)
            return h

        side = torch.cuda.Stream()
        with torch.cuda.stream(side):  # a warm-up, which torch needs before a capture
            three(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = three(x)
        for seed in range(3):
            x.copy_(tensors("cuda", (96, 256), seed=seed)[0])
            captured.zero_()
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(captured, three(x)) and captured.abs().max() > 0

    @pytest.mark.parametrize("k", [512, 511])
    def test_two_streams_of_a_plan(self, k):
        """A plan is constant: two streams run it at once, each with its own workspace."""
        a, w = tensors("cuda", (256, k), (256, k))
        plan = tw.plan(a, w.T)
        expected = plan(a, w.T)
        streams = [torch.cuda.Stream() for _ in range(2)]
        torch.cuda.synchronize()
        results = [plan(a, w.T, stream=s) for _ in range(10) for s in streams]
        torch.cuda.synchronize()
        assert all(torch.equal(d, expected) for d in results)

    @pytest.mark.parametrize("as_number", [False, True])
    def test_a_given_stream_owns_its_memory(self, as_number):
        """The result and a workspace are allocated in the order of the stream that is given: busy
        current streams neither delay nor overwrite them."""
        a, w = tensors("cuda", (256, 511), (256, 511))  # 511: the plan needs a workspace
        q = tw.quantize(a, "e4m3:tensor")
        expected = tw.gemm(a, w.T)
        stream = torch.cuda.Stream()
        given = stream.cuda_stream if as_number else stream
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)  # 0.1 s of the current stream
        d = tw.gemm(a, w.T, stream=given)
        other = tw.quantize(a, "e4m3:tensor", stream=given)
        stream.synchronize()
        with torch.cuda.stream(stream):
            assert torch.equal(d, expected) and torch.equal(other.scale, q.scale)
        assert tw.gemm(a, w.T, stream=0).shape == d.shape
        torch.cuda.synchronize()

    @pytest.mark.skipif("torch.cuda.device_count() < 2", reason="one GPU")
    @pytest.mark.parametrize("form", REMEMBERED)
    def test_two_devices(self, form):
        """Tensors of a GPU that is not the current one: first calls, remembered plans, plans."""
        for i in (1, 0, 1):
            x, w = tensors(f"cuda:{i}", (64, 128), (64, 128))
            torch.cuda.set_device(0)  # tests of other libraries in this process leave another one
            a, b, options = REMEMBERED[form](x, w)
            run = {k: v for k, v in options.items() if k in ("c", "bias")}
            found, after = [], []
            for _ in range(2):
                found.append(tw.gemm(a, b, **options))
                after.append(torch.cuda.current_device())
            plan = tw.plan(a, b, **options)
            after.append(torch.cuda.current_device())
            found.append(plan(a, b, **run))
            after.append(torch.cuda.current_device())
            assert after == [0, 0, 0, 0]
            torch.cuda.synchronize(i)
            assert all(d.device == x.device and torch.equal(d, found[0]) for d in found)

    def test_nothing_to_compute(self):
        """No rows, no columns, no group: nothing is launched. K = 0 gives zeros."""
        a, w = tensors("cuda", (48, 64), (32, 64))
        assert tw.gemm(a[:0], w.T).shape == (0, 32) and tw.gemm(a, w[:0].T).shape == (48, 0)
        assert not tw.gemm(a[:, :0], w[:, :0].T).any()
        none = torch.zeros(0, dtype=torch.int32, device="cuda")
        out = torch.ones(48, 32, device="cuda", dtype=torch.bfloat16)
        tw.grouped_gemm(a, w.T.reshape(1, 64, 32)[:0], ends=none, out=out)
        assert (out == 1).all()

    def test_devices_are_not_mixed(self):
        (a,), (w,) = tensors("cuda", (48, 64)), tensors("cpu", (32, 64))
        with pytest.raises(tw.RefusedError, match="device of b"):
            tw.gemm(a, w.T)
        with pytest.raises(tw.RefusedError, match="device"):
            tw.gemm(a, a.T, device="h200")


def test_same_bits_as_numpy():
    a, w = tensors("cpu", (48, 64), (32, 64), dtype=torch.float16)
    check(tw.gemm(a, w.T).numpy(), f64(a), f64(w).T)
