#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cost.py  Compile time of the layout header, and run time of its operations.

Writes JSON: processor seconds of nvcc and g++ for an empty source, for one that includes
layout.hpp, and for 50 operations of the algebra at compile time more; nanoseconds of each
operation at run time (tests/law/layout_cost.cpp: a call by name, the arguments parsed and the
result printed each time).
Targets: include at most 0.2 s over an empty .cu, 50 operations at most 0.5 s more, an operation at
most 1000 ns times the leaves of its arguments. Nothing is asserted: times depend on the machine.
    tests/law/cost.py [-o FILE] [--library build/...libtilewright.a]
"""
import argparse
import datetime
import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
INCLUDE = '#include "tilewright/layout/layout.hpp"\nusing namespace tw;\n'
OPERATIONS = ['composition("({0},8):(8,1)"_L, "2:2"_L)', 'complement("{0}:2"_L, 512)',
              'zipped_divide("({0},8):(8,1)"_L, tile(2, 4))', 'right_inverse("({0},8):(8,1)"_L)',
              'blocked_product("(2,{0}):({0},1)"_L, "(3,2):(1,3)"_L)']


def fifty():
    """50 different operations; each value is used, so that none is left out."""
    lines = []
    for i in range(50):
        text = OPERATIONS[i % 5].replace("{0}", str(4 * (i // 5 + 1)))
        lines += [f"constexpr layout l{i} = {text};", f"static_assert(size(l{i}) > 0);"]
    return "\n".join(lines) + "\n"


def best(commands, rounds=7):
    """Seconds of the cheapest of some rounds, in turns: load affects all alike."""
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {name: round(min(t), 3) for name, t in times.items()}


def first_line(command, pattern):
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(pattern, text)
    return found[0] if found else None


def compile_times(folder):
    sources = {"empty": "", "include": INCLUDE, "fifty": INCLUDE + fifty()}
    result = {}
    for compiler, ending, flags in (
            ("nvcc", ".cu", ["-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-c"]),
            ("g++", ".cpp", ["-std=c++20", "-c"])):
        if not shutil.which(compiler):
            continue
        commands = {}
        for name, text in sources.items():
            path = os.path.join(folder, name + ending)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            commands[name] = [compiler, *flags, "-I", os.path.join(ROOT, "include"), path, "-o",
                              os.path.join(folder, "out.o")]
        seconds = best(commands)
        result[compiler] = {
            "version": first_line([compiler, "--version"], r"release [\d.]+, V\S+|g\+\+ .*"),
            "empty_s": seconds["empty"], "include_s": seconds["include"],
            "fifty_s": seconds["fifty"],
            "include_over_empty_s": round(seconds["include"] - seconds["empty"], 3),
            "fifty_over_include_s": round(seconds["fifty"] - seconds["include"], 3)}
    return result


def run_times(folder, library, program):
    program = program or build_program(folder, library)
    corpus = os.path.join(folder, "layouts.jsonl")
    with gzip.open(os.path.join(ROOT, "tests/conform/layouts.jsonl.gz"), "rb") as packed, \
            open(corpus, "wb") as file:
        shutil.copyfileobj(packed, file)
    done = subprocess.run([program, corpus], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def build_program(folder, library):
    program = os.path.join(folder, "layout_cost")
    sources = [library] if library else [
        os.path.join(ROOT, f"src/{part}/{name}") for part in ("layout", "atom", "base")
        for name in sorted(os.listdir(os.path.join(ROOT, "src", part))) if name.endswith(".cpp")]
    objects = []
    for source in [os.path.join(ROOT, "tests/law/layout_cost.cpp")] + sources:
        if source.endswith(".a"):
            objects.append(source)
            continue
        objects.append(os.path.join(folder, f"{len(objects)}.o"))
        subprocess.run(["g++", "-std=c++20", "-O2", "-I", os.path.join(ROOT, "include"), "-I",
                        os.path.join(ROOT, "src"), "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["g++", *objects, "-lfmt", "-o", program], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description="Cost of the layout algebra.")
    parser.add_argument("-o", "--output", default=os.path.join(
        ROOT, f"bench/results/{datetime.date.today()}-layout-cost.json"))
    parser.add_argument("--library", help="libtilewright.a; without it the sources are compiled")
    parser.add_argument("--program", help="layout_cost, built before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = {"date": str(datetime.date.today()),
                  "command": "tests/law/cost.py",
                  "cpu": first_line(["lscpu"], r"(?<=Model name:)\s*.*").strip(),
                  "cpus": os.cpu_count(), "load": os.getloadavg()[0],
                  "compile": compile_times(folder),
                  "operations": run_times(folder, options.library, options.program)}
    rows = result["operations"]
    result["slowest_ns_per_leaf"] = max(rows, key=lambda r: r["ns_per_leaf"])
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(json.dumps(result["compile"], indent=1))
    print(len(rows), "operations, slowest per leaf:", result["slowest_ns_per_leaf"])


if __name__ == "__main__":
    main()
