#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host_times.py  Microseconds of the host for a call: NumPy in the emulator, torch on a GPU.

    PYTHONPATH=FOLDER python tests/host_times.py [--launches LIBRARY]     FOLDER of build.py

Each figure is the smallest mean of 7 rounds. A GPU computes 64x64x64, whose kernel is shorter than
a call of the host; the rounds end with a synchronisation, which is not counted. With LIBRARY, made
of launch_times.c, two more figures: the time that a call spends in the driver's launches, and the
rest, its own time.
"""
import ctypes
import sys
import time

import numpy as np

import tilewright as tw


def microseconds(call, wait=lambda: None, count=300, rounds=7):
    """The smallest mean time of a call."""
    for _ in range(20):
        call()
    wait()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - begin) / count)
        wait()
    return best * 1e6


def parts(library, call, wait, count=100, rounds=30):
    """Microseconds of a call in launches and outside of them, of the round with the least outside;
    and the number of launches of a call. A round is short enough that no launch waits."""
    best = (0.0, float("inf"))
    launches = 0
    for _ in range(rounds):
        wait()
        if library.start() != 0:
            raise RuntimeError("CUPTI has another subscriber, or is not allowed")
        begin = time.perf_counter()
        for _ in range(count):
            call()
        us = (time.perf_counter() - begin) / count * 1e6
        inside = library.ns() / count / 1e3
        launches = library.count() / count
        library.stop()
        best = min(best, (inside, us - inside), key=lambda x: x[1])
    return *best, launches


def on_numpy():
    """Emulated calls: (name, function)."""
    import ml_dtypes
    a, w = (np.ones(s, ml_dtypes.bfloat16) for s in ((1, 64), (64, 64)))
    x, v = (np.ones(s, np.float32) for s in ((1, 64), (64, 64)))
    qx, qv = tw.quantize(x, "nvfp4"), tw.quantize(v, "nvfp4")
    ex, ev = tw.quantize(x, "e4m3:row"), tw.quantize(v, "e4m3:row")
    return [("numpy bf16 1x64x64", lambda: tw.gemm(a, w.T)),
            ("numpy bf16, no launch", lambda: tw.gemm(a[:0], w.T)),
            ("numpy e4m3 row 1x64x64", lambda: tw.gemm(ex, ev.T)),
            ("numpy nvfp4 1x64x64", lambda: tw.gemm(qx, qv.T))]


def on_torch(device):
    """Calls of torch: (name, function)."""
    import torch
    from torch.nn import functional

    import tilewright.torch as twt
    a, w = (torch.ones(64, 64, device=device, dtype=torch.bfloat16) for _ in range(2))
    out, b = torch.empty_like(a), w.t()
    op = torch.ops.tilewright.gemm.default
    plan = tw.plan(a, b)
    launches = [("torch.matmul", lambda: torch.matmul(a, b)),
                ("torch.matmul out", lambda: torch.matmul(a, b, out=out)),
                ("tw.gemm", lambda: tw.gemm(a, b)),
                ("tw.gemm out", lambda: tw.gemm(a, b, out=out)),
                ("tilewright.torch.gemm", lambda: twt.gemm(a, b)),
                ("tilewright.torch.gemm out", lambda: twt.gemm(a, b, out=out)),
                ("torch.ops.tilewright.gemm", lambda: op(a, b)),
                ("Plan", lambda: plan(a, b)), ("Plan out", lambda: plan(a, b, out=out))]
    x, v = (torch.ones(64, 128, device=device) for _ in range(2))
    for name, fa, fb in (("row", "e4m3:row", "e4m3:row"),
                         ("1x128 by 128x128", "e4m3:1x128", "e4m3:128x128")):
        qa, qb = tw.quantize(x, fa), tw.quantize(v, fb)
        qt, p = qb.T, tw.plan(qa, qb.T)
        launches += [(f"tw.gemm e4m3 {name}", lambda qa=qa, qt=qt: tw.gemm(qa, qt)),
                     (f"tw.gemm e4m3 {name} out", lambda qa=qa, qt=qt: tw.gemm(qa, qt, out=out)),
                     (f"Plan e4m3 {name} out", lambda qa=qa, qt=qt, p=p: p(qa, qt, out=out))]
    if hasattr(functional, "ScalingType"):
        row = functional.ScalingType.RowWise
        qa, qb = tw.quantize(x, "e4m3:row"), tw.quantize(v, "e4m3:row")
        arguments = (qa.data, qb.data.t(), qa.scale, row, qb.scale.t(), row)
        launches += [("tilewright.torch.scaled_mm row", lambda: twt.scaled_mm(*arguments)),
                     ("torch scaled_mm row", lambda: functional.scaled_mm(*arguments))]
    return launches


def main():
    calls = on_numpy()
    for name, call in calls:
        print(f"{name:42} {microseconds(call, count=100):8.1f}", flush=True)
    try:
        import torch
    except ImportError:
        print("no torch")
        return
    if not torch.cuda.is_available():
        print("no GPU for torch")
        return
    library = None
    if len(sys.argv) == 3 and sys.argv[1] == "--launches":
        library = ctypes.CDLL(sys.argv[2])
        library.ns.restype = library.count.restype = ctypes.c_longlong
    wait = torch.cuda.synchronize
    print(f"{'':42} {'us':>8}" + (f" {'launch':>8} {'own':>8} launches" if library else ""))
    for name, call in on_torch("cuda"):
        try:
            line = f"{name:42} {microseconds(call, wait):8.1f}"
            if library:
                launch, own, count = parts(library, call, wait)
                line += f" {launch:8.1f} {own:8.1f} {count:g}"
            print(line, flush=True)
        except (RuntimeError, ValueError) as why:
            print(f"{name:42} {str(why)[:60]}")


if __name__ == "__main__":
    sys.exit(main())
