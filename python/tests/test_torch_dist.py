# SPDX-License-Identifier: Apache-2.0
"""test_torch_dist.py  A group of torch.distributed's processes: gloo and host memory; with two GPUs
NCCL and CUDA tensors."""
import os
import socket

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
    for path in ("serial", "two-pieces", "pieces"):
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


def test_a_group_needs_processes():
    import tilewright
    from tilewright.dist import Group
    with pytest.raises(tilewright.RefusedError, match="TW0903"):
        Group()
