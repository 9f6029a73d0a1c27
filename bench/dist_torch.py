#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dist_torch.py  GEMMs over several GPUs, and torch's in the same processes: needs torch and two
or more GPUs of one host with NVLink.

    bench/dist_torch.py [--ranks P] [--quick] [--only TEXT,...] [--limit S] [--json FILE]

Contenders: our group (the path that a call takes by default, and each path of --paths);
torch's fused operators (symm_mem.fused_all_gather_matmul, fused_matmul_reduce_scatter); a pipeline
of torch.mm and copy engines in 20 lines; NCCL with torch.mm. Each in turn in rounds, bursts of 20
calls after a barrier; the slower rank's median. Calls of M up to 2048 also as CUDA graphs of two
calls, and the faster one counts. Results of integers are compared with float32 within two
roundings. Ratio: torch's time / our fastest. A contender that fails on a rank is named and left
out. Lines appear as soon as a layer is measured, and the JSON file is whole after each layer.

--host tries the program without a GPU: small layers, gloo, our group in host memory and torch's
collective.
"""
import argparse
import datetime
import faulthandler
import json
import math
import os
import statistics
import sys
import time

BEGIN = time.time()  # the imports below take seconds
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
HOST_LAYERS = [("all-gather", "small", 32, 24, 16), ("reduce-scatter", "small", 32, 24, 16),
               ("all-gather", "larger", 64, 24, 16)]
WARM, CALLS, HEAT_S = 4, 20, 0.3


class Machine:
    """The memory of a rank's tensors: of a GPU, or of the host (--host)."""

    def __init__(self, host, rank):
        self.host = host
        self.device = torch.device("cpu") if host else torch.device("cuda", rank)
        if host:
            torch.set_num_threads(1)
        if not host:
            torch.cuda.set_device(rank)

    def synchronize(self):
        if not self.host:
            torch.cuda.synchronize()

    def empty(self, *shape):
        return torch.empty(shape, device=self.device, dtype=torch.bfloat16)

    def integers(self, shape, seed):
        g = torch.Generator(device=self.device).manual_seed(seed)
        return torch.randint(-2, 3, shape, generator=g, device=self.device).to(torch.bfloat16)

    def largest(self, number):
        """The largest number of all ranks, equal on all of them."""
        x = torch.tensor([float(number)], device=self.device)
        dist.all_reduce(x, op=dist.ReduceOp.MAX)
        return x.item()


def gather(out, part):
    dist.all_gather_into_tensor(out, part)


def reduce_scatter(out, whole):
    if dist.get_backend() != "gloo":
        dist.reduce_scatter_tensor(out, whole)
        return
    total = whole.clone()
    dist.all_reduce(total)
    out.copy_(total[dist.get_rank() * out.shape[0]:][:out.shape[0]])


