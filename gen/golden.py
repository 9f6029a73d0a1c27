#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py  Registers and instructions of each kernel, compared with tests/golden/ptxas.json.

The build leaves OBJECT.ptxas.json beside each CUDA object (cmake/ptxas_check.py). Registers depend
on the ptxas version, so the accepted file names the one it belongs to; with another version the
comparison is skipped (exit status 77). ./dev golden --accept writes the file anew; with a smaller
set than TW_KERNELS=full only the figures of the kernels that the build has. A smaller set is
compared with the kernels that it has.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

import instances  # gen/instances.py

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = os.path.join(ROOT, "tests/golden/ptxas.json")
FIGURES = ["registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes", "smem_bytes"]
MAX_SYMBOL = 288  # characters
MAX_LINES = 12  # of differences shown


def nvcc_version(build):
    for path in glob.glob(os.path.join(build, "CMakeFiles/*/CMakeCUDACompiler.cmake")):
        with open(path, encoding="utf-8") as file:
            if found := re.search(r'CMAKE_CUDA_COMPILER_VERSION "([^"]+)"', file.read()):
                return found[1]
    return None


def kernel_set(build):
    """The set of kernels that have device code in the build: TW_DEVICE_KERNELS or TW_KERNELS."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        text = file.read()
    device = re.search(r"^TW_DEVICE_KERNELS:\w+=(\w+)$", text, re.M)
    return (device or re.search(r"^TW_KERNELS:\w+=(\w+)$", text, re.M))[1]


def missing_instances(which, found):
    """A complaint if the build does not have as many kernels of the families as its set lists."""
    listed = sum(i.in_set(which) for _, all_of_it in instances.read_all().values()
                 for i in all_of_it)
    built = len({re.sub(r" \(sm_\w+\)$", "", name) for name in found if "_config{" in name})
    if listed != built:
        yield f"the {which} set lists {listed} kernels, and {built} are built"


def names_of(symbols):
    """Names without parameter lists."""
    done = subprocess.run(["c++filt", "--no-params"], input="\n".join(symbols),
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def objects_of(build):
    """(path, kernels) of the library's objects that still have their source."""
    pattern = os.path.join(build, "CMakeFiles", "tilewright*.dir", "**", "*.cu.o")
    for obj in sorted(glob.glob(pattern, recursive=True)):
        target, source = os.path.relpath(obj[:-2], os.path.join(build, "CMakeFiles")).split("/", 1)
        if target not in ("tilewright.dir", "tilewright_sm100.dir"):
            continue
        if any(os.path.exists(os.path.join(folder, source)) for folder in (ROOT, build)):
            with open(obj + ".ptxas.json", encoding="utf-8") as file:
                yield obj, json.load(file)["kernels"]


def kernels_of(build):
    """name -> figures. Machine code for another target than sm_90a has the target after the
    name."""
    kernels = [k for _, found in objects_of(build) for k in found]
    names = names_of([k["symbol"] for k in kernels])
    return {name if k["target"] == "sm_90a" else f"{name} ({k['target']})": k
            for name, k in zip(names, kernels)}


def text_of(kernels, version):
    """The accepted file: a line for each kernel."""
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(figures, sort_keys=True)}"
                      for name, figures in sorted(kernels.items()))
    return f'{{"nvcc": {json.dumps(version)}, "kernels": {{\n{rows}\n}}}}\n'


def compare(accepted, found, which):
    """One line per difference."""
    for name in sorted(set(accepted) | set(found)):
        if name not in found:
            if which == "full" or "_config{" not in name:
                yield f"{name}: accepted, but no longer built"
        elif name not in accepted:
            yield f"{name}: new, not accepted yet"
        else:
            for figure in FIGURES:
                if accepted[name][figure] != found[name][figure]:
                    yield f"{name}: {figure} {accepted[name][figure]} -> {found[name][figure]}"


def main():
    parser = argparse.ArgumentParser(description="Compares what ptxas made of each kernel.")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--accept", action="store_true", help="write tests/golden/ptxas.json")
    options = parser.parse_args()
    version = nvcc_version(options.build)
    if version is None:
        print("golden: this build has no device code")
        return 77
    found = kernels_of(options.build)
    long_names = [k["symbol"] for k in found.values() if len(k["symbol"]) > MAX_SYMBOL]
    for symbol in long_names:
        print(f"golden: symbol of {len(symbol)} characters, at most {MAX_SYMBOL}: {symbol}")
    found = {name: {f: k[f] for f in FIGURES} for name, k in found.items()}
    which = kernel_set(options.build)
    with open(GOLDEN, encoding="utf-8") as file:
        golden = json.load(file)
    if options.accept and which != "full" and golden["nvcc"] != version:
        print(f"golden: --accept of another nvcc than {golden['nvcc']} needs TW_KERNELS=full, "
              f"this build has {which}")
        return 1
    if options.accept:
        others = {} if which == "full" else golden["kernels"]
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write(text_of({**others, **found}, version))
        print(f"golden: accepted {len(found)} kernels")
        return 1 if long_names else 0
    if golden["nvcc"] != version:
        print(f"golden: accepted with nvcc {golden['nvcc']}, this is {version}: not compared")
        return 77
    differences = list(missing_instances(which, found))
    differences += compare(golden["kernels"], found, which)
    for line in differences[:MAX_LINES]:
        print(f"golden: {line}")
    if differences[MAX_LINES:]:
        print(f"golden: and {len(differences) - MAX_LINES} more")
    if differences:
        print("golden: if this is meant, ./dev golden --accept and review the diff")
    return 1 if differences or long_names else 0


if __name__ == "__main__":
    sys.exit(main())
