#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects measured times of plans in data/trials/DEVICE.csv.gz, which gen/fit_model.py reads.

    gen/trials.py DEVICE FILE...

FILE is a tuning database of `tilewright tune` (tune.db), a result of `tilewright bench gemm
--plans N --json FILE`, or a JSON file of the schema tilewright.trials/1. Trials of the same plan of
the same problem replace older ones, in the order of the files.
"""
import csv
import gzip
import io
import json
import pathlib
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "data/trials"
COLUMNS = ["problem", "kernel", "swapped", "shared_tiles", "sharers", "us"]
DTYPES = {"bf16": ("bf16", "bf16"), "bf16_f32": ("bf16", "f32"), "f16": ("f16", "f16"),
          "fp16": ("f16", "f16"), "f16_f32": ("f16", "f32"), "fp16_f32": ("f16", "f32")}


def problem_key(shape):
    """As problem_key() of dispatch/tuning/tuning_key.cpp writes it: dense matrices, row-major D."""
    m, n, k, batch = shape["m"], shape["n"], shape["k"], shape.get("batch", 1)
    ab, d = DTYPES[shape["dtype"]]
    a_t, b_n = shape["layout"][0] == "T", shape["layout"][1] == "N"
    strides = (m * k, n * k, m * n) if batch > 1 else (0, 0, 0)
    return (f"{m}x{n}x{k}x{batch} a={ab},{'T' if a_t else 'N'},{k if a_t else m},{strides[0]}"
            f" b={ab},{'N' if b_n else 'T'},{k if b_n else n},{strides[1]}"
            f" d={d},T,{n},{strides[2]}")


def trials_of_database(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    yield from database.execute(f"SELECT {', '.join(COLUMNS)} FROM measurement ORDER BY rowid")


def trials_of_json(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    if record["schema"] == "tilewright.trials/1":
        for problem in record["problems"]:
            for kernel, swapped, shared, sharers, us, _ in problem["plans"]:
                yield problem["problem"], kernel, int(swapped), shared, sharers, us
        return
    for shape in record["shapes"]:
        if shape.get("category") == "epilogue" or shape["dtype"] not in DTYPES:
            continue
        for p in shape.get("plans") or []:
            if p["us"] is not None:
                yield (problem_key(shape), p["kernel"], int(p["swapped"]), p["shared_tiles"],
                       p["sharers"], p["us"])


def read(device):
    """{(problem, kernel, swapped, shared_tiles, sharers): us}"""
    path = FOLDER / f"{device}.csv.gz"
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        if next(rows) != COLUMNS:
            raise SystemExit(f"{path}: columns are not {', '.join(COLUMNS)}")
        return {(r[0], r[1], int(r[2]), int(r[3]), int(r[4])): float(r[5]) for r in rows}


def write(device, trials):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for key, us in sorted(trials.items()):
        rows.writerow([*key, f"{us:.3f}"])
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{device}.csv.gz", "wb") as file:  # the same bytes each time
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            packed.write(text.getvalue().encode())


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    device, files = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    trials = read(device)
    before = len(trials)
    for path in files:
        found = trials_of_json(path) if path.suffix == ".json" else trials_of_database(path)
        for *key, us in found:
            trials[tuple(key)] = us
    write(device, trials)
    print(f"{len(trials)} trials of {len({t[0] for t in trials})} problems, {before} before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
