#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dist_torch.py  GEMMs over several GPUs, and torch's in the same processes: needs torch and two
or more GPUs of one host with NVLink.

    bench/dist_torch.py [--ranks P] [--quick] [--only NAME,...] [--json FILE]

Contenders: our group (the path that a call takes by default, and each path of --paths);
torch's fused operators (symm_mem.fused_all_gather_matmul, fused_matmul_reduce_scatter); a pipeline
of torch.mm and copy engines in 20 lines; NCCL with torch.mm. Each in turn in rounds, bursts of 20
calls after a barrier; the slower rank's median. Calls of M up to 2048 also as CUDA graphs of two
calls, and the faster one counts. Results of integers are compared with float32 within two
roundings. Ratio: torch's time / our fastest.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm
import torch.multiprocessing

import tilewright.dist

# operation, name, M, N and K of a rank: the layers of `tilewright bench dist`
LAYERS = [
    ("all-gather", "70B qkv", 64, 5120, 8192), ("all-gather", "70B qkv", 512, 5120, 8192),
    ("all-gather", "70B qkv", 2048, 5120, 8192), ("all-gather", "70B qkv", 8192, 5120, 8192),
    ("all-gather", "70B gate+up", 2048, 28672, 8192),
    ("all-gather", "405B qkv", 4096, 9216, 16384), ("all-gather", "8B qkv", 8192, 3072, 4096),
    ("reduce-scatter", "70B o", 64, 8192, 4096), ("reduce-scatter", "70B o", 512, 8192, 4096),
    ("reduce-scatter", "70B o", 2048, 8192, 4096), ("reduce-scatter", "70B o", 8192, 8192, 4096),
    ("reduce-scatter", "70B down", 2048, 8192, 14336),
    ("reduce-scatter", "405B o", 4096, 16384, 8192), ("reduce-scatter", "8B o", 8192, 4096, 2048)]
WARM, CALLS = 4, 20


def integers(shape, seed):
    g = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=g, device="cuda").to(torch.bfloat16)


