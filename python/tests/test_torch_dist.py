# SPDX-License-Identifier: Apache-2.0
"""test_torch_dist.py  A group of torch.distributed's processes: gloo and host memory; with two GPUs
NCCL and CUDA tensors."""
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import torch.distributed  # noqa: E402
import torch.multiprocessing  # noqa: E402


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _rank(rank, ranks, port, backend):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NCCL_NVLS_ENABLE="0")
    device = torch.device("cuda", rank) if backend == "nccl" else torch.device("cpu")
    if backend == "nccl":
        torch.cuda.set_device(rank)
    torch.distributed.init_process_group(backend, rank=rank, world_size=ranks)
    from tilewright.dist import Group
    g = Group(gathered_bytes=1 << 20, timeout=60)
    generator = torch.Generator().manual_seed(1)

    def integers(*shape):
        return torch.randint(-2, 3, shape, generator=generator).to(torch.bfloat16).to(device)

    x, w, v = integers(16 * ranks, 32), integers(24, 32), integers(8, 16 * ranks)
    mine = x[16 * rank:16 * rank + 16].contiguous()
    for path in ("serial", "two-pieces", "pieces", "direct"):
        y = g.all_gather_matmul(mine, w.T, path=path)
        assert y.device == mine.device and y.dtype == torch.bfloat16
        part = slice(16 * rank, 16 * rank + 16)
        k = x[:, :16 * ranks].contiguous()[:, part].contiguous()
        z = g.matmul_reduce_scatter(k, v[:, part].T, out_dtype=torch.float32, path=path)
        u = g.matmul_all_reduce(k, v[:, part].T, out_dtype=torch.float32, path=path)
        if device.type == "cuda":
            torch.cuda.synchronize()
        g.check()
        assert torch.equal(y.double(), x.double() @ w.double().T)
        want = x[:, :16 * ranks].double() @ v.double().T
        assert torch.equal(u.double(), want)
        assert torch.equal(z.double(), want[part])
    g.close()
    torch.distributed.destroy_process_group()


def test_gloo():
    torch.multiprocessing.spawn(_rank, (2, _free_port(), "gloo"), 2)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two GPUs")
def test_nccl():
    torch.multiprocessing.spawn(_rank, (2, _free_port(), "nccl"), 2)


