#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""banks.py  The comparison of bank counts with a GPU: raw output to JSON, JSON to docs/banks.md.

On a machine with a Hopper GPU and Nsight Compute, in the root of the tree:

    B=build/bin/gpu_banks
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader > card.txt
    ncu --version | tail -1 > ncu.txt
    $B cycles > cycles.jsonl
    ncu --clock-control none --cache-control none --csv --page raw --print-units base \\
        --log-file counted.csv --metrics $(python3 gen/measured/banks.py --metrics) $B counted \\
        > counted.jsonl
    python3 gen/measured/banks.py --merge . -o bench/results/DATE-h200-banks.json

Then `python3 gen/measured/banks.py --table` writes the table of docs/banks.md again; --check
compares.
"""
import argparse
import csv
import json
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RESULT = os.path.join(ROOT, "bench/results/2026-11-21-h200-banks.json")
PAGE = os.path.join(ROOT, "docs/banks.md")
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
WORDS = "l1tex__data_bank_writes.sum"
METRICS = [WAVEFRONTS % op for op in ("ld", "st", "gmma")] + [WORDS]
BEGIN, END = "<!-- from here: gen/measured/banks.py --table -->\n", "<!-- to here -->\n"


def metric_of(case):
    if case["set"] == "tma":
        return WORDS
    if case["set"] in ("wgmma", "descriptor"):
        return WAVEFRONTS % "gmma"
    return WAVEFRONTS % ("st" if case["access"].startswith("st") else "ld")


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def read_counters(path):
    """One dictionary of counters for each launch, in order."""
    with open(path, encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) > len(METRICS)]
    return [{name: float(value.replace(",", "")) for name, value in zip(rows[0], row)
             if name in METRICS} for row in rows[1:] if row[0]]


def merge(folder):
    def text(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read().strip()
    cases = read_lines(os.path.join(folder, "counted.jsonl"))
    cycles = read_lines(os.path.join(folder, "cycles.jsonl"))
    counters = read_counters(os.path.join(folder, "counted.csv"))
    timed = len(cycles)  # what comes after is counted only
    if not timed <= len(cases) == len(counters):
        sys.exit(f"{len(cases)} cases, {len(counters)} counted, {len(cycles)} timed")
    card, driver, clock = [part.strip() for part in text("card.txt").split(",")[:3]]
    result = {"question": "wavefronts of accesses to shared memory, model and GPU",
              "device": {"card": card, "driver": driver, "max_sm_clock": clock},
              "nsight_compute": text("ncu.txt"), "options": "--clock-control none",
              "metrics": METRICS, "layouts": [], "operands": [], "boxes": [], "descriptors": [],
              "patterns": {}}
    cycles += [{}] * (len(cases) - timed)
    for case, count, time in zip(cases, counters, cycles):
        measured = int(count[metric_of(case)])
        if case["set"] == "pattern":
            row = result["patterns"].setdefault(case["access"], {"model": [], "measured": []})
            row["model"].append(case["model"])
            row["measured"].append(measured)
            continue
        row = {key: value for key, value in case.items() if key != "set"}
        row["measured"] = measured
        if "cycles" in time:
            row["cycles"] = time["cycles"]
        if "model_of_timed" in time:
            row["model_of_timed"] = time["model_of_timed"]
        kind = {"layout": "layouts", "wgmma": "operands", "tma": "boxes",
                "descriptor": "descriptors"}[case["set"]]
        result[kind].append(row)
    return result


def dump(result):
    """JSON with one line for each case."""
    def value(v):
        if isinstance(v, list) and v and isinstance(v[0], dict):
            return "[\n" + ",\n".join("  " + json.dumps(row) for row in v) + "\n ]"
        if isinstance(v, dict) and v and isinstance(next(iter(v.values())), dict):
            return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(w)}"
                                      for k, w in v.items()) + "\n }"
        return json.dumps(v)
    return "{\n" + ",\n".join(f" {json.dumps(k)}: {value(v)}" for k, v in result.items()) + "\n}\n"


def table(result):
    device = result["device"]
    out = [f"{device['card']}, driver {device['driver']}, Nsight Compute "
           f"{result['nsight_compute'].removeprefix('Version ')}.", "",
           "| access | layout | threads | ideal | model | counted | cycles of one, model |",
           "|---|---|---|---:|---:|---:|---:|"]
    for r in result["layouts"]:
        out.append(f"| {r['access']} | `{r['layout']}`, {r['bits']} bit | "
                   f"{'`' + r['threads'] + '`' if r['threads'] else 'natural'} | {r['ideal']} | "
                   f"{r['model']} | {r['measured']} | {r['cycles']:.2f}, {r['model_of_timed']} |")
    out += ["", "| wgmma, K = 64 | A | B | ideal | model | counted | cycles |",
            "|---|---|---|---:|---:|---:|---:|"]
    for r in result["operands"]:
        a = r["a"] if r["a"] == "registers" else f"`{r['a']}`"
        out.append(f"| {r['instruction'].split()[0]} | {a} | `{r['b']}` | {r['ideal']} | "
                   f"{r['model']} | {r['measured']} | {r['cycles']:.0f} |")
    out += ["", "| one m64n64k16, leading, stride offset, bytes | span | model | counted |",
            "|---|---:|---:|---:|"]
    for r in result["descriptors"]:
        out.append(f"| {r['leading_bytes']}, {r['stride_bytes']} | {r['span_bytes']} | "
                   f"{r['model']} | {r['measured']} |")
    out += ["", "| TMA box | words, model | words, counted | wavefronts, model only | cycles |",
            "|---|---:|---:|---:|---:|"]
    for r in result["boxes"]:
        out.append(f"| `{r['layout']}` | {r['model_words']} | {r['measured']} | {r['model']} | "
                   f"{r['cycles']:.0f} |")
    out += ["", "| random patterns of | patterns | counted as the model says | most wavefronts |",
            "|---|---:|---:|---:|"]
    for access, p in result["patterns"].items():
        agree = sum(a == b for a, b in zip(p["model"], p["measured"]))
        out.append(f"| {access} | {len(p['model'])} | {agree} | {max(p['measured'])} |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Bank counts, model and GPU.")
    parser.add_argument("--metrics", action="store_true", help="print the counters for ncu")
    parser.add_argument("--merge", metavar="FOLDER", help="folder of the raw output")
    parser.add_argument("-o", default=RESULT, help="the JSON that --merge writes")
    parser.add_argument("--table", action="store_true", help="write the table of docs/banks.md")
    parser.add_argument("--check", action="store_true", help="complain if the table is another")
    options = parser.parse_args()
    if options.metrics:
        print(",".join(METRICS))
    if options.merge:
        with open(options.o, "w", encoding="utf-8") as file:
            file.write(dump(merge(options.merge)))
    if options.table or options.check:
        with open(RESULT, encoding="utf-8") as file:
            fresh = table(json.load(file))
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        if options.check and rest.split(END)[0] != fresh:
            sys.exit("docs/banks.md is not what bench/results says: "
                     "python3 gen/measured/banks.py --table")
        if options.table:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(before + BEGIN + fresh + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
