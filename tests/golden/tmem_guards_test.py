# SPDX-License-Identifier: Apache-2.0
"""tmem_guards_test.py  The columns and lanes that ptxas guards for each access to tensor memory are
those of tmem_guards.json; tests/atom/tmem_guards_test.cpp compares them with the layouts of atom/.

With -g-tmem-access-check ptxas puts guards before each tcgen05.ld, .st, .cp and .mma. They
are the only statement of the accesses' extents by the vendor that a program can read:
  columns  the guard adds the extent less one to the address's column, and compares with 512
  lanes    of a multiply's D, A and scale factors: address / 2^16 % 32 is 0, or 0 or 16
  warp     of a load or store: bits 21 and 22 of the address are warp % 4 (PTX ISA, "Access
           restrictions" of "Tensor Memory")
The kernels of tmem_guards.cu have constant descriptors, so the extents are constants of the machine
code. Skipped without nvcc or the disassembler, which ./dev sass installs. `tmem_guards_test.py
--accept` writes the file anew.
"""
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
sys.path.insert(0, os.path.join(ROOT, "gen"))
import golden  # noqa: E402
import sass  # noqa: E402

STORED = os.path.join(HERE, "tmem_guards.json")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc")
# The values of the enumerations of arch/tensor_memory.hpp, in their order.
TRANSFERS = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
COPIES = ("128x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23",
          "32x128b.warpx4", "4x256b")
