#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gemm_runs.py  Runs every GEMM kernel of the library in the emulator with every check on; writes
bench/results/DATE-emulator-gemm-runs.json, one line per kernel.

gemm_runs.py [--runs 500] [--command build/bin/tilewright] [--jobs N] [--part I/N] [--out FILE]

One process for each kernel. --part does one Nth of the kernels;
gemm_runs.py --merge FILE... makes one file of several.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import platform
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def check(command, runs, name=None):
    words = ["check", "gemm", "--runs", str(runs), "--json", "--quiet"]
    words += ["--kernel", name] if name else []
    done = subprocess.run([command, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"tilewright {' '.join(words)} ended with {done.returncode}")
    return json.loads(done.stdout)["kernels"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--command", default=os.path.join(ROOT, "build/bin/tilewright"))
    parser.add_argument("--commit", help="default: of git")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--merge", nargs="+")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.merge:
        files = [json.load(open(path, encoding="utf-8")) for path in options.merge]
        kernels = [k for file in files for k in file["kernels"]]
        runs, commit = files[0]["runs_each"], files[0]["commit"]
        if any(file["runs_each"] != runs or file["commit"] != commit for file in files):
            sys.exit("these files are not parts of one measurement")
    else:
        part, parts = map(int, options.part.split("/"))
        names = sorted(k["name"] for k in check(options.command, 1))[part::parts]
        runs, commit = options.runs, options.commit
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(lambda name: check(options.command, runs, name), names)
            # A name may be part of another one, whose kernel then runs twice.
            kernels = [k for name, some in zip(names, found) for k in some if k["name"] == name]
    kernels.sort(key=lambda k: k["name"])
    date = datetime.datetime.now(datetime.timezone.utc)
    head = {"question": "does the emulator report a correct kernel?",
            "command": f"tilewright check gemm --runs {runs} --json",
            "date": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": commit or output("git", "rev-parse", "--short=12", "HEAD").strip(),
            "machine": platform.machine(), "runs_each": runs,
            "runs": sum(k["runs"] for k in kernels),
            "false_reports": sum(k["bad_runs"] for k in kernels),
            "elements_compared": sum(k["elements"] for k in kernels),
            "wrong_elements": sum(k["wrong_elements"] for k in kernels)}
    lines = [json.dumps({key: k[key] for key in ("name", "runs", "bad_runs", "elements",
                                                 "wrong_elements", "findings")})
             for k in kernels]
    path = options.out or os.path.join(ROOT, "bench/results",
                                       f"{date:%Y-%m-%d}-emulator-gemm-runs.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
                   + ' "kernels": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n")
    found = f"{head['runs']} runs, {head['false_reports']} with reports"
    print(f"{path}: {len(kernels)} kernels, {found}")
    return 1 if head["false_reports"] or head["wrong_elements"] else 0


if __name__ == "__main__":
    sys.exit(main())
