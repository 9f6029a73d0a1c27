# SPDX-License-Identifier: Apache-2.0
"""test_dist.py  Groups of ranks in threads and in processes, with NumPy: results of one device,
refusals that name both ranks."""
import multiprocessing
import os
import tempfile
import threading

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.dist import Group

BF16 = ml_dtypes.bfloat16


def integers(rng, shape):
    return rng.integers(-2, 3, shape).astype(BF16)


def on_ranks(groups, work):
    """work(g) in a thread for each rank; the results, or the first exception."""
    results, errors = [None] * len(groups), [None] * len(groups)

    def one(g):
        try:
            results[g.rank] = work(g)
        except Exception as error:  # noqa: BLE001
            errors[g.rank] = error

    threads = [threading.Thread(target=one, args=(g,)) for g in groups]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results, errors


@pytest.mark.parametrize("path", ["serial", "two-pieces", "pieces", "direct"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_all_gather(ranks, path):
    rng = np.random.default_rng(ranks)
    x = integers(rng, (24 * ranks, 40))
    w = [integers(rng, (16 + 8 * r, 40)) for r in range(ranks)]
    bias = np.arange(16, dtype=np.float32)
    groups = Group.local(ranks, gathered_bytes=1 << 20, timeout=60)
    parts = np.split(x, ranks)

    def work(g):
        y = g.all_gather_matmul(parts[g.rank], w[g.rank].T, out_dtype="float32", path=path)
        z = g.all_gather_matmul(parts[g.rank], w[0].T, out_dtype="float32", bias=bias,
                                activation="relu", path=path)
        return y, z

    results, errors = on_ranks(groups, work)
    assert errors == [None] * ranks
    for r, (y, z) in enumerate(results):
        want = x.astype(np.float64) @ w[r].astype(np.float64).T
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(
            z, np.maximum(x.astype(np.float64) @ w[0].astype(np.float64).T + bias, 0))


def test_a_rank_alone_explains_a_call():
    x, w = np.ones((12, 40), BF16), np.ones((40, 16), BF16)
    groups = Group.local(3, gathered_bytes=1 << 20, timeout=1)
    gather = groups[1].explain("all_gather_matmul", x, w, rows=[20, 12, 0])
    assert (gather.path, gather.by_nccl) == ("pieces", False)
    assert gather.steps == [
        "copy engines send 12 rows from 20 to ranks 0, 2, during the GEMMs",
        "GEMM of 12 rows from 20", "wait for rank 2",
        "wait for rank 0, then GEMM of 20 rows from 0"]
    assert gather.why in str(gather)
    assert "Steps of rank 1 of 3, which have 20, 12, 0 rows" in str(gather)
    assert gather.record["schema"] == "tilewright.group_plan/1" and gather.record["m"] == 32
    assert gather.times["serial"]["us"] > 0 and gather.times["serial"]["measured_us"] is None
    sums = groups[2].explain("matmul_reduce_scatter", x, w, path="two-pieces")
    assert sums.path == "two-pieces" and "name" in sums.why and len(sums.steps) == 4
    assert groups[0].explain("matmul_all_reduce", x, w).record["later_us"] > 0
    for wrong in ({"operation": "scatter"}, {"operation": "matmul_all_reduce", "path": "gated"}):
        with pytest.raises(tw.RefusedError):
            groups[0].explain(x=x, w=w, **wrong)
    groups[0].check()  # the group goes on


@pytest.mark.parametrize("path", ["serial", "two-pieces", "pieces", "direct"])
def test_sums_over_ranks(path):
    ranks, m, n, k = 3, 32, 24, 48
    rng = np.random.default_rng(5)
    x, w = integers(rng, (m, k)), integers(rng, (k, n))
    want = x.astype(np.float64) @ w.astype(np.float64)
    groups = Group.local(ranks, gathered_bytes=1 << 20, timeout=60, path=path)
    ks = np.array_split(np.arange(k), ranks)

    def work(g):
        mine = np.ascontiguousarray(x[:, ks[g.rank]]), np.ascontiguousarray(w[ks[g.rank]])
        all_rows = g.matmul_all_reduce(*mine, out_dtype="float32")
        rows = g.matmul_reduce_scatter(*mine, out_dtype="float32")
        ragged = np.empty(((20, 0, 12)[g.rank], n), np.float32)
        assert g.matmul_reduce_scatter(*mine, rows=[20, 0, 12], out=ragged) is ragged
        return all_rows, rows, ragged

    results, errors = on_ranks(groups, work)
    assert errors == [None] * ranks
    for all_rows, _, _ in results:
        np.testing.assert_array_equal(all_rows, want)
    np.testing.assert_array_equal(np.concatenate([r[1] for r in results]), want)
    np.testing.assert_array_equal(np.concatenate([r[2] for r in results]), want)


def _process(file, rank, ranks, queue):
    rng = np.random.default_rng(9)
    x, w = integers(rng, (16, 32)), integers(rng, (32, 8))
    g = Group.shared(file, rank, ranks, gathered_bytes=1 << 20, timeout=60)
    half = slice(16 * rank, 16 * rank + 16)
    y = g.matmul_all_reduce(np.ascontiguousarray(x[:, half]), w[half], out_dtype="float32")
    queue.put((rank, bool((y == x.astype(np.float64) @ w.astype(np.float64)).all())))


def test_processes_share_a_file():
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as file:
        spawn = multiprocessing.get_context("spawn")
        queue = spawn.Queue()
        processes = [spawn.Process(target=_process, args=(file.name, r, 2, queue))
                     for r in range(2)]
        for p in processes:
            p.start()
        assert sorted(queue.get(timeout=120) for _ in processes) == [(0, True), (1, True)]
        for p in processes:
            p.join()
            assert p.exitcode == 0


def test_ranks_that_disagree_are_named():
    groups = Group.local(2, gathered_bytes=1 << 20, timeout=60)
    _, errors = on_ranks(groups, lambda g: g.matmul_all_reduce(
        np.zeros((16 + 8 * g.rank, 32), BF16), np.zeros((32, 8), BF16)))
    assert {e.code for e in errors} <= {"TW0901", "TW0906"}
    for e in errors:
        assert "M = 16" in str(e) and "M = 24" in str(e)
    with pytest.raises(tw.RefusedError, match="TW0906"):
        groups[0].check()


def test_a_late_rank_is_named_and_a_small_buffer_refused():
    groups = Group.local(2, gathered_bytes=1 << 20, timeout=0.2)
    x, w = np.zeros((16, 32), BF16), np.zeros((32, 8), BF16)
    with pytest.raises(tw.RefusedError, match="TW0905.*for rank 1 in call 1"):
        groups[0].matmul_all_reduce(x, w)
    small = Group.local(2, gathered_bytes=256)
    with pytest.raises(tw.RefusedError, match="TW0902"):
        small[0].matmul_all_reduce(x, w)
    small[0].abort()
    with pytest.raises(tw.RefusedError, match="rank 0 called abort"):
        small[1].check()


def test_impossible_arguments_are_refused():
    g = Group.local(1, gathered_bytes=1 << 20)[0]
    x, w = np.zeros((16, 32), BF16), np.zeros((32, 8), BF16)
    with pytest.raises(tw.RefusedError, match="TW0903"):
        g.matmul_reduce_scatter(x, w, rows=[8])
    with pytest.raises(tw.RefusedError, match="TW0903"):
        g.matmul_reduce_scatter(x, w, rows=[8, 8])
    with pytest.raises(tw.RefusedError, match="TW0486.*another"):
        g.matmul_all_reduce(x, w, path="another")
    with pytest.raises(tw.RefusedError, match="TW0484"):
        g.matmul_all_reduce(x, w, stream=3)
    with pytest.raises(tw.RefusedError, match="TW0904"):
        g.matmul_all_reduce(x[None], w[None], out=np.zeros((1, 16, 8), BF16))
    with pytest.raises(tw.RefusedError, match="TW0903"):
        Group.local(99)
    g.close()
    with pytest.raises(tw.RefusedError, match="TW0906"):
        g.matmul_all_reduce(x, w)


def test_several_weights_of_one_gathered_x():
    ranks, k = 2, 40
    rng = np.random.default_rng(9)
    x = integers(rng, (16 * ranks, k))
    q, key, v = (integers(rng, (n, k)) for n in (32, 8, 16))
    groups = Group.local(ranks, gathered_bytes=1 << 20, timeout=60)
    parts = np.split(x, ranks)
    bias = np.arange(8, dtype=np.float32)

    def work(g):
        return g.all_gather_matmul(parts[g.rank], [q.T, key.T, v.T], bias=[None, bias, None],
                                   out_dtype="float32")

    results, errors = on_ranks(groups, work)
    assert errors == [None] * ranks
    for got in results:
        assert isinstance(got, list)
        for y, w, b in zip(got, (q, key, v), (0, bias, 0)):
            np.testing.assert_array_equal(y, x.astype(np.float64) @ w.astype(np.float64).T + b)
    one = Group.local(1)[0]
    for call, code in ((lambda: one.all_gather_matmul(x, []), "TW0904"),
                       (lambda: one.all_gather_matmul(x, [q.T, v.T], bias=bias), "TW0904"),
                       (lambda: one.matmul_all_reduce(x, [q.T]), "TW0904")):
        with pytest.raises(tw.RefusedError, match=code):
            call()
