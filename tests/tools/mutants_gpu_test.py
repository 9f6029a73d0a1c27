# SPDX-License-Identifier: Apache-2.0
"""mutants_gpu_test.py  The mutants of docs/mutants-on-a-gpu.md are in docs/mutants.md, which
mutant/mutants_page_test.py compares with the command.

The command may have more: mutants that are newer than the GPU run are not in the table.
"""
import gzip
import json
import os
import sys

root = os.environ["TW_SOURCE_DIR"]
with open(root + "/bench/results/mutants.json", encoding="utf-8") as file:
    today = {m["name"] for m in json.load(file)["mutants"]}
with gzip.open(root + "/bench/results/2026-11-21-h200-mutants.json.gz", "rt") as file:
    rows = json.load(file)["rows"]
shown = {f"{r['kernel']}/{r['name']}" for r in rows if r["name"]}
if not shown or shown - today:
    sys.exit(f"{len(shown)} mutants in the table, of them unknown: {sorted(shown - today)}")
