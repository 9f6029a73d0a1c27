# SPDX-License-Identifier: Apache-2.0
"""registers_test.py  Registers of the epilogues of registers.cu are the accepted ones, and the ones
that `tilewright explain` shows.

registers_test.py --accept NVCC writes registers.json anew.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TW_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests/golden")
GOLDEN = os.path.join(FOLDER, "registers.json")
CASE = "tile=192x192 mma=m64n96k16 warpgroups=2 dtype=f16".split()
# kernel -> the arguments of explain, and the alternative whose figure it is
SHOWN = {
    "sw64_stmatrix": (["copy=stmatrix.x4", "smem=SW128"], "smem=SW64"),
    "sw32_stmatrix": (["copy=stmatrix.x4", "smem=SW128"], "smem=SW32"),
    "none_stmatrix": (["copy=stmatrix.x4", "smem=SW128"], "smem=NONE"),
    "sw128_turns_stmatrix": (["copy=stmatrix.x4", "smem=SW128"], "turns=8"),
    "sw128_n32_stmatrix": (["copy=stmatrix.x4", "smem=SW128"], "mma=m64n32k16"),
    "sw128_stmatrix_coordinates": (["copy=stmatrix.x4", "smem=SW128"], "no partition"),
    "sw128_st32_coordinates": (["copy=st.32", "smem=SW128"], "no partition"),
    "sw64_st32": (["copy=st.32", "smem=SW64"], None),
    "sw64_st16": (["copy=st.16", "smem=SW64"], None),
}
NOTED = {"sw64_st32_swizzled": "st.32", "sw64_st16_swizzled": "st.16"}


def compile_kernels(nvcc):
    """kernel -> registers; spills must be 0."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin",
             "-Xptxas=-v", "-I", os.path.join(ROOT, "include"), "-I", ROOT,
             "-o", os.path.join(folder, "registers.cubin"), os.path.join(FOLDER, "registers.cu")],
            capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if done.returncode:
        sys.exit(text)
    found, name = {}, None
    for line in text.splitlines():
        if entry := re.search(r"entry function '_ZN7tw_test\d+(\w+?)ENS_", line):
            name = entry[1]
        elif spill := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if spill[1] != "0" or spill[2] != "0":
                sys.exit(f"registers: {name} spills")
        elif used := re.search(r"Used (\d+) registers", line):
            found[name] = int(used[1])
    return found


def version_of(nvcc):
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V([\d.]+)", text)[1]


def explain(words):
    done = subprocess.run([os.environ["TW_COMMAND"], "explain", "--json"] + CASE + words,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shown_registers(words, change):
    answer = explain(words)
    if change is None:
        return answer["cost"]["measured_registers"]
    costs = [a["cost"] for a in answer["alternatives"] if a["change"] == change]
    return costs[0]["measured_registers"] if costs else None


def main():
    if sys.argv[1:2] == ["--accept"]:
        nvcc = sys.argv[2]
        with open(GOLDEN, "w", encoding="utf-8") as file:
            json.dump({"nvcc": version_of(nvcc), "kernels": compile_kernels(nvcc)}, file, indent=1,
                      sort_keys=True)
            file.write("\n")
        return 0
    with open(GOLDEN, encoding="utf-8") as file:
        golden = json.load(file)
    wrong = []
    for kernel, (words, change) in SHOWN.items():
        shown = shown_registers(words, change)
        if shown != golden["kernels"][kernel]:
            wrong.append(f"{kernel}: explain shows {shown}, accepted {golden['kernels'][kernel]}")
    notes = " ".join(explain(["copy=stmatrix.x4", "smem=SW128"])["notes"])
    for kernel, copy in NOTED.items():
        if f"{golden['kernels'][kernel]} with {copy}" not in notes:
            wrong.append(f"{kernel}: the note of explain does not say {golden['kernels'][kernel]}")
    nvcc = os.environ.get("TW_NVCC")
    skipped = not nvcc or version_of(nvcc) != golden["nvcc"]
    if not skipped:
        found = compile_kernels(nvcc)
        wrong += [f"{name}: registers {golden['kernels'].get(name)} -> {found.get(name)}"
                  for name in sorted(set(found) | set(golden["kernels"]))
                  if found.get(name) != golden["kernels"].get(name)]
    for line in wrong:
        print(f"registers: {line}")
    if wrong:
        return 1
    if skipped:
        print(f"registers: no nvcc {golden['nvcc']} in this build: not compiled")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
