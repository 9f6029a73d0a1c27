#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py  The pages docs/mutants.md and docs/diagnoses.md, from runs of the mutants.

    mutants.py --run build/bin/tilewright     # 12 seeds of each schedule, both pages
    mutants.py --table                        # the table again, from the JSON
    mutants.py --diagnoses build/bin/tilewright
    mutants.py --check build/bin/tilewright   # 1 seed: names, codes, diagnoses

Line numbers are not compared: they move when a kernel gets a line.
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RESULT = os.path.join(ROOT, "bench/results/mutants.json")
TABLE_PAGE = os.path.join(ROOT, "docs/mutants.md")
DIAGNOSES_PAGE = os.path.join(ROOT, "docs/diagnoses.md")
BEGIN, END = "<!-- from here: gen/measured/mutants.py -->\n", "<!-- to here -->\n"
SEEDS = 12
SHOWN = ["reference_gemm/no-proxy-fence", "reference_gemm/stage-released-early",
         "reference_gemm/expect-tx-too-large", "reference_gemm/accumulators-read-early",
         "reference_gemm/phase-never-flips", "reference_gemm/no-barrier-at-exit",
         "reference_gemm/wrong-descriptor-swizzle", "reference_gemm/stmatrix-not-swizzled",
         "take_turns/no-order-barrier", "split_k/no-release"]


def run(command, seeds):
    done = subprocess.run([os.path.abspath(command), "check", "--mutants", "--seeds", str(seeds),
                           "--examples", "--json", "--quiet"],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def facts(mutant):
    return {key: mutant[key] for key in ("name", "change", "expects")}


def dump(record):
    """JSON with one line for each mutant."""
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in record.items() if k != "mutants"]
    rows = ",\n".join("  " + json.dumps(row) for row in record["mutants"])
    return "{\n" + ",\n".join(lines) + ",\n \"mutants\": [\n" + rows + "\n ]\n}\n"


def table(record):
    rows = record["mutants"]
    caught, runs = sum(m["caught"] for m in rows), sum(m["runs"] for m in rows)
    out = [f"{record['date']}: {record['seeds']} seeds of each of the four kinds of schedule. "
           f"{sum(m['caught'] == m['runs'] for m in rows)} of {len(rows)} mutants are caught in "
           f"every run, {caught} of {runs} runs. {record['false_reports']} false reports in "
           f"{record['correct_runs']} runs of the {record['correct_kernels']} correct kernels.", "",
           "| mutant | change | code | caught |", "|---|---|---|---:|"]
    for m in rows:
        out.append(f"| {m['name']} | {m['change']} | {', '.join(m['expects'])} | "
                   f"{m['caught']} of {m['runs']} |")
    return "\n".join(out) + "\n"


def diagnoses(record):
    named = {m["name"]: m for m in record["mutants"]}
    out = []
    for name in SHOWN:
        kernel, _ = name.split("/")
        mutant = named[name]
        out.append(f"## {kernel}: {mutant['change']}\n\n```text\n{mutant['example']}\n```\n")
    return "\n".join(out)


def between(path):
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    return before, *rest.split(END)


def write(path, fresh):
    before, _, after = between(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + fresh + END + after)


def stored():
    with open(RESULT, encoding="utf-8") as file:
        return json.load(file)


def check(command):
    record, today = stored(), run(command, 1)
    if between(TABLE_PAGE)[1] != table(record):
        sys.exit("docs/mutants.md is not what bench/results/mutants.json says: --table")
    was = {m["name"]: facts(m) for m in record["mutants"]}
    now = {m["name"]: facts(m) for m in today["mutants"]}
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            sys.exit(f"{name}: the page has {was.get(name)}, the command {now.get(name)}: --run")
    if any(not m["example"] for m in today["mutants"]):
        sys.exit(77)  # built without sight of ordinary loads and stores
    def masked(text):
        return re.sub(r"(\.[ch]pp):\d+", r"\1", re.sub(r"\s+", " ", text))
    if masked(between(DIAGNOSES_PAGE)[1]) != masked(diagnoses(today)):
        sys.exit("docs/diagnoses.md is not what the command prints: --diagnoses")


def main():
    parser = argparse.ArgumentParser(description="Pages on the mutants.")
    parser.add_argument("--run", metavar="COMMAND", help="12 seeds, then both pages")
    parser.add_argument("--table", action="store_true", help="the table from the JSON")
    parser.add_argument("--diagnoses", metavar="COMMAND", help="the ten diagnoses")
    parser.add_argument("--check", metavar="COMMAND", help="complain if a page is another")
    options = parser.parse_args()
    if options.run:
        found = run(options.run, SEEDS)
        record = {"question": "planted bugs in the emulator, in every kind of schedule",
                  "date": datetime.date.today().isoformat(), "seeds": SEEDS, **found}
        record["mutants"] = [{**facts(m), "code": m["code"], "caught": m["caught"],
                              "runs": m["runs"]} for m in found["mutants"]]
        with open(RESULT, "w", encoding="utf-8") as file:
            file.write(dump(record))
    if options.run or options.table:
        write(TABLE_PAGE, table(stored()))
    if options.run or options.diagnoses:
        write(DIAGNOSES_PAGE, diagnoses(run(options.run or options.diagnoses, 1)))
    if options.check:
        check(options.check)
    return 0


if __name__ == "__main__":
    sys.exit(main())