class Layer:
    """Operands of a rank and its contenders: functions that return the rank's result."""

    def __init__(self, layer, group, name, paths):
        self.operation, _, self.m, self.n, self.k = layer
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.rows = self.m // self.ranks
        self.group, self.name = group, name
        self.side, self.turn = torch.cuda.Stream(), 0
        gathers = self.operation == "all-gather"
        self.a = integers((self.rows if gathers else self.m, self.k), 100 + self.rank)
        self.b = integers((self.n, self.k), 200 + self.rank).t()
        out = (self.m if gathers else self.rows, self.n)
        self.out = torch.empty(out, device="cuda", dtype=torch.bfloat16)
        whole = (self.m, self.k) if gathers else (self.m, self.n)
        self.whole = torch.empty(whole, device="cuda", dtype=torch.bfloat16)
        self.buffers = [symm.empty(*whole, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        self.handles = [symm.rendezvous(x, name) for x in self.buffers]
        self.contenders = {"ours": self.ours(None), **{f"ours {p}": self.ours(p) for p in paths},
                           "NCCL": self.nccl, "fused": self.fused,
                           "pipeline": self.push if gathers else self.pull}

    def part(self, x, rank):
        return x[rank * self.rows:(rank + 1) * self.rows]

    def ours(self, path):
        method = (self.group.all_gather_matmul if self.operation == "all-gather"
                  else self.group.matmul_reduce_scatter)
        return lambda: method(self.a, self.b, out=self.out, path=path)

    def nccl(self):
        if self.operation == "all-gather":
            dist.all_gather_into_tensor(self.whole, self.a)
            return torch.mm(self.whole, self.b, out=self.out)
        torch.mm(self.a, self.b, out=self.whole)
        dist.reduce_scatter_tensor(self.out, self.whole)
        return self.out

    def fused(self):
        if self.operation == "all-gather":
            return torch.ops.symm_mem.fused_all_gather_matmul(
                self.a, [self.b], 0, self.name, return_A=False)[1][0]
        return torch.ops.symm_mem.fused_matmul_reduce_scatter(self.a, self.b, "sum", 0, self.name)

    def push(self):
        """The shard goes to the peers by copy engines while it is multiplied here."""
        i = self.turn = 1 - self.turn
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        with torch.cuda.stream(self.side):
            for step in range(1, self.ranks):
                to = (self.rank - step) % self.ranks
                theirs = self.handles[i].get_buffer(to, (self.m, self.k), torch.bfloat16)
                self.part(theirs, self.rank).copy_(self.a)
            self.handles[i].barrier(channel=i)
        torch.mm(self.a, self.b, out=self.part(self.out, self.rank))
        here.wait_stream(self.side)
        for step in range(1, self.ranks):
            r = (self.rank + step) % self.ranks
            torch.mm(self.part(self.buffers[i], r), self.b, out=self.part(self.out, r))
        return self.out

    def pull(self):
        """The peers' rows first; copy engines fetch this rank's while its own are multiplied."""
        i = self.turn = 1 - self.turn
        here = torch.cuda.current_stream()
        for step in range(1, self.ranks):
            r = (self.rank + step) % self.ranks
            torch.mm(self.part(self.a, r), self.b, out=self.part(self.buffers[i], r))
        self.side.wait_stream(here)
        with torch.cuda.stream(self.side):
            self.handles[i].barrier(channel=i)
            for step in range(1, self.ranks):
                r = (self.rank - step) % self.ranks
                theirs = self.handles[i].get_buffer(r, (self.m, self.n), torch.bfloat16)
                self.part(self.whole, r).copy_(self.part(theirs, self.rank))
        torch.mm(self.part(self.a, self.rank), self.b, out=self.out)
        here.wait_stream(self.side)
        for step in range(1, self.ranks):
            self.out.add_(self.part(self.whole, (self.rank - step) % self.ranks))
        return self.out

    def wanted(self):
        """float32 of this rank's result, and the error that bf16 may have."""
        if self.operation == "all-gather":
            dist.all_gather_into_tensor(self.whole, self.a)
            exact = self.whole.float() @ self.b.float()
            return exact, exact.abs() / 128 + 1e-3
        part = self.a.float() @ self.b.float()
        exact, size = (torch.empty(self.rows, self.n, device="cuda") for _ in range(2))
        dist.reduce_scatter_tensor(exact, part)
        dist.reduce_scatter_tensor(size, part.abs())
        return exact, (size + exact.abs()) * self.ranks / 128 + 1e-3

    def wrong(self, contender, exact, room):
        self.out.fill_(math.nan)
        for _ in range(3):
            got = contender()
        torch.cuda.synchronize()
        bad = (~((got.float() - exact).abs() <= room)).sum()
        dist.all_reduce(bad)
        return int(bad)


def captured(contender):
    """A CUDA graph of two calls, for the two buffers."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            contender()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        contender()
        contender()
    return graph.replay


def burst(run, calls_of_run):
    """Microseconds of a call, of the slower rank."""
    for _ in range(WARM):
        run()
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(CALLS // calls_of_run):
        run()
    end.record()
    torch.cuda.synchronize()
    us = torch.tensor([start.elapsed_time(end) * 1e3 / CALLS], device="cuda")
    dist.all_reduce(us, op=dist.ReduceOp.MAX)
    return us.item()


def measure(layer, rounds):
    exact, room = layer.wanted()
    row, runs = {"wrong": {}, "us": {}}, {}
    for name, contender in layer.contenders.items():
        row["wrong"][name] = layer.wrong(contender, exact, room)
        runs[name, "eager"] = contender, 1
        if layer.m <= 2048:
            runs[name, "graph"] = captured(contender), 2
    del exact, room
    heat = time.perf_counter()
    while time.perf_counter() - heat < 0.3:  # clocks settle
        layer.nccl()
        torch.cuda.synchronize()
    dist.barrier()
    samples, names = {key: [] for key in runs}, list(runs)
    for i in range(rounds):
        for key in names[i % len(names):] + names[:i % len(names)]:
            samples[key].append(burst(*runs[key]))
    for (name, how), us in samples.items():
        median = statistics.median(us)
        if name not in row["us"] or median < row["us"][name][0]:
            row["us"][name] = (median, how, us)
    return row


def work(rank, ranks, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks,
                            device_id=torch.device("cuda", rank))
    name = dist.group.WORLD.group_name
    largest = max(2 * m * max(n if op == "reduce-scatter" else k, 1) * 2
                  for op, _, m, n, k in LAYERS)
    group = tilewright.dist.Group(gathered_bytes=largest)
    rows, ratios = [], {"fused": [], "pipeline": [], "NCCL": []}
    for layer in LAYERS:
        if options.only and layer[1] not in options.only:
            continue
        case = Layer(layer, group, name, options.paths)
        row = measure(case, 3 if options.quick else 7)
        group.check()
        ours = min(us for n, (us, _, _) in row["us"].items() if n.startswith("ours"))
        ratio = {n: row["us"][n][0] / ours for n in ratios}
        for n, x in ratio.items():
            if layer[2] >= 512:
                ratios[n].append(x)
        rows.append({"layer": layer, **row, "ratio": ratio})
        if rank == 0:
            times = [f"{n} {us:.1f} ({how})" for n, (us, how, _) in row["us"].items()]
            times += [f"{n} / ours {x:.3f}" for n, x in ratio.items()]
            wrong = f"; WRONG {row['wrong']}" if any(row["wrong"].values()) else ""
            print(f"{layer[0]:14} {layer[1]:12} {layer[2]}x{layer[3]}x{layer[4]}: "
                  f"{', '.join(times)}{wrong}", flush=True)
        del case
        torch.cuda.empty_cache()
    if rank == 0:
        for n, x in ratios.items():
            if x:
                print(f"M >= 512, {n} / ours: geometric mean "
                      f"{math.exp(statistics.fmean(map(math.log, x))):.3f}, smallest {min(x):.3f}")
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0),
                           "ranks": ranks, "rows": rows}, file)
    group.close()
    dist.barrier()
    dist.destroy_process_group()
    if any(any(r["wrong"].values()) for r in rows):
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ranks", type=int, default=0, help="GPUs (default: all)")
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 7")
    parser.add_argument("--only", type=lambda x: x.split(","), help="names of layers")
    parser.add_argument("--paths", type=lambda x: x.split(","), default=["pieces", "two-pieces"],
                        help="further paths of our group (pieces,two-pieces)")
    parser.add_argument("--json", help="a file for all samples")
    parser.add_argument("--port", type=int, default=29517)
    options = parser.parse_args()
    ranks = options.ranks or torch.cuda.device_count()
    if torch.cuda.device_count() < max(ranks, 2):
        print(f"{torch.cuda.device_count()} GPUs; {max(ranks, 2)} needed")
        sys.exit(77)
    torch.multiprocessing.spawn(work, (ranks, options), nprocs=ranks)


if __name__ == "__main__":
    main()
