#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants_gpu.py  Raw output of the mutants on a GPU to JSON, and JSON to a page of docs.

    tests/gpu/mutants/on_a_gpu.py build build/mutants
    tests/gpu/mutants/on_a_gpu.py run build/mutants -o raw.json    # on a machine with a GPU
    build/bin/tilewright check --mutants --seeds 12 --json > emulator.json
    python3 gen/measured/mutants_gpu.py --merge raw.json emulator.json -o DATE-h200-mutants.json.gz

Then `python3 gen/measured/mutants_gpu.py --table` writes the table of the page again; --check
compares.
"""
import argparse
import gzip
import json
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RESULT = os.path.join(ROOT, "bench/results/2026-11-21-h200-mutants.json.gz")
PAGE = os.path.join(ROOT, "docs/mutants-on-a-gpu.md")
TOOLS = ["racecheck", "synccheck", "memcheck", "initcheck"]
BEGIN, END = "<!-- from here: gen/measured/mutants_gpu.py --table -->\n", "<!-- to here -->\n"


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def merge(raw, emulator):
    """One record: what was used, and a row for each mutant and correct kernel."""
    named = {m["name"]: m for m in emulator["mutants"]}
    if emulator["false_reports"] != 0:
        sys.exit("the emulator has reported correct kernels")
    card, driver = [part.strip() for part in raw["card"].split(",")]
    result = {"question": "planted faults: the emulator, a GPU, compute-sanitizer",
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
            row[tool] = raw[tool].get(number, {"reports": None, "deadlocks": 0, "said": [],
                                               "end": "not run"})
        result["rows"].append(row)
    return result


def dump(result):
    """JSON with one line for each row."""
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in result.items() if k != "rows"]
    rows = ",\n".join("  " + json.dumps(row) for row in result["rows"])
    return "{\n" + ",\n".join(lines) + ",\n \"rows\": [\n" + rows + "\n ]\n}\n"


def plain_cell(plain):
    if plain["end"] == "hung":
        return "hung"
    if plain["end"]:
        return f"launch {plain['launches'] + 1}: {plain['end'].removeprefix('kernel: ')}"
    return f"{plain['wrong_launches']} of {plain['launches']}"


def emulator_cell(row):
    if not row["name"]:
        return "no report"
    e = row["emulator"]
    return f"{e['code']}, {e['caught']} of {e['runs']}"


def silent(row):
    """Plain launches all came to their end, with right results."""
    return not row["plain"]["end"] and row["plain"]["wrong_launches"] == 0


class Table:
    """The rows, and which reports tell a mutant from its correct kernel."""

    def __init__(self, result):
        self.result, self.rows = result, result["rows"]
        self.mutants = [r for r in self.rows if r["name"]]
        self.correct = {r["kernel"]: r for r in self.rows if not r["name"]}

    def distinct(self, row, tool):
        """Kinds of report that the correct kernel does not get."""
        return set(row[tool]["said"]) - set(self.correct[row["kernel"]][tool]["said"])

    def tool_cell(self, row, tool):
        checked = row[tool]
        if checked["reports"] is None:
            return "deadlock, hung" if checked["deadlocks"] else checked["end"] or "no summary"
        if row["name"] and checked["said"] and not self.distinct(row, tool):
            return f"{checked['reports']}, as correct"
        return f"{checked['reports']}" + (", failed" if checked.get("error") else "")

    def summary(self):
        launches, quiet = self.result["launches"], [r for r in self.mutants if silent(r)]
        caught = [r for r in self.mutants if r["emulator"]["caught"] == r["emulator"]["runs"]]
        rows = [("the emulator, in every run", caught, []),
                (f"{launches} plain launches: hung, failed, or wrong once",
                 [r for r in self.mutants if not silent(r)],
                 [r for r in self.correct.values() if not silent(r)])]
        rows += [(tool, [r for r in self.mutants if self.distinct(r, tool)],
                  [r for r in self.correct.values() if r[tool]["said"]]) for tool in TOOLS]
        rows.append(("any of the four tools",
                     [r for r in self.mutants if any(self.distinct(r, tool) for tool in TOOLS)],
                     [r for r in self.correct.values() if any(r[tool]["said"] for tool in TOOLS)]))
        out = [f"| found by | mutants, of {len(self.mutants)} | of the {len(quiet)} that plain "
               f"launches do not show | correct kernels reported, of {len(self.correct)} |",
               "|---|---:|---:|---:|"]
        out += [f"| {what} | {len(found)} | {sum(r in quiet for r in found)} | {len(false)} |"
                for what, found, false in rows]
        unseen = [r for r in self.mutants
                  if r["racecheck"].get("wrong_launches") and not self.distinct(r, "racecheck")]
        return out + ["", f"{len(unseen)} mutants gave wrong results while racecheck watched and "
                          "reported nothing that it does not report of the correct kernel."]

    def lines(self):
        tools = " | ".join(TOOLS)
        out = [f"| mutant | emulator | plain launches wrong | {tools} | ptxas |",
               "|---|---|---|" + "---|" * (len(TOOLS) + 1)]
        for r in self.rows:
            name = f"{r['kernel']}/{r['name']}" if r["name"] else f"**{r['kernel']}, correct**"
            cells = [name, emulator_cell(r), plain_cell(r["plain"]),
                     *(self.tool_cell(r, tool) for tool in TOOLS), ", ".join(r["ptxas"])]
            out.append("| " + " | ".join(cells) + " |")
        return out

    def reports(self):
        said = {}
        for r in self.rows:
            for tool in TOOLS:
                for text in r[tool]["said"]:
                    name = f"{r['kernel']}/{r['name']}" if r["name"] else f"{r['kernel']}, correct"
                    said.setdefault((tool, text), []).append(name)
        return ["| tool | what it said | of |", "|---|---|---|"] + [
            f"| {tool} | {text} | {', '.join(names)} |" for (tool, text), names in
            sorted(said.items(), key=lambda item: TOOLS.index(item[0][0]))]


def table(result):
    t, device = Table(result), result["device"]
    out = [f"{result['date']}: {device['card']}, driver {device['driver']}, nvcc "
           f"{result['nvcc'].lstrip('V')}, compute-sanitizer "
           f"{result['compute_sanitizer']}, commit {result['commit']}.", ""]
    out += [*t.summary(), "", *t.lines(), "", *t.reports()]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="The mutants on a GPU.")
    parser.add_argument("--merge", nargs=2, metavar=("RAW", "EMULATOR"))
    parser.add_argument("-o", default=RESULT, help="the JSON that --merge writes")
    parser.add_argument("--table", action="store_true", help="write the table of the page")
    parser.add_argument("--check", action="store_true", help="complain if the table is another")
    options = parser.parse_args()
    if options.merge:
        text = dump(merge(*map(read, options.merge))).encode()
        with open(options.o, "wb") as file:
            file.write(gzip.compress(text, mtime=0) if options.o.endswith(".gz") else text)
    if options.table or options.check:
        fresh = table(read(RESULT))
        with open(PAGE, encoding="utf-8") as file:
            before, rest = file.read().split(BEGIN)
        written, after = rest.split(END)
        if options.check and written != fresh:
            sys.exit("the page is not what bench/results says: "
                     "python3 gen/measured/mutants_gpu.py --table")
        if options.table:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(before + BEGIN + fresh + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
