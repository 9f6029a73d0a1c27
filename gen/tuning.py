#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tuning tables: the plans that were measured to be the fastest, data/tuning/DEVICE.csv.

    gen/tuning.py add DEVICE FILE...    adds the rows of `tilewright tune --export FILE` that were
                                        measured on this device; later files win
    gen/tuning.py embed --out FILE      writes the C++ source that embeds the tables; the build runs
                                        it

A row: the problem (dense matrices, row-major D; layout: A is T = (m, k) or N = (k, m) in memory, B
is N = (n, k) or T = (k, n)), the kernel as plans name it, tiles that are split along K and by how
many clusters, microseconds, and which start is faster: early, late, or no difference. A kernel that
no list of kernels has (gen/instances.py), a problem that is there twice or out of order, and a
table that no device names are errors, which end the build.
"""
import argparse
import csv
import json
import pathlib
import re
import sys

import instances  # gen/instances.py

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "data/tuning"
COLUMNS = ["m", "n", "k", "batch", "ab", "d", "layout", "scales", "promote", "kernel",
           "shared_tiles", "sharers", "us", "start"]
LAYOUTS = ["TN", "TT", "NT", "NN"]
# The words of one operand's scales, and tw::scaling. A cell is empty, or has a word for A and one
# for B: "row:row".
SCALINGS = {"tensor": "tensor", "row": "row", "1x128": "block_1x128", "128x128": "block_128x128"}
PROMOTES = ["", "0", "64"]  # sums of 8-bit floats are promoted every 128 of K, never, every 64
STARTS = {"": -1, "late": 0, "early": 1}
MAX_NAME = 64


class Wrong(Exception):
    """A row that cannot be embedded, and why."""


def launched_names():
    """The kernels as plans name them: with each number of columns that a launch may choose."""
    names = set()
    for _, listed in instances.read_all().values():
        for i in listed:
            names.add(i.name)
            fields = dict(re.findall(r"\.(\w+) = (\w+)", i.config))
            if int(fields.get("min_tile_n", 0)) > 0:
                before, after = i.around_columns
                columns = range(int(fields["min_tile_n"]), int(fields["tile_n"]) + 1, 8)
                names.update(f"{before}{n}{after}" for n in columns)
    return names


def problem_of(row):
    """The key of a row, and the order of rows."""
    return (int(row["m"]), int(row["n"]), int(row["k"]), int(row["batch"]), row["ab"], row["d"],
            row["layout"], row["scales"], row["promote"])


def scalings_of(row):
    """The scales of A and of B as members of a tuning_row; -1: none."""
    words = row["scales"].split(":") if row["scales"] else []
    return [f"std::int8_t(scaling::{SCALINGS[w]})" for w in words] or ["-1", "-1"]


def checked(row, names):
    """The row; its words and numbers are what they must be."""
    numbers = ["m", "n", "k", "batch", "shared_tiles", "sharers"]
    if not all(row[c] is not None and re.fullmatch(r"\d{1,9}", row[c]) for c in numbers):
        raise Wrong(f"{', '.join(numbers)}: not all are whole numbers below 10^9")
    if not all(int(row[c]) > 0 for c in numbers[:4]):
        raise Wrong("an extent is zero")
    if row["layout"] not in LAYOUTS:
        raise Wrong(f"layout '{row['layout']}' is not one of {', '.join(LAYOUTS)}")
    word = "|".join(SCALINGS)
    if not re.fullmatch(f"(({word}):({word}))?", row["scales"]):
        raise Wrong(f"scales '{row['scales']}' are not two of {', '.join(SCALINGS)}, as row:row")
    if row["promote"] not in PROMOTES:
        raise Wrong(f"promote '{row['promote']}' is not 0, 64 or empty")
    if not re.fullmatch(r"\d+(\.\d+)?", row["us"] or "") or not float(row["us"]) > 0:
        raise Wrong(f"us '{row['us']}' is no time")
    if row["start"] not in STARTS:
        raise Wrong(f"start '{row['start']}' is not early, late or empty")
    if row["kernel"] not in names:
        raise Wrong(f"unknown kernel '{row['kernel']}'")
    if f"_{row['ab']}_{row['d']}_" not in row["kernel"]:
        raise Wrong(f"kernel '{row['kernel']}' is not for {row['ab']} to {row['d']}")
    return row


def rows_of(path, columns, names):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != columns:
            raise Wrong(f"{path}: columns are not {', '.join(columns)}")
        for row in reader:
            try:
                if None in row:
                    raise Wrong("more cells than columns")
                yield checked(row, names)
            except Wrong as wrong:
                raise Wrong(f"{path}:{reader.line_num}: {wrong}") from None


def read(path, names):
    """The rows of a table, in order, each problem once."""
    rows = list(rows_of(path, COLUMNS, names))
    for before, row in zip(rows, rows[1:]):
        if problem_of(before) >= problem_of(row):
            raise Wrong(f"{path}: {problem_of(row)} is there twice or out of order")
    return rows


def f16_twin(row, names):
    """The kernel that is the same but for f16 in the place of bf16, or nothing."""
    twin = row["kernel"].replace("bf16", "f16")
    return twin if row["ab"] == "bf16" and not row["scales"] and twin in names else ""


def embedded(tables, names):
    used = {""}
    for rows in tables.values():
        for row in rows:
            used |= {row["kernel"], f16_twin(row, names)}
    used = sorted(used)
    if longest := [name for name in used if len(name) >= MAX_NAME]:
        raise Wrong(f"the name {longest[0]} has {MAX_NAME} characters or more")
    index = {name: i for i, name in enumerate(used)}
    text = ("// Generated by gen/tuning.py from data/tuning/*.csv\n"
            '#include "dispatch/tuning/embedded_tuning.hpp"\n\nnamespace tw {\nnamespace {\n\n'
            f"constexpr char kernels[][{MAX_NAME}] = {{\n"
            + "".join(f'    "{name}",\n' for name in used) + "};\n\n")
    for device, rows in tables.items():
        text += f"constexpr tuning_row rows_of_{device}[] = {{\n"
        for r in rows:
            scale_a, scale_b = scalings_of(r)
            text += (f"    {{{r['m']}, {r['n']}, {r['k']}, {r['batch']}, elem::{r['ab']}, "
                     f"elem::{r['d']}, {LAYOUTS.index(r['layout'])}, {scale_a}, {scale_b}, "
                     f"{r['promote'] or 128}, {STARTS[r['start']]}, "
                     f"{index[r['kernel']]}, {index[f16_twin(r, names)]}, {r['shared_tiles']}, "
                     f"{r['sharers']}, {float(r['us'])}F}},\n")
        text += "};\n"
    listed = "".join(f'    {{"{d}", rows_of_{d}}},\n' for d in tables)
    return (text + f"constexpr tuning_table tables[] = {{\n{listed}}};\n\n}}  // namespace\n\n"
            "std::span<tuning_table const> tuning_tables() { return tables; }\n\n"
            "std::string_view tuning_kernel(int index) { return kernels[index]; }\n\n"
            "}  // namespace tw\n")


def embed(out, folder, devices):
    """Every table is one that a device has, and every device's table is there."""
    names = launched_names()
    tables = {path.stem: read(path, names) for path in sorted(folder.glob("*.csv"))}
    wanted = set()
    for path in sorted(devices.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        wanted |= {record["tuning_table"], record["fallback_tuning_table"]} - {""}
    if missing := sorted(wanted - set(tables)):
        raise Wrong(f"a device has the tuning table {missing[0]}, which {folder} lacks")
    if unused := sorted(set(tables) - wanted):
        raise Wrong(f"{folder}/{unused[0]}.csv is the tuning table of no device")
    out.write_text(embedded(tables, names), encoding="utf-8")


def add(device, files):
    names = launched_names()
    path = FOLDER / f"{device}.csv"
    cuda_names = json.loads((ROOT / f"devices/{device}.json").read_text())["cuda_names"]
    rows = {problem_of(r): r for r in read(path, names)} if path.exists() else {}
    before = len(rows)
    for file in files:
        for row in rows_of(file, ["device", *COLUMNS], names):
            if row.pop("device") in cuda_names:
                rows[problem_of(row)] = row
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[p] for p in sorted(rows))
    print(f"{len(rows)} rows, {before} before")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    adding = verbs.add_parser("add")
    adding.add_argument("device")
    adding.add_argument("files", nargs="+", type=pathlib.Path)
    embedding = verbs.add_parser("embed")
    embedding.add_argument("--out", type=pathlib.Path, required=True)
    embedding.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    embedding.add_argument("--devices", type=pathlib.Path, default=ROOT / "devices")
    asked = parser.parse_args()
    try:
        if asked.verb == "add":
            add(asked.device, asked.files)
        else:
            embed(asked.out, asked.folder, asked.devices)
    except (Wrong, instances.Problem) as wrong:
        print(f"tuning.py: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
