# SPDX-License-Identifier: Apache-2.0
"""mma_ptx_test.py  ptxas accepts every instruction of the table of MMA atoms, none between rows.

Each atom of mma.sync and wgmma becomes one PTX instruction with the operand registers that the
atom's layouts say; ptxas must assemble it. tcgen05 has its shape in a descriptor, dp4a, dp2a and
fma have none and are left out. Skipped where there is no ptxas.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["TW_COMMAND"]
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc")
PTXAS = os.path.join(os.path.dirname(NVCC), "ptxas") if NVCC else None
TARGETS = {"sm70": "sm_75", "sm75": "sm_75", "sm80": "sm_80", "sm89": "sm_89", "sm90": "sm_90a",
           "sm120": "sm_120a"}
BITS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m3": 8,
        "e3m2": 8, "e2m1": 8, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def atoms(prefix):
    """Whole names that begin so; parts of the name in a dictionary."""
    text = subprocess.run([COMMAND, "layout", f"mma_atom({prefix})"], capture_output=True,
                          text=True,
                          check=True).stdout
    for line in text.split():
        _, arch, shape, d, a, b, *variants = line.split(".")
        m, n, k = map(int, re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape).groups())
        yield {"name": line, "arch": arch, "shape": shape, "m": m, "n": n, "k": k, "d": d, "a": a,
               "b": b, "variants": variants}


def registers(kind, elements, threads):
    """{r0, r1, ...}: what one thread holds of an operand."""
    bits = 4 if isinstance(kind, tuple) else BITS[kind]
    kind = kind[0] if isinstance(kind, tuple) else kind
    count = elements * bits // threads // (64 if kind == "f64" else 32)
    letter = {"f64": "d", "f32": "f"}.get(kind, "r")
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def mma_sync(t):
    variants = t["variants"]
    scale = [v for v in variants if v.startswith("ue")]
    rows = "col" if "a_mn" in variants else "row"
    columns = "row" if "b_mn" in variants else "col"
    kind = ""
    if t["arch"] == "sm120":
        block = int(variants[-1][5:]) if scale else 0
        factors = t["k"] // block if scale else 0
        family = "f8f6f4" if not scale else "mxf8f6f4" if t["k"] == 32 else \
            "mxf4" if block == 32 else "mxf4nvf4"
        kind = f".kind::{family}" + (f".block_scale.scale_vec::{factors}X" if scale else "")
    option = {"sat": ".satfinite", "and_popc": ".and.popc", "xor_popc": ".xor.popc"}
    chosen = next((option[v] for v in variants if v in option), "")
    saturate, popc = (chosen, "") if chosen == ".satfinite" else ("", chosen)
    threads = 8 if t["arch"] == "sm70" else 32
    packed = t["k"] == 64 and t["a"] == "e2m1"  # two to a byte
    c = registers(t["d"], t["m"] * t["n"], threads)
    a = registers((t["a"],) if packed else t["a"], t["m"] * t["k"], threads)
    b = registers((t["b"],) if packed else t["b"], t["n"] * t["k"], threads)
    tail = f".{scale[0]}" if scale else ""
    factors = ", {%r30}, {0, 0}, {%r31}, {0, 0}" if scale else ""
    return (f"mma.sync.aligned{kind}.{t['shape']}.{rows}.{columns}{saturate}.{t['d']}.{t['a']}."
            f"{t['b']}.{t['d']}{popc}{tail} {c}, {a}, {b}, {c}{factors};")


def wgmma(t):
    variants = t["variants"]
    option = ".satfinite" if "sat" in variants else ""
    popc = ".and.popc" if "and_popc" in variants else ""
    d = registers(t["d"], 64 * t["n"], 128)
    from_registers = variants[0] == "rs"
    a = registers(t["a"], 64 * t["k"], 128) if from_registers else "%a"
    scales = "" if t["d"] == "s32" else ", 1, 1"
    majors = ""
    if t["k"] == 16:
        majors = "" if from_registers else f", {int('a_mn' in variants)}"
        majors += f", {int('b_mn' in variants)}"
    return (f"wgmma.mma_async.sync.aligned.{t['shape']}{option}.{t['d']}.{t['a']}.{t['b']}{popc} "
            f"{d}, {a}, %b, 1{scales}{majors};")


def assemble(arch, instructions):
    """ptxas's complaints."""
    body = [f".version 8.7\n.target {TARGETS[arch]}\n.address_size 64"]
    for i, instruction in enumerate(instructions):
        body += [f".visible .entry k{i}() {{\n.reg .b32 %r<128>; .reg .f32 %f<128>;",
                 ".reg .f64 %d<16>; .reg .b64 %a, %b;", instruction, "ret;\n}\n"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(body))
        done = subprocess.run([PTXAS, "-O0", "-arch", TARGETS[arch], path, "-o",
                               os.path.join(folder, "k.o")], capture_output=True, text=True,
                              check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if " info " not in line]
    return "" if done.returncode == 0 else "\n".join(said)


class Ptx(unittest.TestCase):
    def test_mma_sync(self):
        for arch in TARGETS:
            found = [t for t in atoms(f"mma.{arch}") if t["m"] < 64 and "c64" not in t["a"]]
            self.assertGreater(len(found), 2)
            self.assertEqual(assemble(arch, [mma_sync(t) for t in found]), "", arch)

    def test_wgmma(self):
        every = [t for t in atoms("mma.sm90") if t["m"] == 64]
        asked, seen = [], set()
        for t in every:  # every N once for each K and D, every variant for one N
            by_n = (t["n"], t["k"], t["d"])
            by_variant = (t["d"], t["a"], t["b"], *t["variants"])
            if by_n not in seen or by_variant not in seen:
                asked.append(wgmma(t))
            seen |= {by_n, by_variant}
        self.assertGreater(len(asked), 200)
        self.assertEqual(assemble("sm90", asked), "")

    def test_what_is_in_no_row_is_unknown(self):
        for n in (40, 56, 72, 264):  # integer wgmma: 16 columns at a time above 32
            t = {"shape": f"m64n{n}k32", "m": 64, "n": n, "k": 32, "d": "s32", "a": "s8", "b": "s8",
                 "variants": ["ss"]}
            self.assertNotEqual(assemble("sm90", [wgmma(t)]), "", n)
        tf32 = next(t for t in atoms("mma.sm80.m16n8k8.f32.tf32.tf32"))
        wrong = {**tf32, "shape": "m16n8k16", "k": 16}
        self.assertNotEqual(assemble("sm80", [mma_sync(wrong)]), "")


if __name__ == "__main__":
    if PTXAS is None or not os.path.exists(PTXAS):
        sys.exit(77)
    unittest.main()
