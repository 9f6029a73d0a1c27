# SPDX-License-Identifier: Apache-2.0
"""mutants_gpu_test.py  The mutants of docs/mutants-on-a-gpu.md are those of the command.

The command may have more: mutants that are newer than the GPU run are not in the table.
"""
import gzip
import json
import os
import subprocess
import sys

root = os.environ["TW_SOURCE_DIR"]
done = subprocess.run([os.environ["TW_COMMAND"], "check", "--mutants", "--seeds", "1", "--json",
                       "--quiet"], capture_output=True, text=True, check=False)
if not done.stdout:
    sys.exit(done.stderr)
today = {m["name"] for m in json.loads(done.stdout)["mutants"]}
with gzip.open(root + "/bench/results/2026-11-21-h200-mutants.json.gz", "rt") as file:
    rows = json.load(file)["rows"]
shown = {f"{r['kernel']}/{r['name']}" for r in rows if r["name"]}
if not shown or shown - today:
    sys.exit(f"{len(shown)} mutants in the table, of them unknown: {sorted(shown - today)}")
