#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors of sums over K in the tensor cores' arithmetic: measures and draws them.

    accuracy.py --measure COMMAND   runs `COMMAND gemm` in the emulator with the bits of the
                                    tensor core and writes data/accuracy/errors.json (minutes)
    accuracy.py                     writes docs/accuracy.md's plot and tables from it
    accuracy.py --check [COMMAND]   fails where these are not current; with a command also where
                                    measuring some points again finds other errors

A point is the root mean square of D - A B over that of A B, for 16 x 16 sums of K terms. The
command computes A B - C with C = A B in float32, so that D of 16 bits has the bits of the error.
Two series are computed here, by the rule of docs/accuracy.md, because a build with
TW_KERNELS=representative does not run their kernels: sums in f16, which the planner takes only
where they are faster, and e5m2 that is never promoted.
"""
import argparse
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/accuracy/errors.json"
PLOT = ROOT / "docs/pictures/accuracy.svg"
PAGE = ROOT / "docs/accuracy.md"
SIZE = 16  # rows and columns of D
LENGTHS = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
CHECKED = [("e4m3", "never", 128), ("e4m3", "64", 128), ("bf16", "", 64), ("tf32", "", 64)]
# Fraction bits, least exponent, largest number of the types.
TYPES = {"bf16": (7, -126, math.inf), "f16": (10, -14, 65504), "tf32": (10, -126, math.inf),
         "e4m3": (3, -6, 448), "e5m2": (2, -14, 57344)}
# Type, promotion or "f16" sums, type of D (None: by the rule), colour, dashes.
SERIES = [("bf16", "", "bf16", "#1f5fa8", ""), ("tf32", "", "f32", "#2b6130", ""),
          ("f16", "f16", None, "#8a5a00", ""), ("e5m2", "never", None, "#7a3b8f", ""),
          ("e5m2", "128", "bf16", "#7a3b8f", "6 4"), ("e4m3", "never", "bf16", "#b3261e", ""),
          ("e4m3", "128", "bf16", "#b3261e", "6 4"), ("e4m3", "64", "bf16", "#b3261e", "2 3")]
NAMES = {"normal": "operands from N(0, 1)", "magnitudes": "their magnitudes"}


def rounded(kind, x):
    """x as an element: nearest, ties to even."""
    bits, least, most = TYPES[kind]
    exponent = max(math.frexp(x)[1] - 1, least) if x else least
    step = math.ldexp(1.0, exponent - bits)
    return math.copysign(min(abs(round(x / step) * step), most), x)


def operand(kind, data, k, seed):
    draw = random.Random(f"{kind} {data} {k} {seed}")
    values = [rounded(kind, draw.gauss(0, 1)) for _ in range(SIZE * k)]
    return [abs(x) for x in values] if data == "magnitudes" else values


def write_npy(path, rows, cols, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                     struct.pack(f"<{rows * cols}f", *values))


def read_npy(path, kind):
    raw = path.read_bytes()
    start = 10 + struct.unpack("<H", raw[8:10])[0]
    body = raw[start:]
    if kind == "f32":
        return list(struct.unpack(f"<{len(body) // 4}f", body))
    words = struct.unpack(f"<{len(body) // 2}H", body)
    return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]


def exponent(kind, x):
    return max(math.frexp(x)[1] - 1, TYPES[kind][1])


def cut(x, unit):
    return math.trunc(x / unit) * unit


def sum_by_rule(kind, sums, x, y):
    """The sum of products, by the rule of docs/accuracy.md, promoted as `sums` says."""
    step, kept, fraction = (32, 13, 13) if TYPES[kind][0] < 7 else (16, 25, 23)
    if kind == "tf32":
        step = 8
    interval = int(sums) if sums.isdigit() else len(x)
    promoted = 0.0
    for first in range(0, len(x), interval):
        total, last = 0.0, min(first + interval, len(x))
        for k in range(first, last, step):
            terms = [(p * q, exponent(kind, p) + exponent(kind, q))
                     for p, q in zip(x[k:min(k + step, last)], y[k:min(k + step, last)]) if p * q]
            if total:
                terms.append((total, math.frexp(total)[1] - 1))
            if not terms:
                continue
            unit = math.ldexp(1.0, max(e for _, e in terms) - kept)
            total = math.fsum(cut(t, unit) for t, _ in terms)
            if sums == "f16":
                total = rounded("f16", total)
            elif total:
                total = cut(total, math.ldexp(1.0, math.frexp(total)[1] - 1 - fraction))
        promoted = struct.unpack("<f", struct.pack("<f", promoted + total))[0]
    return promoted


def measure(command, kind, sums, out, data, k):
    """The error of one point; without a command by the rule."""
    a, b = operand(kind, data, k, "a"), operand(kind, data, k, "b")
    rows = [(a[i * k:(i + 1) * k], b[j * k:(j + 1) * k]) for i in range(SIZE) for j in range(SIZE)]
    want = [math.fsum(x * y for x, y in zip(*lines)) for lines in rows]
    size = math.fsum(x * x for x in want)
    if command is None:
        errors = [sum_by_rule(kind, sums, *r) - x for r, x in zip(rows, want)]
        return math.sqrt(math.fsum(e * e for e in errors) / size)
    near = [struct.unpack("<f", struct.pack("<f", x))[0] for x in want]
    with tempfile.TemporaryDirectory() as folder:
        at = {name: pathlib.Path(folder) / f"{name}.npy" for name in "abcd"}
        write_npy(at["a"], SIZE, k, a)
        write_npy(at["b"], SIZE, k, b)
        write_npy(at["c"], SIZE, SIZE, near)
        options = ["--invariant", *(["--promote", sums] if sums else [])]
        subprocess.run([command, "gemm", at["a"], at["b"], "--transpose-b", "-o", at["d"], "--add",
                        at["c"], "--beta", "-1", "--dtype", kind, "--out-dtype", out, "--device",
                        "emu", "--quiet", *options], check=True,
                       env={**os.environ, "TILEWRIGHT_EXACT_SUMS": "1", "TILEWRIGHT_TUNE": "off"})
        errors = [d + (c - x) for d, c, x in zip(read_npy(at["d"], out), near, want)]
    return math.sqrt(math.fsum(e * e for e in errors) / size)


def measure_all(command):
    points = []
    for data in NAMES:
        for kind, sums, out, *_ in SERIES:
            for k in LENGTHS:
                error = measure(out and command, kind, sums, out, data, k)
                points.append({"data": data, "type": kind, "sums": sums, "k": k, "error": error})
                print(f"{data} {kind} {sums} {k}: 2^{math.log2(error):.1f}", flush=True)
    lines = ",\n  ".join(json.dumps(p) for p in points)
    DATA.write_text('{"schema": "tilewright.accuracy/1",\n "sums": "exact arithmetic of the '
                    f'emulator, {SIZE} x {SIZE} elements",\n "points": [\n  {lines}\n]}}\n')


def points():
    return {(p["data"], p["type"], p["sums"], p["k"]): p["error"]
            for p in json.loads(DATA.read_text())["points"]}


def label(kind, sums):
    if sums == "f16":
        return "f16, f16 sums"
    if sums == "":
        return f"{kind}, float32 sums"
    return f"{kind}, never promoted" if sums == "never" else f"{kind}, promoted every {sums}"


def plot(found):
    width, height, left, top, panel, tall = 920, 560, 84, 46, 390, 380
    least, most = -25, 0
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def text(x, y, words, anchor="middle", colour="#111111", more=""):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>'
                   f'{words}</text>')

    def line(points_of, colour, dashes="", thick=1):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points_of)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        out.append(f'<polyline points="{places}" fill="none" stroke="{colour}" '
                   f'stroke-width="{thick}"{dash}/>')

    def y_of(error):
        return top + tall * (most - math.log2(error)) / (most - least)

    text(22, top + tall / 2, "error of a sum, relative (root mean square)", more=
         f' transform="rotate(-90 22 {top + tall / 2:.0f})"')
    for number, data in enumerate(NAMES):
        x0 = left + number * (panel + 34)

        def x_of(k):
            return x0 + panel * math.log2(k / LENGTHS[0]) / math.log2(LENGTHS[-1] / LENGTHS[0])

        for k in LENGTHS:
            line([(x_of(k), top), (x_of(k), top + tall)], "#dddddd")
            text(x_of(k), top + tall + 18, str(k))
        for power in range(-24, most + 1, 4):
            line([(x0, y_of(2.0**power)), (x0 + panel, y_of(2.0**power))], "#dddddd")
            if number == 0:
                text(x0 - 8, y_of(2.0**power) + 4, f"2^{power}" if power else "1", "end")
        line([(x0, top), (x0, top + tall), (x0 + panel, top + tall)], "#111111")
        text(x0 + panel / 2, top - 16, NAMES[data])
        text(x0 + panel / 2, top + tall + 38, "K")
        for kind, sums, _, colour, dashes in SERIES:
            line([(x_of(k), y_of(found[data, kind, sums, k])) for k in LENGTHS], colour, dashes, 2)
    for i, (kind, sums, _, colour, dashes) in enumerate(SERIES):
        x, y = left + i % 4 * 210, top + tall + 66 + i // 4 * 24
        line([(x, y - 4), (x + 30, y - 4)], colour, dashes, 2)
        text(x + 38, y, label(kind, sums), "start")
    return "\n".join(out) + "\n</svg>\n"


def table(found, data):
    lengths = [128, 512, 2048, 8192]
    rows = ["| A and B | promoted | " + " | ".join(f"K = {k}" if k == 128 else str(k)
                                                   for k in lengths) + " |",
            "|---|---|" + "---|" * len(lengths)]
    for kind, sums, *_ in SERIES:
        first = "f16, f16 sums" if sums == "f16" else kind
        second = {"": "", "f16": "", "never": "never"}.get(sums, f"every {sums} of K")
        cells = " | ".join(f"2^{math.log2(found[data, kind, sums, k]):.1f}" for k in lengths)
        rows.append(f"| {first} | {second} | {cells} |")
    return "\n".join(rows) + "\n"


def page(found):
    text = PAGE.read_text()
    for data in NAMES:
        begin, end = f"<!-- errors: {data} -->\n", "<!-- end -->"
        start = text.index(begin) + len(begin)
        text = text[:start] + table(found, data) + text[text.index(end, start):]
    return text


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--measure", metavar="COMMAND")
    options.add_argument("--check", nargs="?", const="", metavar="COMMAND")
    options = options.parse_args()
    if options.measure:
        measure_all(options.measure)
    found = points()
    if options.check is None:
        PLOT.write_text(plot(found))
        PAGE.write_text(page(found))
        return 0
    current = [(PLOT, plot(found)), (PAGE, page(found))]
    wrong = [str(path.relative_to(ROOT)) for path, text in current if path.read_text() != text]
    if wrong:
        print(f"not current: {', '.join(wrong)}; run gen/measured/accuracy.py", file=sys.stderr)
    for kind, sums, k in CHECKED if options.check else []:
        out = next(s[2] for s in SERIES if s[:2] == (kind, sums))
        error, rule = (measure(by, kind, sums, out, "normal", k) for by in (options.check, None))
        was = found["normal", kind, sums, k]
        # D of 16 bits has 8 bits of each error.
        near = math.isclose(error, was, rel_tol=1e-9) and math.isclose(error, rule, rel_tol=2e-3)
        if not near:
            wrong.append(kind)
            print(f"{label(kind, sums)}, K = {k}: {error!r}; by the rule {rule!r}, in the data "
                  f"{was!r}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