def test_the_comparison_with_torch_runs_in_host_memory(tmp_path):
    folder = os.environ.get("TW_SOURCE_DIR") or Path(__file__).parents[2]
    program = Path(folder) / "bench" / "dist_torch.py"
    file = tmp_path / "dist.json"
    done = subprocess.run(
        [sys.executable, program, "--host", "--quick", "--only", "32x24", "--limit", "120",
         "--port", str(_free_port()), "--json", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(file.read_text())["rows"]
    assert [r["layer"][0] for r in rows] == ["all-gather", "reduce-scatter"]
    for r in rows:
        assert set(r["us"]) == {"ours", "ours pieces", "ours two-pieces", "NCCL"}
        assert not any(r["wrong"].values()) and not r["failed"]


def test_a_group_needs_processes():
    import tilewright
    from tilewright.dist import Group
    with pytest.raises(tilewright.RefusedError, match="TW0903"):
        Group()


def _on_ranks(groups, work):
    import threading
    results = [None] * len(groups)

    def one(g):
        try:
            results[g.rank] = work(g)
        except Exception as error:  # noqa: BLE001
            results[g.rank] = error
            g.abort()

    threads = [threading.Thread(target=one, args=(g,)) for g in groups]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for r in results:
        if isinstance(r, Exception):
            raise r
    return results


def _integers(generator, *shape):
    """Of -1, 0 and 1: all sums of these tests are exact in bfloat16."""
    return torch.randint(-1, 2, shape, generator=generator).to(torch.bfloat16)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_gradients_equal_the_ones_of_one_device(ranks):
    from tilewright.dist import Group
    generator = torch.Generator().manual_seed(ranks)
    m, k, n = 8 * ranks, 8, 8
    x, w = _integers(generator, m, k), _integers(generator, n * ranks, k)
    v, bias = _integers(generator, k, n * ranks), _integers(generator, n * ranks).float()
    scale = _integers(generator, m, k)

    def one_device():
        a, b, c, d = (t.clone().requires_grad_() for t in (x, w, v, bias))
        y = (a.float() @ b.T.float() + d).to(a.dtype)
        (y @ c.T * scale).sum().backward()
        return [t.grad for t in (a, b, c, d)]

    want = one_device()

    def work(g):
        r = slice(m // ranks * g.rank, m // ranks * (g.rank + 1))
        c = slice(n * g.rank, n * (g.rank + 1))
        a = x[r].clone().requires_grad_()
        b, u, d = w[c].clone(), v[:, c].clone(), bias[c].clone()
        for t in (b, u, d):
            t.requires_grad_()
        y = g.all_gather_matmul(a, b.T, bias=d)
        z = g.matmul_reduce_scatter(y, u.T)
        (z * scale[r]).sum().backward()
        for got, right in ((a.grad, want[0][r]), (b.grad, want[1][c]), (u.grad, want[2][:, c]),
                           (d.grad, want[3][c])):
            assert torch.equal(got, right)
        b.grad = None
        total = g.matmul_all_reduce(x[:, :8].contiguous(), b[:8, :8].T.contiguous())
        total.sum().backward()
        assert torch.equal(b.grad[:8, :8], x[:, :8].float().sum(0).to(b.dtype).expand(8, 8))
        return True

    assert _on_ranks(Group.local(ranks, timeout=60), work) == [True] * ranks


def test_opcheck():
    import tilewright.torch_dist  # noqa: F401
    from tilewright.dist import Group
    g = Group.local(1)[0]
    generator = torch.Generator().manual_seed(5)
    x = _integers(generator, 6, 8).requires_grad_()
    w, v = (_integers(generator, n, 8).T.requires_grad_() for n in (16, 24))
    bias, other = (_integers(generator, n).float().requires_grad_() for n in (16, 24))
    ops = torch.ops.tilewright
    for biases in ([bias, other], [None, None]):
        torch.library.opcheck(ops.all_gather_matmul.default, (x, [w, v], biases),
                              {"group": g.name})
    for scatter in (True, False):
        torch.library.opcheck(ops.matmul_over_ranks.default, (x, w, bias),
                              {"group": g.name, "scatter": scatter, "out_dtype": torch.float32})
    g.close()


def test_one_of_two_weights_has_a_bias():
    from tilewright.dist import Group
    g = Group.local(1)[0]
    generator = torch.Generator().manual_seed(6)
    x = _integers(generator, 6, 8)
    w, v = (_integers(generator, n, 8) for n in (16, 24))
    bias = _integers(generator, 16).float().requires_grad_()
    y, z = g.all_gather_matmul(x, [w.T, v.T], bias=[bias, None])
    assert torch.equal(y.double(), x.double() @ w.T.double() + bias.double())
    assert torch.equal(z.double(), x.double() @ v.T.double())
    (y.sum() + z.sum()).backward()
    assert torch.equal(bias.grad, torch.full((16,), 6.0))
    g.close()


def test_modules_and_a_compiled_call():
    from tilewright.dist import Group
    from tilewright.torch_dist import ColumnParallelLinear, RowParallelLinear
    ranks, generator = 2, torch.Generator().manual_seed(4)
    x = _integers(generator, 16, 8)
    up, down = _integers(generator, 16, 8), _integers(generator, 8, 16)

    def work(g):
        first = ColumnParallelLinear(8, 16, g, dtype=torch.bfloat16)
        second = RowParallelLinear(16, 8, g, bias=False, dtype=torch.bfloat16)
        part = slice(8 * g.rank, 8 * g.rank + 8)
        with torch.no_grad():
            first.weight.copy_(up[part])
            second.weight.copy_(down[:, part])
        rows = slice(8 * g.rank, 8 * g.rank + 8)
        y = second(torch.relu(first(x[rows])))
        assert torch.equal(y, (torch.relu(x @ up.T) @ down.T)[rows])
        return True

    assert _on_ranks(Group.local(ranks, timeout=60), work) == [True] * ranks
    g = Group.local(1)[0]
    weight = up.clone().requires_grad_()
    call = torch.compile(lambda t: g.all_gather_matmul(t, weight.T), backend="aot_eager")
    y = call(x)
    assert torch.equal(y, x @ up.T)
    y.sum().backward()
    assert torch.equal(weight.grad, x.float().sum(0).to(x.dtype).expand(16, 8))


def test_an_activation_with_a_gradient_is_refused():
    import tilewright
    from tilewright.dist import Group
    g = Group.local(1)[0]
    x = torch.ones(8, 8, requires_grad=True)
    with pytest.raises(tilewright.RefusedError, match="TW0484.*activation"):
        g.all_gather_matmul(x, torch.ones(8, 8), activation="relu")
