# SPDX-License-Identifier: Apache-2.0
"""fat_binaries_test.py  The launches beside a GEMM's kernel have code for every GPU that a family's
kernels run on: copies of operands and scales, quantisation, zeros for K = 0.

For each object of src/dispatch/*/*.cu: ptxas has compiled as many kernels for sm_80, sm_90a and
sm_100f, and the PTX of sm_80 is there for GPUs that come later. The fat binary itself is read where
cuobjdump is found (./dev sass)."""
import os
import re
import subprocess
import sys

ROOT, BUILD = os.environ["TW_SOURCE_DIR"], os.environ["TW_BINARY_DIR"]
sys.path.insert(0, os.path.join(ROOT, "gen"))
import golden  # noqa: E402
import sass  # noqa: E402

TARGETS = {"sm_80", "sm_90a", "sm_100f"}


def contents(tools, path):
    """Targets of the machine code and of the PTX in a fat binary."""
    def listed(option):
        done = subprocess.run([os.path.join(tools, "cuobjdump"), option, path],
                              capture_output=True, text=True, check=True)
        return set(re.findall(r"\.(sm_\w+)\.(?:cubin|ptx)", done.stdout))
    return listed("-lelf"), listed("-lptx")


def complaints(path, kernels, tools):
    by_target = {}
    for k in kernels:
        by_target.setdefault(k["target"], set()).add(k["symbol"])
    missing = TARGETS - set(by_target)
    if kernels and missing:
        yield f"no kernel for {', '.join(sorted(missing))}"
    if len({frozenset(s) for s in by_target.values()}) > 1:
        yield f"other kernels for other targets: {by_target}"
    if tools is None:
        return
    machine_code, ptx = contents(tools, path)
    # nvdisasm names the target of sm_100f sm_100.
    if missing := {t.rstrip("f") for t in TARGETS} - machine_code:
        yield f"no machine code for {', '.join(sorted(missing))}"
    if "sm_80" not in ptx:
        yield "no PTX of sm_80"


def main():
    if golden.nvcc_version(BUILD) is None:
        print("fat_binaries: this build has no device code")
        return 77
    tools = sass.find_tools(os.environ.get("TW_NVCC"))
    found, wrong = 0, 0
    for path, kernels in golden.objects_of(BUILD):
        if "/src/dispatch/" not in path:
            continue
        found += 1
        for line in complaints(path, kernels, tools):
            wrong += 1
            print(f"fat_binaries: {os.path.relpath(path, BUILD)}: {line}")
    sources = [f for _, _, files in os.walk(os.path.join(ROOT, "src/dispatch")) for f in files
               if f.endswith(".cu")]
    if found != len(sources):
        print(f"fat_binaries: {found} objects of {len(sources)} sources")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