class Layer:
    """Operands of a rank and its contenders: functions that return the rank's result."""

    def __init__(self, layer, group, name, paths, machine):
        self.operation, _, self.m, self.n, self.k = layer
        self.machine = machine
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.rows = self.m // self.ranks
        self.group, self.name = group, name
        self.turn = 0
        gathers = self.operation == "all-gather"
        self.a = machine.integers((self.rows if gathers else self.m, self.k), 100 + self.rank)
        self.b = machine.integers((self.n, self.k), 200 + self.rank).t()
        self.out = machine.empty(self.m if gathers else self.rows, self.n)
        whole = (self.m, self.k) if gathers else (self.m, self.n)
        self.whole = machine.empty(*whole)
        self.contenders = {"ours": self.ours(None), **{f"ours {p}": self.ours(p) for p in paths},
                           "NCCL": self.nccl}
        if machine.host:
            return
        self.side = torch.cuda.Stream()
        self.buffers = [symm.empty(*whole, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        self.handles = [symm.rendezvous(x, name) for x in self.buffers]
        self.contenders |= {"fused": self.fused, "pipeline": self.push if gathers else self.pull}

    def part(self, x, rank):
        return x[rank * self.rows:(rank + 1) * self.rows]

    def ours(self, path):
        method = (self.group.all_gather_matmul if self.operation == "all-gather"
                  else self.group.matmul_reduce_scatter)
        return lambda: method(self.a, self.b, out=self.out, path=path)

    def nccl(self):
        if self.operation == "all-gather":
            gather(self.whole, self.a)
            return torch.mm(self.whole, self.b, out=self.out)
        torch.mm(self.a, self.b, out=self.whole)
        reduce_scatter(self.out, self.whole)
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
            gather(self.whole, self.a)
            exact = self.whole.float() @ self.b.float()
            return exact, exact.abs() / 128 + 1e-3
        part = self.a.float() @ self.b.float()
        exact, size = (part.new_empty(self.rows, self.n) for _ in range(2))
        reduce_scatter(exact, part)
        reduce_scatter(size, part.abs())
        return exact, (size + exact.abs()) * self.ranks / 128 + 1e-3

    def wrong(self, contender, exact, room):
        self.out.fill_(math.nan)
        for _ in range(3):
            got = contender()
        self.machine.synchronize()
        return int((~((got.float() - exact).abs() <= room)).sum())


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
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        contender()
        contender()
    return graph.replay


def burst(run, calls_of_run, machine):
    """Microseconds of a call, of the slower rank."""
    for _ in range(WARM):
        run()
    machine.synchronize()
    dist.barrier()
    machine.synchronize()
    if machine.host:
        start = time.perf_counter()
        for _ in range(CALLS // calls_of_run):
            run()
        return machine.largest((time.perf_counter() - start) * 1e6 / CALLS)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(CALLS // calls_of_run):
        run()
    end.record()
    torch.cuda.synchronize()
    return machine.largest(start.elapsed_time(end) * 1e3 / CALLS)


def attempted(name, work, machine, row):
    """work(), or None if it fails on any rank: no rank then waits for another one's call."""
    result, error = None, ""
    try:
        result = work()
    except Exception as e:  # noqa: BLE001
        error = f"{type(e).__name__}: {e}".splitlines()[0][:200]
    if machine.largest(bool(error)):
        row["failed"][name] = error or "on another rank"
        return None
    return result


def warm_up(layer, machine):
    """GEMMs until the clocks settle, equally many on all ranks: each call is a collective."""
    begin = time.perf_counter()
    while machine.largest(time.perf_counter() - begin) < HEAT_S:
        for _ in range(10):
            layer.nccl()
        machine.synchronize()


def measure(layer, rounds, machine):
    exact, room = layer.wanted()
    row, runs = {"wrong": {}, "us": {}, "failed": {}}, {}
    for name, contender in layer.contenders.items():
        bad = attempted(name, lambda c=contender: layer.wrong(c, exact, room), machine, row)
        if bad is None:
            continue
        row["wrong"][name] = int(machine.largest(bad))
        runs[name, "eager"] = contender, 1
        if layer.m <= 2048 and not machine.host:
            how = f"{name} (graph)"
            graph = attempted(how, lambda c=contender: captured(c), machine, row)
            if graph is not None:
                runs[name, "graph"] = graph, 2
    del exact, room
    warm_up(layer, machine)
    samples, names = {key: [] for key in runs}, list(runs)
    for i in range(rounds):
        turn = names[i % len(names):] + names[:i % len(names)]
        for key in turn if i % 2 == 0 else turn[::-1]:
            samples[key].append(burst(*runs[key], machine))
    for (name, how), us in samples.items():
        median = statistics.median(us)
        if name not in row["us"] or median < row["us"][name][0]:
            row["us"][name] = (median, how, us)
    return row


def text_of(layer, row):
    times = [f"{n} {us:.1f} ({how})" for n, (us, how, _) in row["us"].items()]
    times += [f"{n} / ours {x:.3f}" for n, x in row["ratio"].items()]
    wrong = f"; WRONG {row['wrong']}" if any(row["wrong"].values()) else ""
    failed = f"; FAILED {row['failed']}" if row["failed"] else ""
    return (f"{layer[0]:14} {layer[1]:12} {layer[2]}x{layer[3]}x{layer[4]}: "
            f"{', '.join(times)}{wrong}{failed}")


def print_means(rows):
    for n in ("fused", "pipeline", "NCCL"):
        x = [r["ratio"][n] for r in rows if n in r["ratio"] and r["layer"][2] >= 512]
        if x:
            print(f"M >= 512, {n} / ours: geometric mean "
                  f"{math.exp(statistics.fmean(map(math.log, x))):.3f}, smallest {min(x):.3f}, "
                  f"of {len(x)} layers", flush=True)


def write(rows, ranks, options):
    if not options.json:
        return
    gpu = "host memory" if options.host else torch.cuda.get_device_name(0)
    with open(options.json + ".new", "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "gpu": gpu, "ranks": ranks, "rows": rows}, file)
    os.replace(options.json + ".new", options.json)


def chosen_layers(options):
    layers = HOST_LAYERS if options.host else LAYERS
    words = [f"{op} {name} {m}x{n}x{k}" for op, name, m, n, k in layers]
    return [layer for layer, text in zip(layers, words)
            if not options.only or any(x in text for x in options.only)]


def work(rank, ranks, options):
    def say(text):
        if rank == 0:
            print(f"# {time.time() - options.begin:5.1f} s  {text}", flush=True)

    faulthandler.dump_traceback_later(options.limit + 10, exit=True)
    say(f"torch {torch.__version__} is imported")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    machine = Machine(options.host, rank)
    dist.init_process_group("gloo" if options.host else "nccl", rank=rank, world_size=ranks,
                            timeout=datetime.timedelta(seconds=options.limit),
                            device_id=None if options.host else machine.device)
    machine.largest(0)
    say("torch.distributed is ready")
    layers = chosen_layers(options)
    largest = max([m * (n if op == "reduce-scatter" else k) * 4 for op, _, m, n, k in layers],
                  default=1)
    group = tilewright.dist.Group(gathered_bytes=max(largest, 1 << 20), timeout=options.limit)
    say(f"our group is ready, with buffers of {largest >> 20} MiB")
    rows, longest = [], 0.0
    for layer in layers:
        begin = time.time()
        if machine.largest(begin - options.begin) + longest > options.limit:
            say(f"stopped before {layer[0]} {layer[1]} {layer[2]}: --limit {options.limit:.0f}")
            break
        say(f"{layer[0]} {layer[1]} {layer[2]}")
        case = Layer(layer, group, dist.group.WORLD.group_name, options.paths, machine)
        row = measure(case, 3 if options.quick else 7, machine)
        group.check()
        ours = min(us for n, (us, _, _) in row["us"].items() if n.startswith("ours"))
        row["ratio"] = {n: us / ours for n, (us, _, _) in row["us"].items()
                        if not n.startswith("ours")}
        rows.append({"layer": layer, **row})
        if rank == 0:
            print(text_of(layer, row), flush=True)
            write(rows, ranks, options)
        del case
        if not options.host:
            torch.cuda.empty_cache()
        longest = machine.largest(max(longest, time.time() - begin))
    if rank == 0:
        print_means(rows)
    group.close()
    dist.barrier()
    dist.destroy_process_group()
    say("done")
    faulthandler.cancel_dump_traceback_later()
    if not rows or any(any(r["wrong"].values()) or r["failed"] for r in rows):
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ranks", type=int, default=0, help="GPUs (default: all)")
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 7")
    parser.add_argument("--only", type=lambda x: x.split(","),
                        help="layers whose operation, name and M x N x K contain one of these")
    parser.add_argument("--limit", type=float, default=540,
                        help="seconds: no layer begins that would end later (540); 10 s after it "
                        "the program ends and prints the stacks")
    parser.add_argument("--host", action="store_true", help="small layers, without a GPU")
    parser.add_argument("--paths", type=lambda x: x.split(","), default=["pieces", "two-pieces"],
                        help="further paths of our group (pieces,two-pieces)")
    parser.add_argument("--json", help="a file for all samples")
    parser.add_argument("--port", type=int, default=29517)
    options = parser.parse_args()
    options.begin = BEGIN
    if options.only and not chosen_layers(options):
        parser.error(f"no layer has {options.only}")
    ranks = options.ranks or (2 if options.host else torch.cuda.device_count())
    if not options.host and torch.cuda.device_count() < max(ranks, 2):
        print(f"{torch.cuda.device_count()} GPUs; {max(ranks, 2)} needed")
        sys.exit(77)
    print(f"# {ranks} processes start", flush=True)
    torch.multiprocessing.spawn(work, (ranks, options), nprocs=ranks)


if __name__ == "__main__":
    main()
