# SPDX-License-Identifier: Apache-2.0
"""tensor_code_test.py  Tensors cost nothing: kernels of tensor_code.hpp with tensors and by hand.

nvcc makes PTX of tensor_code.cu and ptxas machine code. For each pair of kernels:
  - the version with tensors has at most 5 % more instructions than the one by hand, in PTX and in
    machine code (one more where 5 % is less than one: SLACK), and at most 4 more registers;
    SHARES names the exception
  - both have the same accesses to memory: as many of each width, ldmatrix, stmatrix, barriers
  - no spills
tensor_code.json holds the accepted counts, with the version of nvcc that they belong to; they are
compared where that is the one in use. `tensor_code_test.py --accept` writes it anew, `--table`
prints the counts.
"""
import collections
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(HERE, "tensor_code.json")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc")
SHARE, SLACK, REGISTERS = 1.05, 1, 4
# Predicated vectors of a matrix with a run-time pitch: nvcc 13.0 turns the walking pointer into
# products of the indices inside the branches, which ptxas does not turn into predicates. PTX is
# shorter.
SHARES = {("ragged", "sass"): 1.16}
# PTX accesses to memory and barriers: what a kernel does, not how it gets there.
ACCESS = re.compile(r"(?:ld|st)\.(?:global|shared|local)[\w.]*|ldmatrix[\w.:]*|stmatrix[\w.:]*"
                    r"|bar[\w.]*|atom[\w.]*")
INSTRUCTION = re.compile(r"\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\s[^;]*;|\s*(ret);")
SASS_NOP, SASS_BRANCH = 0x918, 0x947  # low 12 bits of an instruction of sm_90


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def nvcc_version():
    return re.search(r"V(\d+\.\d+\.\d+)", run([NVCC, "--version"], None))[1]


def ptx_counts(ptx):
    """kernel -> Counter of PTX opcodes."""
    kernels = {}
    for name, rest in re.findall(r"\.entry (\w+)\((.*?)\n\}", ptx, re.S):
        body = rest.split("{", 1)[1]
        found = (INSTRUCTION.match(line) for line in body.splitlines())
        kernels[name] = collections.Counter(f[1] or f[2] for f in found if f)
    return kernels


def sass_counts(cubin):
    """kernel -> machine instructions, from the sections .text.KERNEL of an ELF file of sm_90."""
    table, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + i * size) for i in range(count)]
    text = sections[names][4]
    kernels = {}
    for name, _, _, _, at, length in sections:
        label = cubin[text + name:cubin.index(b"\0", text + name)].decode()
        if not label.startswith(".text."):
            continue
        opcodes = [struct.unpack_from("<H", cubin, i)[0] & 0xFFF
                   for i in range(at, at + length, 16)]
        while opcodes[-1] == SASS_NOP:  # padding, after a branch to itself
            opcodes.pop()
        if opcodes[-1] == SASS_BRANCH:
            opcodes.pop()
        kernels[label[6:]] = len(opcodes)
    return kernels


def register_counts(output):
    """kernel -> (registers, bytes spilled), from ptxas -v."""
    found = re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers",
                       output, re.S)
    return {name: (int(registers), int(spilled)) for name, spilled, registers in found}


def measure():
    """kernel -> figures."""
    with tempfile.TemporaryDirectory() as folder:
        run([NVCC, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-I" + ROOT,
             "-I" + os.path.join(ROOT, "include"), "--ptx", os.path.join(HERE, "tensor_code.cu"),
             "-o", "code.ptx"], folder)
        ptxas = os.path.join(os.path.dirname(os.path.realpath(shutil.which(NVCC))), "ptxas")
        output = run([ptxas, "-arch=sm_90a", "-v", "code.ptx", "-o", "code.cubin"], folder)
        with open(os.path.join(folder, "code.ptx"), encoding="utf-8") as file:
            ptx = ptx_counts(file.read())
        with open(os.path.join(folder, "code.cubin"), "rb") as file:
            sass = sass_counts(file.read())
    registers = register_counts(output)
    return {name: {"ptx": sum(counts.values()), "sass": sass[name],
                   "registers": registers[name][0], "spilled_bytes": registers[name][1],
                   "accesses": {op: n for op, n in sorted(counts.items())
                                if ACCESS.fullmatch(op)}}
            for name, counts in sorted(ptx.items())}


def most(name, kind, by_hand):
    return max(math.floor(by_hand * SHARES.get((name, kind), SHARE)), by_hand + SLACK)


def complaints(figures):
    pairs = sorted(name.removeprefix("hand_") for name in figures if name.startswith("hand_"))
    if len(pairs) < 7 or len(figures) != 2 * len(pairs):
        yield f"kernels are missing: {sorted(figures)}"
    for name in pairs:
        ours, hand = figures["tensors_" + name], figures["hand_" + name]
        for kind in ("ptx", "sass"):
            if ours[kind] > (limit := most(name, kind, hand[kind])):
                yield f"{name}: {kind} {ours[kind]}, by hand {hand[kind]}, at most {limit}"
        if ours["registers"] > hand["registers"] + REGISTERS:
            yield f"{name}: {ours['registers']} registers, by hand {hand['registers']}"
        if ours["accesses"] != hand["accesses"]:
            yield f"{name}: accesses {ours['accesses']}, by hand {hand['accesses']}"
        if ours["spilled_bytes"] != 0:
            yield f"{name}: {ours['spilled_bytes']} bytes spilled"


def changes(figures, version):
    """Differences from the accepted counts."""
    with open(GOLDEN, encoding="utf-8") as file:
        golden = json.load(file)
    if golden["nvcc"] != version:
        print(f"tensor_code: accepted with nvcc {golden['nvcc']}, this is {version}: not compared")
        return
    for name in sorted(set(golden["kernels"]) | set(figures)):
        if golden["kernels"].get(name) != figures.get(name):
            yield f"{name}: accepted {golden['kernels'].get(name)}, now {figures.get(name)}"


def main():
    if not NVCC or not shutil.which(NVCC):
        print("tensor_code: no nvcc")
        return 77
    figures, version = measure(), nvcc_version()
    if "--table" in sys.argv:
        for name, f in figures.items():
            print(f"{name:26} ptx {f['ptx']:4} sass {f['sass']:4} registers {f['registers']:3}")
    wrong = list(complaints(figures))
    if "--accept" in sys.argv:
        with open(GOLDEN, "w", encoding="utf-8") as file:
            json.dump({"nvcc": version, "kernels": figures}, file, indent=1, sort_keys=True)
            file.write("\n")
    else:
        wrong += changes(figures, version)
    for line in wrong:
        print("tensor_code: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
