#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ptxas_check.py  Runs an nvcc command and reports kernels that ptxas could not compile well.

CMake calls it as the CUDA compiler launcher: ptxas_check.py [POLICY] [ccache] nvcc ARGS... It adds
-Xptxas=-v and reads what ptxas says. With the policy --strict, the default, a spill or a note that
wgmma was serialised or its registers were moved (C7508, C7510, C7517, C7519, "Potential Performance
Loss") fails the compilation and removes the object, so that the next build tries again. Otherwise
OBJECT.ptxas.json holds registers, spills, stack and static shared memory of each kernel;
tests/golden/ptxas_test.py compares them.
  --strict       spills and notes are errors
  --warn         both are warnings: a newer ptxas may make other choices
  --spills-pass  notes are errors; a spill passes: a user's kernel may have spills
Host code that calls a __device__ function is an error under each of them (host_exits.py).
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import host_exits  # noqa: E402

POLICIES = ("--strict", "--warn", "--spills-pass")
NOTE = re.compile(r"C7508|C7510|C7517|C7519|Potential Performance Loss")
ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
FUNCTION = re.compile(r"Function properties for (\S+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SMEM = re.compile(r"(\d+) bytes smem")
# Lines of -Xptxas=-v that a person building need not see.
CHATTER = re.compile(r"^ptxas info\s*:|^\s+\d+ bytes stack frame|^\s*$")


def read_report(text):
    """Kernels and other functions of one nvcc run, and the lines that carry a forbidden note."""
    functions, notes, current, target = {}, [], None, None

    def function(symbol):  # of the target whose report it is
        return functions.setdefault((symbol, target), {"symbol": symbol, "kernel": False})

    for line in text.splitlines():
        if NOTE.search(line):
            notes.append(line.strip())
        elif found := ENTRY.search(line):
            target = found[2]
            current = function(found[1])
            current.update(kernel=True, target=target, smem_bytes=0)
        elif found := FUNCTION.search(line):
            current = function(found[1])
        elif current is not None and (found := FRAME.search(line)):
            current.update(stack_bytes=int(found[1]), spill_store_bytes=int(found[2]),
                           spill_load_bytes=int(found[3]))
        elif current is not None and (found := USED.search(line)):
            smem = SMEM.search(line)
            current.update(registers=int(found[1]), smem_bytes=int(smem[1]) if smem else 0)
    return list(functions.values()), notes


def demangle(symbols):
    if not symbols:
        return {}
    try:
        done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True,
                              text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {s: s for s in symbols}
    return dict(zip(symbols, done.stdout.splitlines()))


def main(command):
    policy = "--strict"
    if command[0] in POLICIES:
        policy, command = command[0], command[1:]
    done = subprocess.run(command + ["-Xptxas=-v"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    functions, notes = read_report(done.stdout)
    for line in done.stdout.splitlines():
        if not CHATTER.match(line):
            print(line, file=sys.stderr)
    if done.returncode != 0:
        return done.returncode

    output = command[command.index("-o") + 1] if "-o" in command else None
    names = demangle([f["symbol"] for f in functions])
    for f in functions:
        f["name"] = names[f["symbol"]]
    spilling = [f for f in functions
                if f.get("spill_store_bytes", 0) or f.get("spill_load_bytes", 0)]
    if policy == "--spills-pass":
        spilling = []
    kind = "warning" if policy == "--warn" else "error"
    for f in spilling:
        print(f"{kind}: ptxas spills registers in {f['name']}: {f['spill_store_bytes']} bytes "
              f"stored, {f['spill_load_bytes']} bytes loaded; needed: 0 and 0", file=sys.stderr)
    for note in notes:
        for symbol, name in names.items():
            note = note.replace(symbol, name)
        print(f"{kind}: ptxas could not keep a kernel as written: {note}", file=sys.stderr)
    callers = demangle(host_exits.of_object(output)) if output else {}
    for caller in callers.values():
        print(f"error: host function {caller} calls a __device__ function, for which nvcc compiles "
              "exit(1); needed: a function that is TW_HD or __host__ __device__", file=sys.stderr)
    if callers or ((spilling or notes) and kind == "error"):
        if output and os.path.exists(output):
            os.remove(output)
        return 1
    if output:
        kernels = sorted((f for f in functions if f.pop("kernel")), key=lambda f: f["name"])
        with open(output + ".ptxas.json", "w", encoding="utf-8") as file:
            json.dump({"kernels": kernels}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
