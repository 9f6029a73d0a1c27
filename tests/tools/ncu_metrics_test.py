#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ncu_metrics_test.py  The metrics of `tilewright profile` exist on a GH100: in the list of ncu
where it is installed, else in the list in tests/tools/data/ncu."""
import json
import os
import re
import shutil
import subprocess
import sys

COMMAND = os.environ["TW_COMMAND"]
LIST = os.path.join(os.environ["TW_SOURCE_DIR"], "tests/tools/data/ncu/ncu_metrics_gh100.txt")


def known_metrics():
    if ncu := shutil.which("ncu"):
        done = subprocess.run([ncu, "--query-metrics", "--chip", "gh100"], capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            return set(re.findall(r"^(\w+__\w+)", done.stdout, re.M)), ncu
    with open(LIST, encoding="utf-8") as file:
        return set(file.read().split()), LIST


def main():
    done = subprocess.run([COMMAND, "profile", "--list", "--json"], capture_output=True, text=True,
                          check=True)
    names = [m["metric"] for m in json.loads(done.stdout)["metrics"]]
    known, source = known_metrics()
    missing = [n for n in names if n.split(".")[0] not in known]
    form = re.compile(r"\w+__\w+\.(sum|avg|max|min)(\.pct_of_peak_sustained_(elapsed|active))?")
    malformed = [n for n in names if not form.fullmatch(n)]
    print(f"{len(names)} metrics, {len(known)} known of {source}")
    if missing or malformed or not names:
        print(f"not known: {missing}; not a metric with its roll-up: {malformed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
