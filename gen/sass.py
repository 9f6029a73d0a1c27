#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass.py  Machine code of kernels as text: finds the disassembler, reads instructions and loops.

cuobjdump and nvdisasm are in a CUDA toolkit; ./dev sass installs both into build-sass/venv. A
kernel is a list of instructions in the order of their addresses; innermost_loops() finds the
smallest loop that each is in, from the branches (natural loops of the control flow graph).
"""
import dataclasses
import glob
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = ("cuobjdump", "nvdisasm")
TARGET = re.compile(r"arch = (sm_\w+)")
KERNEL = re.compile(r"\s+Function : (\S+)")
LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);")
ADDRESS = re.compile(r"\b0x([0-9a-f]+)\s*$")
LEAVES = ("EXIT", "RET", "BPT", "KILL")  # the end of a block without a successor
INDIRECT = ("BRX", "JMX", "BRXU", "JMXU")


@dataclasses.dataclass
class Instruction:
    address: int
    predicate: str  # '' or such as '@!P0'
    opcode: str     # with its suffixes: UTCHMMA.2CTA
    operands: str

    @property
    def name(self):
        return self.opcode.split(".", 1)[0]

    @property
    def target(self):
        """Where a branch goes, or None."""
        if self.name not in ("BRA", "JMP"):
            return None
        found = ADDRESS.search(self.operands)
        if not found:
            raise ValueError(f"no address in the branch at {self.address:#x}: {self.operands}")
        return int(found[1], 16)

    @property
    def always(self):
        """Of a branch or an exit: taken by every thread."""
        return not self.predicate and "," not in self.operands


def find_tools(nvcc=None):
    """The folder that has both tools, or None."""
    installed = "build-sass/venv/lib/python*/site-packages/nvidia/*/bin"
    folders = glob.glob(os.path.join(ROOT, installed))
    if nvcc:
        folders.append(os.path.dirname(os.path.realpath(nvcc)))
    if on_path := shutil.which("nvdisasm"):
        folders.append(os.path.dirname(on_path))
    for folder in folders:
        if all(os.access(os.path.join(folder, tool), os.X_OK) for tool in TOOLS):
            return folder
    return None


def release(tools):
    """Such as 13.5: another one may name instructions differently."""
    done = subprocess.run([os.path.join(tools, "nvdisasm"), "--version"], capture_output=True,
                          text=True, check=True)
    return re.search(r"release (\d+\.\d+)", done.stdout)[1]


def disassemble(tools, path):
    """{(kernel's symbol, target): instructions} of an object or a cubin."""
    done = subprocess.run([os.path.join(tools, "cuobjdump"), "-sass", path], capture_output=True,
                          text=True, check=False, env={**os.environ, "NVDISASM_PATH": tools})
    if done.returncode != 0:
        raise ValueError(f"cuobjdump -sass {path}: {done.stderr.strip()}")
    return read(done.stdout)


def read(text):
    """{(kernel's symbol, target): instructions} of what cuobjdump -sass prints."""
    kernels, target, current = {}, "", None
    for line in text.splitlines():
        if found := LINE.match(line):
            current.append(Instruction(int(found[1], 16), (found[2] or "").strip(), found[3],
                                       found[4].strip()))
        elif found := TARGET.match(line):
            target = found[1]
        elif found := KERNEL.match(line):
            current = kernels.setdefault((found[1], target), [])
    return kernels


def successors(code):
    """Per instruction, the numbers of those that may follow it."""
    at = {i.address: n for n, i in enumerate(code)}
    result = []
    for n, i in enumerate(code):
        if i.name in INDIRECT:
            raise ValueError(f"the targets of {i.opcode} at {i.address:#x} are not in the code")
        follow = []
        if i.target is not None:
            follow.append(at[i.target])
        ends = (i.target is not None or i.name in LEAVES) and i.always
        if i.name == "RET":  # its operand is a register and an offset
            ends = not i.predicate
        if not ends and n + 1 < len(code):
            follow.append(n + 1)
        result.append(follow)
    return result


def blocks_of(follow):
    """(block of each instruction, successors of each block); block 0 is the entry."""
    heads = {0}
    for n, targets in enumerate(follow):
        if targets != [n + 1]:
            heads.update(targets)
            heads.add(n + 1)
    block_of, block = [], -1
    for n in range(len(follow)):
        block += n in heads
        block_of.append(block)
    last = {b: n for n, b in enumerate(block_of)}
    return block_of, [sorted({block_of[t] for t in follow[last[b]]}) for b in range(block + 1)]


def dominators(graph):
    """Immediate dominator of each block that the entry reaches (Cooper, Harvey and Kennedy)."""
    order, seen, stack = [], {0}, [(0, iter(graph[0]))]
    while stack:
        block, rest = stack[-1]
        fresh = next((b for b in rest if b not in seen), None)
        if fresh is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(fresh)
            stack.append((fresh, iter(graph[fresh])))
    number = {b: n for n, b in enumerate(order)}
    before = {b: [] for b in order}
    for b in order:
        for t in graph[b]:
            before[t].append(b)
    idom, changed = {0: 0}, True
    while changed:
        changed = False
        for b in reversed(order[:-1]):
            new = None
            for p in before[b]:
                if p not in idom:
                    continue
                q = p if new is None else new
                while p != q:
                    while number[p] < number[q]:
                        p = idom[p]
                    while number[q] < number[p]:
                        q = idom[q]
                new = p
            if idom.get(b) != new:
                idom[b], changed = new, True
    return idom, before


def innermost_loops(code):
    """Per instruction, the numbers of the instructions of its smallest loop; None outside loops."""
    block_of, graph = blocks_of(successors(code))
    idom, before = dominators(graph)

    def dominates(a, b):
        while b not in (a, 0):
            b = idom[b]
        return a == b

    loops = {}  # first block -> blocks
    for b in idom:
        for head in graph[b]:
            if dominates(head, b):
                body, stack = loops.setdefault(head, {head}), [b]
                while stack:
                    if (x := stack.pop()) not in body:
                        body.add(x)
                        stack += before[x]
    smallest = {}
    for body in sorted(loops.values(), key=len, reverse=True):
        smallest.update(dict.fromkeys(body, frozenset(body)))
    members = {}
    for body in set(smallest.values()):
        members[body] = [n for n, b in enumerate(block_of) if b in body]
    return [members[smallest[b]] if b in smallest else None for b in block_of]


def loops_around(code, what):
    """The smallest loops around instructions whose names match, as lists of numbers. For multiplies
    and for loads they are the loops over K. A first step before that loop is in the loop over
    tiles."""
    loops = innermost_loops(code)
    around = {tuple(loops[n]) for n, i in enumerate(code) if what.fullmatch(i.name) and loops[n]}
    return [loop for loop in around if not any(set(other) < set(loop) for other in around)]
