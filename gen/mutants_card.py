#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants_card.py  Raw output of the mutants on the card to JSON, and JSON to a page of docs.

    tests/gpu/mutants/on_the_card.py build build/mutants
    tests/gpu/mutants/on_the_card.py run build/mutants -o raw.json    # where the card is
    build/bin/tilewright check --mutants --seeds 12 --json > emulator.json
    python3 gen/mutants_card.py --merge raw.json emulator.json -o DATE-h200-mutants.json

Then `python3 gen/mutants_card.py --table` writes the table of the page again; --check compares.
"""
import argparse
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULT = os.path.join(ROOT, "bench/results/2026-11-21-h200-mutants.json")
PAGE = os.path.join(ROOT, "docs/mutants-on-the-card.md")
TOOLS = ["racecheck", "synccheck", "memcheck", "initcheck"]
BEGIN, END = "<!-- from here: gen/mutants_card.py --table -->\n", "<!-- to here -->\n"


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def merge(raw, emulator):
    """One record: what was used, and a row for each mutant and correct kernel."""
    named = {m["name"]: m for m in emulator["mutants"]}
    if emulator["false_reports"] != 0:
        sys.exit("the emulator has reported correct kernels")
    card, driver = [part.strip() for part in raw["card"].split(",")]
    result = {"question": "planted bugs: the emulator, the card, compute-sanitizer",
              "date": raw["date"], "commit": raw["commit"],
              "device": {"card": card, "driver": driver}, "nvcc": raw["nvcc"],
              "compute_sanitizer": raw["sanitizer"], "launches": raw["launches"],
              "launches_checked": raw["launches_checked"], "rows": []}
    for listed in raw["rows"]:
        number, name = str(listed["row"]), f"{listed['kernel']}/{listed['name'] or 'none'}"
        row = {"kernel": listed["kernel"], "name": listed["name"]}
        if listed["name"]:
            found = named[name]
            row["emulator"] = {key: found[key] for key in ("code", "caught", "runs")}
        row["ptxas"] = raw["ptxas_notes"].get(name, [])
        row["plain"] = raw["plain"][number]
        for tool in TOOLS:
            row[tool] = raw[tool].get(number, {"reports": None, "said": [], "end": "not run"})
        result["rows"].append(row)
    return result


def dump(result):
    """JSON with one line for each row."""
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in result.items() if k != "rows"]
    rows = ",\n".join("  " + json.dumps(row) for row in result["rows"])
    return "{\n" + ",\n".join(lines) + ",\n \"rows\": [\n" + rows + "\n ]\n}\n"


def plain_cell(plain):
    if plain["end"]:
        return plain["end"]
    return f"{plain['wrong_launches']} of {plain['launches']}"


def tool_cell(checked):
    if checked["reports"] is None:
        return checked["end"] or "no summary"
    return str(checked["reports"])


def emulator_cell(row):
    if not row["name"]:
        return "no report"
    e = row["emulator"]
    return f"{e['code']}, {e['caught']} of {e['runs']}"


def silent(row):
    """Plain launches all came to their end, with right results."""
    return not row["plain"]["end"] and row["plain"]["wrong_launches"] == 0


def table(result):
    mutants = [r for r in result["rows"] if r["name"]]
    correct = [r for r in result["rows"] if not r["name"]]

    def reported(rows, tool):
        return sum(1 for r in rows if r[tool]["reports"])

    def judged(rows, tool):
        return sum(1 for r in rows if r[tool]["reports"] is not None)

    caught = sum(1 for r in mutants if r["emulator"]["caught"] == r["emulator"]["runs"])
    device = result["device"]
    out = [f"{result['date']}, {device['card']}, driver {device['driver']}, nvcc "
           f"{result['nvcc'].lstrip('V')}, compute-sanitizer {result['compute_sanitizer']}, commit "
           f"{result['commit']}. {len(mutants)} mutants of {len(correct)} kernels.", "",
           "| | mutants | of | correct kernels | of |", "|---|---:|---:|---:|---:|",
           f"| reported by the emulator in every run | {caught} | {len(mutants)} | 0 | "
           f"{len(correct)} |",
           f"| hung, failed or wrong at least once in {result['launches']} launches | "
           f"{sum(not silent(r) for r in mutants)} | {len(mutants)} | "
           f"{sum(not silent(r) for r in correct)} | {len(correct)} |"]
    out += [f"| reported by {tool} | {reported(mutants, tool)} | {judged(mutants, tool)} | "
            f"{reported(correct, tool)} | {judged(correct, tool)} |" for tool in TOOLS]
    out += ["", "| mutant | emulator | plain launches wrong | " + " | ".join(TOOLS) + " | ptxas |",
            "|---|---|---|" + "---|" * (len(TOOLS) + 1)]
    for r in result["rows"]:
        name = f"{r['kernel']}/{r['name']}" if r["name"] else f"**{r['kernel']}, correct**"
        out.append(f"| {name} | {emulator_cell(r)} | {plain_cell(r['plain'])} | " +
                   " | ".join(tool_cell(r[tool]) for tool in TOOLS) +
                   f" | {', '.join(r['ptxas'])} |")
    said = {}
    for r in result["rows"]:
        for tool in TOOLS:
            for text in r[tool]["said"]:
                said.setdefault((tool, text), []).append(
                    f"{r['kernel']}/{r['name']}" if r["name"] else f"{r['kernel']}, correct")
    out += ["", "| tool | what it said | about |", "|---|---|---|"]
    out += [f"| {tool} | {text} | {', '.join(names)} |" for (tool, text), names in
            sorted(said.items(), key=lambda item: TOOLS.index(item[0][0]))]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="The mutants on the card.")
    parser.add_argument("--merge", nargs=2, metavar=("RAW", "EMULATOR"))
    parser.add_argument("-o", default=RESULT, help="the JSON that --merge writes")
    parser.add_argument("--table", action="store_true", help="write the table of the page")
    parser.add_argument("--check", action="store_true", help="complain if the table is another")
    options = parser.parse_args()
    if options.merge:
        with open(options.o, "w", encoding="utf-8") as file:
            file.write(dump(merge(*map(read, options.merge))))
    if options.table or options.check:
        fresh = table(read(RESULT))
        with open(PAGE, encoding="utf-8") as file:
            before, rest = file.read().split(BEGIN)
        written, after = rest.split(END)
        if options.check and written != fresh:
            sys.exit("the page is not what bench/results says: python3 gen/mutants_card.py --table")
        if options.table:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(before + BEGIN + fresh + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
