#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gemm_runs.py  Runs every GEMM kernel of the library in the emulator with every check on; writes
bench/results/DATE-emulator-gemm-runs.json, one line per kernel.

gemm_runs.py [--runs 500] [--command build/bin/tilewright]
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--command", default=os.path.join(ROOT, "build/bin/tilewright"))
    parser.add_argument("--commit", help="default: asked of git")
    options = parser.parse_args()
    words = ["check", "gemm", "--runs", str(options.runs), "--json"]
    done = subprocess.run([options.command, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"tilewright {' '.join(words)} ended with {done.returncode}")
    found = json.loads(done.stdout)
    date = datetime.datetime.now(datetime.timezone.utc)
    head = {"question": "does the emulator report a correct kernel?",
            "command": "tilewright " + " ".join(words),
            "date": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": options.commit or output("git", "rev-parse", "--short=12", "HEAD").strip(),
            "machine": platform.machine(), "runs": found["runs"],
            "false_reports": found["false_reports"],
            "elements_compared": sum(k["elements"] for k in found["kernels"]),
            "wrong_elements": sum(k["wrong_elements"] for k in found["kernels"])}
    lines = [json.dumps({key: k[key] for key in ("name", "runs", "bad_runs", "elements",
                                                 "wrong_elements", "findings")})
             for k in found["kernels"]]
    path = os.path.join(ROOT, "bench/results", f"{date:%Y-%m-%d}-emulator-gemm-runs.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
                   + ' "kernels": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n")
    print(f"{path}: {found['runs']} runs, {found['false_reports']} with reports")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
