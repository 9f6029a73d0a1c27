#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_history.py  Keeps bench/results/history.csv, a row per measurement, category, contender.

    bench_history.py FILE...   enters results of `tilewright bench gemm --json FILE`; the rows
                               of a file of that name are replaced
    bench_history.py --check   exits 1 if a result in bench/results has rows that are missing,
                               or that are not what it says

The tree keeps the newest result of each kind (list of shapes and contenders); the table keeps all.
A ratio is the contender's median time divided by ours, so above 1 Tilewright is faster. A contender
that took the same algorithm as another (`same_as`) has its time.
"""
import csv
import gzip
import io
import json
import math
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RESULTS = os.path.join(ROOT, "bench/results")
TABLE = os.path.join(RESULTS, "history.csv")
COLUMNS = ["result", "date", "commit", "device", "shapes_file", "mode", "category", "contender",
           "shapes", "ratio_mean", "ratio_min", "ratio_max"]
SCHEMA = "tilewright.bench.gemm/1"


def name_of(path):
    return os.path.basename(path).removesuffix(".gz").removesuffix(".json")


def read_result(path):
    """The JSON of a result, which may be packed with gzip."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def medians_us(shape, mode):
    """The median time of each contender that was measured in this mode."""
    providers = {p["provider"]: p for p in shape.get("providers", [])}
    found = {}
    for name, provider in providers.items():
        measured = provider if mode in provider else providers.get(provider.get("same_as"), {})
        if mode in measured:
            found[name] = measured[mode]["us"]["median"]
    return found


def rows_of(name, result):
    """The rows of one result. Shapes that were not measured count nowhere."""
    if result.get("schema") != SCHEMA:
        raise ValueError(f"{name}: got schema {result.get('schema')}, need {SCHEMA}: "
                         "pass what `tilewright bench gemm --json` wrote")
    environment, argv = result["environment"], result["environment"]["argv"]
    shapes_file = os.path.basename(argv[argv.index("--shapes") + 1])
    asked = result["protocol"]["mode"]
    ratios = {}
    for mode in ("burst", "sustained") if asked == "both" else (asked,):
        for shape in result["shapes"]:
            us = medians_us(shape, mode)
            for contender in us.keys() - {"tilewright"}:
                if "tilewright" in us:
                    ratios.setdefault((mode, shape["category"], contender), []).append(
                        us[contender] / us["tilewright"])
    rows = []
    for (mode, category, contender), values in sorted(ratios.items()):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        rows.append(dict(zip(COLUMNS, [
            name, environment["date"][:10], environment["commit"], result["device"]["card"],
            shapes_file, mode, category, contender, str(len(values)), f"{mean:.3f}",
            f"{min(values):.3f}", f"{max(values):.3f}"])))
    return rows


def read_table():
    if not os.path.exists(TABLE):
        return []
    with open(TABLE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows, key=lambda row: [row[c] for c in COLUMNS[:8]]))
    return out.getvalue()


def enter(paths):
    rows = read_table()
    for path in paths:
        name = name_of(path)
        found = rows_of(name, read_result(path))
        rows = [row for row in rows if row["result"] != name] + found
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text_of(rows))


def check():
    """Complaints about the table."""
    table = read_table()
    with open(TABLE, encoding="utf-8") as file:
        complaints = [] if file.read() == text_of(table) else [f"{TABLE}: rows are not in order"]
    for entry in sorted(os.listdir(RESULTS)):
        if not entry.endswith((".json", ".json.gz")):
            continue
        result = read_result(os.path.join(RESULTS, entry))
        name = name_of(entry)
        old = [row for row in table if row["result"] == name]
        if result.get("schema") == SCHEMA and text_of(rows_of(name, result)) != text_of(old):
            complaints.append(f"stale: history.csv has other rows for {entry}; "
                              f"run gen/measured/bench_history.py bench/results/{entry}")
    return complaints


def main():
    if sys.argv[1:] == ["--check"]:
        complaints = check()
        print("\n".join(complaints), end="\n" if complaints else "", file=sys.stderr)
        return 1 if complaints else 0
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        enter(sys.argv[1:])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
