#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/dispatch/winners_h200.inc: the plans that were fastest on an H200, from a result of
`tilewright bench gemm --plans N --json FILE`, or of `tilewright tune --export FILE`. Results of
`tilewright bench gemm --chain` say whether a plan of the table starts early; such a file needs no
plans of its own.

    gen/winners.py FILE...     merges the shapes of these results; later files win
    gen/winners.py --check     exits 1 if the file is not what its result files give

The results are named in the first lines of the file that is written.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "src/dispatch/winners_h200.inc"
KERNEL = re.compile(r"sm90_(bf16|f16)_(bf16|f16|f32)_([tn])([tn])(_dm)?_(\d+)x(\d+)x64"
                    r"_(\d)x(\d)(?:x(\d))?_s(\d+)(_pp)?$")
SHARED = re.compile(r", (\d+) of them shared by (\d+),")
LEAST_GAIN = 0.01  # of an early start, as in bench/tune.cpp; less is no difference
GEMV = re.compile(r"gemv_(bf16|f16)_(bf16|f16|f32)_(\d+)x(\d+)_u(\d+)_(\d+)x(\d+)_c(\d+)$")


def before_gemv(shape):
    """Is it a product for GEMV kernels, none of which was among the plans that were measured?
    (`tilewright tune --export` tells the fastest alone; it is younger than these kernels.)"""
    if "fastest" in shape:
        return False
    few = min(shape["m"], shape["n"]) <= 8 and shape["layout"] == "TN" and shape["k"] % 8 == 0
    return few and not any(p["kernel"].startswith("gemv_") for p in shape["plans"])


def kernel_text(name):
    """(operand type, type of D, the tile shape, the GEMV shape or nothing) in C++."""
    if g := GEMV.match(name):
        return g[1], g[2], "{}", f"{{{', '.join(g[i] for i in range(3, 9))}}}"
    k = KERNEL.match(name)
    m_major, pingpong = ("true" if k[i] else "false" for i in (5, 12))
    in_k = f", false, fusion::none, {k[10]}" if k[10] else ""
    tile = f"{{{k[6]}, {k[7]}, {k[8]}, {k[9]}, {k[11]}, {pingpong}, {m_major}{in_k}}}"
    return k[1], k[2], tile, ""


def plan_of(plan):
    """What a row has of a plan: operand type, type of D, the plan in C++."""
    ab, d, tile, gemv = kernel_text(plan["kernel"])
    return ab, d, (tile, plan["shared_tiles"], plan["sharers"], gemv)


def planned(shape):
    """The plan that "tilewright" ran; where no others were tried, `why` says which tiles share."""
    if shape.get("plans"):
        return shape["plans"][0]
    shared = SHARED.search(shape["why"])
    tiles, sharers = (int(shared[1]), int(shared[2])) if shared else (0, 0)
    return {"kernel": shape["providers"][0]["kernel"], "shared_tiles": tiles, "sharers": sharers}


def early_start(shape, medians):
    """[(plan, does it pay to start early)]; None: it makes no difference. Nothing: not measured, or
    no difference in an export of tune, which does not tell these apart; an older answer stays."""
    if "fastest" in shape:
        early = shape["fastest"].get("starts_early")
        return [] if early is None else [(shape["fastest"], early)]
    if "tilewright_pdl" not in medians:
        return []
    early, late = medians["tilewright_pdl"], medians["tilewright_no_pdl"]
    faster, slower = early <= late * (1 - LEAST_GAIN), early >= late * (1 + LEAST_GAIN)
    return [(planned(shape), faster if faster or slower else None)]


def rows(results):
    found, early = {}, {}
    for path in results:
        for shape in json.loads((ROOT / path).read_text())["shapes"]:
            if shape.get("category") == "epilogue":
                continue  # the table has products without a fused epilogue
            # The planned one and the fastest were timed again, interleaved with the others.
            medians = {p["provider"]: p["burst"]["us"]["median"]
                       for p in shape.get("providers", []) if "burst" in p}
            size = (shape["m"], shape["n"], shape["k"], shape.get("batch", 1))
            for plan, pays in early_start(shape, medians):
                ab, d, form = plan_of(plan)
                early[(*size, ab, d, shape["layout"]), form] = pays
            if "fastest" in shape:  # of `tilewright tune --export`
                shape = {**shape, "plans": [shape["fastest"]]}
            timed = [p for p in shape.get("plans", []) if p["us"] is not None]
            if not timed or before_gemv(shape):
                continue
            tried = min(timed, key=lambda p: p["us"])
            tried["us"] = medians.get("tilewright_tuned", tried["us"])
            timed[0]["us"] = medians.get("tilewright", timed[0]["us"])
            best = timed[0] if timed[0]["us"] <= tried["us"] else tried
            ab, d, form = plan_of(best)
            found[(*size, ab, d, shape["layout"])] = form, best["us"]
    return [row(key, form, us, early.get((key, form))) for key, (form, us) in sorted(found.items())]


def row(key, form, us, starts_early):
    m, n, k, batch, ab, d, layout = key
    tile, shared_tiles, sharers, gemv = form
    last = [gemv] if gemv else []
    if starts_early is not None:
        last = [gemv or "{}", "true" if starts_early else "false"]
    return (f'{{{m}, {n}, {k}, {batch}, elem::{ab}, elem::{d}, "{layout}",\n '
            + ", ".join([tile, str(shared_tiles), str(sharers), f"{us:.1f}", *last]) + "},")


def text(results):
    return ("// SPDX-License-Identifier: Apache-2.0\n"
            "// Generated by gen/winners.py\n"
            "// winners_h200.inc  The fastest plans measured on an H200.\n"
            + "".join(f"// from {path}\n" for path in results)
            + "\n".join(rows(results)) + "\n")


def main():
    if sys.argv[1:] == ["--check"]:
        have = OUT.read_text()
        results = re.findall(r"^// from (\S+)$", have, re.M)
        if have != text(results):
            print(f"stale: {OUT.relative_to(ROOT)}; run gen/winners.py", file=sys.stderr)
            return 1
        return 0
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    OUT.write_text(text([str(pathlib.Path(p).resolve().relative_to(ROOT)) for p in sys.argv[1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
