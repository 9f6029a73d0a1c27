#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groups_torch.py  GEMMs of groups and torch's in one process: needs torch and a Hopper GPU.

    bench/groups_torch.py [--quick] [--only SECTION,...] [--json FILE]

Sections: bf16 (torch._grouped_mm, 2D x 3D), wgrad (2D x 2D), fp8 (torch._scaled_grouped_mm,
row and column scales), patterns (uniform, zipf, one-hot, half-empty), sparse (32 of 256
groups used against 32 groups alone), gather (rows by an index in the GEMM, against
torch.index_select and the GEMM of the copy: its time / ours).
Each contender: a CUDA graph of launches over rotated operands (256 MB or two copies), five bursts
of 15 ms after a pause, contenders in turn; the median. D is NaN before, and is compared with
float32 results of sampled groups. Ratio: torch's time / ours.
"""

import argparse
import json
import math
import statistics
import sys
import time

import torch
import tilewright
import tilewright.torch as tw

# name: experts, choices, N of gate and up, K; then N and K of down
MODELS = {
    "mixtral": (8, 2, 28672, 4096, 4096, 14336),
    "dsv3": (256, 8, 4096, 7168, 7168, 2048),
    "qwen3_30b": (128, 8, 1536, 2048, 2048, 768),
    "qwen3_235b": (128, 8, 3072, 4096, 4096, 1536),
    "gptoss_120b": (128, 4, 5760, 2880, 2880, 2880),
    "kimi_k2": (384, 8, 4096, 7168, 7168, 2048),
}
# The shapes of torch's baseline of 2026-11-25 (groups, rows, N, K)
FIXED = [
    (8, 512, 14336, 4096),
    (32, 128, 2880, 2880),
    (256, 32, 4096, 7168),
    (128, 512, 1536, 2048),
]
dev = "cuda"
results = []


def sizes_of(pattern, total, groups, seed=1):
    """Sizes of groups: a list of ints."""
    g = torch.Generator().manual_seed(seed)
    if pattern == "equal":
        return [total * (i + 1) // groups - total * i // groups for i in range(groups)]
    if pattern == "half-empty":
        half = sizes_of("equal", total, (groups + 1) // 2)
        return [half[i // 2] if i % 2 == 0 else 0 for i in range(groups)]
    if pattern == "one-hot":
        return [total if i == groups // 2 else 0 for i in range(groups)]
    weight = torch.ones(groups) if pattern == "uniform" else 1 / torch.arange(1, groups + 1)
    weight = weight[torch.randperm(groups, generator=g)]
    chosen = torch.multinomial(weight, total, replacement=True, generator=g)
    return torch.bincount(chosen, minlength=groups).tolist()


def ends_of(sizes):
    return torch.tensor(sizes).cumsum(0).to(torch.int32).to(dev)


class Contender:
    """A graph of `count` launches; launch(i, out) computes set i."""

    def __init__(self, launch, sets, us_guess):
        self.count = max(sets, min(200, int(15000 / us_guess) // sets * sets))
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for i in range(sets):
                launch(i)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for i in range(self.count):
                launch(i % sets)

    def burst(self):
        time.sleep(0.010)
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        self.graph.replay()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) * 1000 / self.count


def check(d, want_of, groups, sizes, k, sum_step=2.0**-20):
    """The largest error of some groups as a share of the bound: sums that are rounded by sum_step
    of their magnitude, and the rounding of D."""
    used = [g for g in range(groups) if sizes[g] > 0]
    some = sorted({used[0], used[-1], max(used, key=lambda g: sizes[g]), used[len(used) // 2]})
    worst = 0.0
    for g in some:
        got, want, scale = want_of(d, g)
        bound = 2.0**-8 * want.abs() + sum_step * math.sqrt(k) * scale + 1e-6
        err = ((got.float() - want).abs() / bound).max().item()
        worst = max(worst, err if err == err else float("inf"))
    return worst


def measure(name, kinds, sets, guess, flop, bytes_, checks, rounds):
    """kinds: {provider: launch}. checks: {provider: function() -> worst share}."""
    row = {"name": name, "flop": flop, "bytes": bytes_, "us": {}, "check": {}}
    ready = {}
    for who, launch in kinds.items():
        try:
            c = checks[who]()
            row["check"][who] = c
            ready[who] = Contender(launch, sets, guess)
        except Exception as e:  # one provider's refusal does not end the list
            row.setdefault("refused", {})[who] = " ".join(str(e).split())[:160]
            torch.cuda.synchronize()
    samples = {who: [] for who in ready}
    order = list(ready)
    for r in range(rounds + 1):
        for who in order[r % max(1, len(order)) :] + order[: r % max(1, len(order))]:
            us = ready[who].burst()
            if r > 0:
                samples[who].append(us)
    for who in ready:
        row["us"][who] = statistics.median(samples[who])
    ours = row["us"].get("tilewright")
    theirs = next((us for who, us in row["us"].items() if not who.startswith("tilewright")), None)
    row["ratio"] = theirs / ours if ours and theirs else None
    if ours:
        row["tflops"] = flop / ours * 1e-6
        row["gb_per_s"] = bytes_ / ours * 1e-3
    results.append(row)
    right = all(c <= 1 for c in row["check"].values())
    text = " ".join(f"{w} {u:9.1f} us" for w, u in row["us"].items())
    print(
        f"{name:46s} {text}  ratio {row['ratio'] or float('nan'):6.3f}"
        f"  {row.get('tflops', 0):6.1f} TFLOP/s {row.get('gb_per_s', 0):6.0f} GB/s"
        f"  {'right' if right else 'WRONG'} {max(row['check'].values(), default=-1):.3f}"
        + "".join(f"  [{w}: {t}]" for w, t in row.get("refused", {}).items()),
        flush=True,
    )


def sets_for(bytes_):
    return max(2, min(16, math.ceil(256e6 / bytes_)))


def rows_case(name, groups, sizes, n, k, rounds, fp8=False):
    """2D x 3D."""
    total = sum(sizes)
    each = 1 if fp8 else 2
    used = sum(1 for s in sizes if s > 0)
    bytes_ = (total * k + used * n * k) * each + total * n * 2
    held = (total * k + groups * n * k) * each + total * n * 2
    sets = sets_for(bytes_)
    if held * sets > 110e9:
        sets = 1
    off = ends_of(sizes)
    starts = [0] + off.tolist()
    if fp8:
        a = [
            torch.randn(total, k, device=dev, dtype=torch.bfloat16).to(torch.float8_e4m3fn)
            for _ in range(sets)
        ]
        b = [
            torch.empty(groups, n, k, device=dev, dtype=torch.float8_e4m3fn) for _ in range(sets)
        ]
        for x in b:
            for g in range(groups):
                x[g] = torch.randn(n, k, device=dev, dtype=torch.bfloat16).to(torch.float8_e4m3fn)
        sa = torch.rand(total, device=dev) + 0.5
        sb = torch.rand(groups, n, device=dev) + 0.5
    else:
        a = [torch.randn(total, k, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
        b = [torch.randn(groups, n, k, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
    out = [None]

    def want(d, g):
        x, w = a[0][starts[g] : starts[g + 1]][:256].float(), b[0][g].float()
        s = 1.0
        if fp8:
            s = sa[starts[g] : starts[g + 1], None][:256] * sb[g][None]
        ref = x @ w.T * s
        return d[starts[g] : starts[g + 1]][:256], ref, ref.abs().mean() * 4

    def run_ours(i):
        if fp8:
            kind = torch.nn.functional.ScalingType.RowWise
            out[0] = tw.scaled_grouped_mm(a[i], b[i].mT, sa, kind, sb, kind, offs=off)
        else:
            out[0] = tw.grouped_mm(a[i], b[i].mT, offs=off)

    def run_torch(i):
        if fp8:
            out[0] = torch._scaled_grouped_mm(
                a[i], b[i].mT, sa, sb, offs=off, out_dtype=torch.bfloat16
            )
        else:
            out[0] = torch._grouped_mm(a[i], b[i].mT, offs=off)

    def checked(run):
        def f():
            run(0)
            torch.cuda.synchronize()
            # The tensor core keeps 13 bits of sums of 8-bit floats.
            step = 2.0**-16 if fp8 else 2.0**-20
            return check(out[0], want, groups, sizes, k, step)

        return f

    guess = max(bytes_ / 2.5e6, 2.0 * total * n * k / (9e8 if fp8 else 5e8), 5)
    measure(
        name,
        {"tilewright": run_ours, "torch": run_torch},
        sets,
        guess,
        2.0 * total * n * k,
        bytes_,
        {"tilewright": checked(run_ours), "torch": checked(run_torch)},
        rounds,
    )


def wgrad_case(name, groups, sizes, n, k, rounds):
    """2D x 2D: D (G, n, k) = dY^T X; groups divide the rows."""
    total = sum(sizes)
    bytes_ = total * (n + k) * 2 + groups * n * k * 2
    sets = sets_for(bytes_)
    if bytes_ * sets > 110e9:
        sets = 1
    off = ends_of(sizes)
    starts = [0] + off.tolist()
    y = [torch.randn(total, n, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
    x = [torch.randn(total, k, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
    out = [None]

    def want(d, g):
        ref = (
            y[0][starts[g] : starts[g + 1], :256].float().T
            @ x[0][starts[g] : starts[g + 1]].float()
        )
        return d[g][:256], ref, ref.abs().mean() * 4

    def run_ours(i):
        out[0] = tw.grouped_mm(y[i].T, x[i], offs=off)

    def run_torch(i):
        out[0] = torch._grouped_mm(y[i].T, x[i], offs=off)

    def run_f32(i):
        out[0] = tw.grouped_mm(y[i].T, x[i], offs=off, out_dtype=torch.float32)

    def checked(run):
        def f():
            run(0)
            torch.cuda.synchronize()
            return check(out[0], want, groups, sizes, max(sizes))

        return f

    guess = max(bytes_ / 2.5e6, 2.0 * total * n * k / 5e8, 5)
    measure(
        name,
        {"tilewright": run_ours, "torch": run_torch, "tilewright_f32": run_f32},
        sets,
        guess,
        2.0 * total * n * k,
        bytes_,
        {
            "tilewright": checked(run_ours),
            "torch": checked(run_torch),
            "tilewright_f32": checked(run_f32),
        },
        rounds,
    )


def gather_case(name, groups, tokens, choices, n, k, rounds):
    """2D x 3D: row i of A is row gather[i] of x (tokens, k)."""
    sizes = sizes_of("uniform", tokens * choices, groups)
    total = sum(sizes)
    used = sum(1 for s in sizes if s > 0)
    bytes_ = (tokens * k + used * n * k + total * n) * 2
    sets = sets_for(bytes_)
    if (groups * n * k * 2 + total * n * 2) * sets > 110e9:
        sets = 1
    off = ends_of(sizes)
    starts = [0] + off.tolist()
    index = torch.randperm(total, device=dev).to(torch.int32) % tokens
    long_index = index.long()
    x = [torch.randn(tokens, k, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
    w = [torch.randn(groups, n, k, device=dev, dtype=torch.bfloat16) for _ in range(sets)]
    copied = torch.empty(total, k, device=dev, dtype=torch.bfloat16)
    out = [torch.full((total, n), math.nan, device=dev, dtype=torch.bfloat16)]

    def want(d, g):
        rows = long_index[starts[g] : starts[g + 1]][:256]
        ref = x[0][rows].float() @ w[0][g].float().T
        return d[starts[g] : starts[g + 1]][:256], ref, ref.abs().mean() * 4

    def fused(i):
        tilewright.grouped_gemm(x[i], w[i].mT, ends=off, gather=index, out=out[0])

    def apart(i):
        torch.index_select(x[i], 0, long_index, out=copied)
        tilewright.grouped_gemm(copied, w[i].mT, ends=off, out=out[0])

    def of_copy(i):
        tilewright.grouped_gemm(copied, w[i].mT, ends=off, out=out[0])

    def checked(run):
        def f():
            out[0].fill_(math.nan)
            run(0)
            torch.cuda.synchronize()
            return check(out[0], want, groups, sizes, k)

        return f

    measure(
        name,
        {"tilewright": fused, "apart": apart, "tilewright_of_copy": of_copy},
        sets,
        max(bytes_ / 2.5e6, 2.0 * total * n * k / 5e8, 5),
        2.0 * total * n * k,
        bytes_,
        # In this order: of_copy reads the copy of apart.
        {"tilewright": checked(fused), "apart": checked(apart), "tilewright_of_copy": lambda: 0},
        rounds,
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--quick", action="store_true")
    p.add_argument("--only", default="bf16,wgrad,fp8,patterns,sparse,gather")
    p.add_argument("--json")
    p.add_argument(
        "--limit", type=float, default=400, help="seconds; later shapes are left out, and listed"
    )
    o = p.parse_args()
    rounds = 3 if o.quick else 5
    torch.backends.cuda.matmul.allow_tf32 = False
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
        f"tilewright {tilewright.__version__}"
    )
    cases = []
    only = o.only.split(",")

    def add(section, f, name, *args):
        if section in only:
            cases.append((f, f"{section} {name}", args))

    for groups, rows, n, k in FIXED:
        s = [rows] * groups
        add("bf16", rows_case, f"{groups} x ({rows}, {n}, {k})", groups, s, n, k)
        add("wgrad", wgrad_case, f"{groups} x ({rows}, {n}, {k})", groups, s, n, k)
        add(
            "fp8",
            lambda nm, *a: rows_case(nm, *a, fp8=True),
            f"{groups} x ({rows}, {n}, {k})",
            groups,
            s,
            n,
            k,
        )
    for groups, rows, n, k in FIXED:
        for pattern in ("uniform", "zipf", "one-hot", "half-empty"):
            s = sizes_of(pattern, rows * groups, groups)
            add(
                "patterns", rows_case, f"{pattern} {groups} x ({rows}, {n}, {k})", groups, s, n, k
            )
    for used in (32,):
        s = [32 if i % 8 == 0 else 0 for i in range(256)]
        add("sparse", rows_case, "32 of 256 groups (32, 4096, 7168)", 256, s, 4096, 7168)
        add("sparse", rows_case, "32 groups alone (32, 4096, 7168)", 32, [32] * 32, 4096, 7168)
    tokens = (1, 64, 1024, 4096) if o.quick else (1, 16, 64, 256, 1024, 4096)
    for name, (experts, choices, n1, k1, n2, k2) in MODELS.items():
        for t in tokens:
            if t * choices * n1 * k1 > 6e14:
                continue
            s = sizes_of("uniform", t * choices, experts)
            add("bf16", rows_case, f"{name} gate_up {t} tokens", experts, s, n1, k1)
            add("bf16", rows_case, f"{name} down {t} tokens", experts, s, n2, k2)
            if t in (64, 4096):
                add(
                    "fp8",
                    lambda nm, *a: rows_case(nm, *a, fp8=True),
                    f"{name} gate_up {t} tokens",
                    experts,
                    s,
                    n1,
                    k1,
                )
            if name in ("mixtral", "dsv3", "qwen3_30b", "gptoss_120b"):
                add(
                    "gather",
                    gather_case,
                    f"{name} gate_up {t} tokens",
                    experts,
                    t,
                    choices,
                    n1,
                    k1,
                )
            if t == 4096 and name not in ("kimi_k2",):
                add("wgrad", wgrad_case, f"{name} gate_up {t} tokens", experts, s, n1, k1)
    begin = time.time()
    left = 0
    for f, name, args in cases:
        if time.time() - begin > o.limit:
            left += 1
            continue
        try:
            f(name, *args, rounds)
        except Exception as e:
            print(f"{name}: {type(e).__name__} {' '.join(str(e).split())[:200]}", flush=True)
        torch.cuda.empty_cache()
    for section in only:
        r = [x["ratio"] for x in results if x["name"].startswith(section + " ") and x["ratio"]]
        if r:
            print(
                f"{section}: {len(r)} shapes, geometric mean "
                f"{math.exp(sum(map(math.log, r)) / len(r)):.3f}, "
                f"worst {min(r):.3f}"
            )
    wrong = [x["name"] for x in results if any(c > 1 for c in x["check"].values())]
    print(f"{len(results)} measured, {left} left out by --limit, wrong: {wrong or 'none'}")
    if o.json:
        with open(o.json, "w") as out:
            json.dump(results, out, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