KINDS = ("f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
PARAMETERS = 0x380  # where they begin in constant bank 0
OPERANDS = {0: "d", 16: "a", 32: "sfa", 48: "sfb"}  # of a multiply, by their offset there
COLUMNS = "0x200"


class Reader:
    """Follows addresses through the code of one kernel, from its parameters to the guards. A value
    is (what, parameter, sum): an address, its column plus a sum, or its lane."""

    def __init__(self):
        self.values = {}
        self.columns = {}  # parameter -> the largest extent that is compared with 512
        self.lanes = {}    # parameter -> lanes modulo 32 that are allowed
        self.warps = set()  # parameters whose lane is compared with the warp
        self.dividend = self.divisor = None

    def step(self, i):
        operands = [o.strip() for o in i.operands.split(",")]
        target = operands[0]
        value = self.value_of(i, operands)
        if i.name in ("ISETP", "UISETP"):
            self.compare(i, operands)
        if re.fullmatch(r"U?R\d+", target) and not i.name.startswith("ST"):
            self.values[target] = value

    def value_of(self, i, operands):
        def source(n, what):
            value = self.values.get(operands[n])
            return value if value and value[0] == what else None
        if i.name in ("LDC", "LDCU"):
            found = re.fullmatch(r"c\[0x0\]\[(0x[0-9a-f]+)\]", operands[1])
            return ("address", int(found[1], 16) - PARAMETERS, 0) if found else None
        if i.name == "ULOP3" and operands[4] == "0xc0" and operands[2].startswith("0x"):
            mask = int(operands[2], 16)
            if mask == 0xffff and (address := source(1, "address")):
                return ("column", address[1], 0)
            if mask == 0x600000 and (address := source(1, "address")):
                self.warps.add(address[1])
            return None
        if i.name == "ULOP3" and operands[5:6] == ["0xc0"] and operands[3] == "0x1f":
            if lane := source(2, "lane"):  # the first operand is a predicate: lane % 32 is not 0
                self.lanes.setdefault(lane[1], {0})
                self.values[operands[1]] = lane
            return None
        if i.opcode == "USHF.R.U32.HI" and operands[2] == "0x10" and source(3, "address"):
            return ("lane", self.values[operands[3]][1], 0)
        if i.name in ("UIADD3", "VIADD"):
            at = 3 if i.name == "UIADD3" else 1
            if operands[at + 1].startswith("0x") and (column := source(at, "column")):
                return ("column", column[1], column[2] + signed(int(operands[at + 1], 16)))
        # The columns of B's factors: twice a quotient of floats, rounded upwards.
        if i.name == "I2F" and operands[1].startswith("0x"):
            self.dividend = int(operands[1], 16)
        if operands[-1].startswith("0x") and i.opcode in ("IMAD.MOV.U32", "MOV"):
            as_float, = struct.unpack("f", struct.pack("I", int(operands[-1], 16)))
            if as_float == 64.0:
                self.divisor = 64
        if i.opcode == "F2I.U32.CEIL.NTZ":
            return ("count", None, math.ceil(self.dividend / self.divisor))
        if i.name == "LEA" and (count := source(1, "count")) and (column := source(2, "column")):
            return ("column", column[1], column[2] + (count[2] << int(operands[3], 16)))
        return None

    def compare(self, i, operands):
        value = self.values.get(operands[2])
        if operands[3] == COLUMNS:
            if not value or value[0] != "column":
                raise ValueError(f"a guard of columns that is not understood: {i}")
            self.columns[value[1]] = max(self.columns.get(value[1], 0), value[2] + 1)
        elif i.opcode.startswith("UISETP.EQ") and operands[3] == "0x10" and value:
            if value[0] == "lane":
                self.lanes[value[1]].add(16)


def signed(word):
    return word - (1 << 32) if word >> 31 else word


def guards(code):
    reader = Reader()
    for i in code:
        reader.step(i)
    return reader


def compiled(tools):
    """(name, code) of the kernels of tmem_guards.cu."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "guards.cubin")
        done = subprocess.run(
            [NVCC, "-std=c++20", "-arch=sm_100f", "-cubin", "-Xptxas",
             "-g-tmem-access-check", "-I" + os.path.join(ROOT, "include"),
             os.path.join(HERE, "tmem_guards.cu"), "-o", path],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        kernels = sass.disassemble(tools, path)
    return list(zip(golden.names_of([symbol for symbol, _ in kernels]), kernels.values()))


def arguments_of(name):
    """'load', [2, 4, 0, True] of tw::test::load<(tw::tmem_shape)2, 4, 0, true>"""
    found = re.search(r"tw::test::(\w+)<(.*)>", name)
    words = re.sub(r"\([\w:]+\)", "", found[2]).split(", ")
    return found[1], [w == "true" if w in ("true", "false") else int(w) for w in words]


def read(kernels):
    """The contents of tmem_guards.json, without the version; raises ValueError where the machine
    code is not understood."""
    transfers, copies, multiplies = {}, {}, {}
    for name, code in kernels:
        what, arguments = arguments_of(name)
        found = guards(code)
        if what in ("load", "store"):
            shape, count, _, packed = arguments
            if found.warps != {0} or found.lanes:
                raise ValueError(f"{name}: the warp is not compared with the lanes")
            transfers.setdefault((what, shape, packed), {})[count] = found.columns[0]
        elif what == "copy":
            if found.lanes:
                raise ValueError(f"{name}: guards of lanes, which copies do not have")
            copies.setdefault(arguments[0], set()).add(found.columns[0])
        else:
            *form, tensor = arguments
            kind, block, ctas, m, n = form if what == "multiply_scaled" else [form[0], 0, *form[1:]]
            columns = {OPERANDS[p]: c for p, c in found.columns.items()}
            if tensor != ("a" in columns) or (block > 0) != ("sfb" in columns):
                raise ValueError(f"{name}: guards of {sorted(columns)}")
            allowed = {tuple(sorted(lanes)) for lanes in found.lanes.values()}
            if len(allowed) != 1 or found.lanes.keys() != found.columns.keys():
                raise ValueError(f"{name}: lanes {found.lanes}")
            row = multiplies.setdefault((kind, block, ctas, m, n), {})
            columns["lanes"] = list(allowed.pop())
            for key, value in columns.items():
                if row.setdefault(key, value) != value:
                    raise ValueError(f"{name}: {key} {value}, and {row[key]} with the other A")
    if not all(len(c) == 1 for c in copies.values()):
        raise ValueError(f"columns of copies: {copies}")
    return {
        "transfers": [{"op": op, "shape": TRANSFERS[shape], "packed": packed,
                       "columns": [columns[n] for n in sorted(columns)]}
                      for (op, shape, packed), columns in sorted(transfers.items())],
        "copies": [{"shape": COPIES[shape], "columns": columns.pop()}
                   for shape, columns in sorted(copies.items())],
        "multiplies": [{"kind": KINDS[kind], "block": block, "ctas": ctas, "m": m, "n": n, **row}
                       for (kind, block, ctas, m, n), row in sorted(multiplies.items())]}


def write(nvcc, found):
    """One line for each row."""
    lists = [f' "{key}": [\n' + ",\n".join(f"  {json.dumps(row, sort_keys=True)}" for row in rows) +
             "\n ]" for key, rows in found.items()]
    with open(STORED, "w", encoding="utf-8") as file:
        file.write("{\n" + f' "nvcc": "{nvcc}",\n' + ",\n".join(lists) + "\n}\n")


def main():
    if not NVCC or not shutil.which(NVCC):
        print("tmem_guards: no nvcc")
        return 77
    tools = sass.find_tools(NVCC)
    if tools is None:
        print(f"tmem_guards: {' and '.join(sass.TOOLS)} not found; ./dev sass installs them")
        return 77
    text = subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=True).stdout
    nvcc = re.search(r"V(\d+\.\d+\.\d+)", text)[1]
    with open(STORED, encoding="utf-8") as file:
        stored = json.load(file)
    try:
        found = read(compiled(tools))
    except (KeyError, TypeError, ValueError, IndexError) as wrong:
        if nvcc != stored["nvcc"] and "--accept" not in sys.argv:
            print(f"tmem_guards: read from nvcc {stored['nvcc']}; the guards of {nvcc} are not "
                  f"understood: {wrong}")
            return 77
        raise
    if "--accept" in sys.argv:
        write(nvcc, found)
        return 0
    wrong = [f"{key}: {row} is not guarded so" for key in found for row in stored[key]
             if row not in found[key]]
    wrong += [f"{key}: {row} is not stored" for key in found for row in found[key]
              if row not in stored[key]]
    for line in wrong:
        print("tmem_guards: " + line)
    print(f"tmem_guards: {sum(map(len, found.values()))} rows compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
