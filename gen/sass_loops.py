#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass_loops.py  Instructions that cost time in the loops over K of Hopper kernels.

A wgmma reads its descriptor from uniform registers, and the wgmmas of a group run one after the
other only if nothing between them waits. In the smallest loop around wgmmas, and not around a
smaller one, findings() yields

    S2UR, S2R     a special register is read again: the CTA's number, to convert an address of
                  shared memory to the window of the cluster
    R2UR          a value comes from a vector register: a stage, a phase, or an address
    MEMBAR        a fence of the CTA or of the GPU
    load          a load between the wgmmas of a group (not of a warpgroup's next fragment of A)
    wait          an instruction there that reads what a load of the loop has loaded, and so waits
    bank          an FFMA with three different sources in registers of one parity: a bank conflict
"""
import collections
import re

import sass

MMA = re.compile(r"\w*GMMA")
LOAD = re.compile(r"LDS|LDSM|LDG|LD|LDC|LDL|LDGSTS")
SPECIAL = ("S2UR", "S2R", "R2UR", "MEMBAR")
REGISTER = re.compile(r"\bR(\d+)\b")


def written_by_load(i):
    """The registers that a load writes."""
    found = REGISTER.match(i.operands)
    if not found or i.name == "LDGSTS":
        return set()
    width = 4 if ".128" in i.opcode or ".4" in i.opcode else 2 if ".64" in i.opcode else 1
    return {int(found[1]) + n for n in range(width)}


def registers_of(i):
    """(registers written, registers read), as far as one register is written."""
    names = [int(n) for n in REGISTER.findall(i.operands)]
    stores = i.name.startswith(("ST", "RED", "SYNCS", "BRA")) or not REGISTER.match(i.operands)
    return (set(), set(names)) if stores else ({names[0]}, set(names[1:]))


def is_of_one_bank(i):
    sources = i.operands.split(",")[1:]
    found = [REGISTER.search(s) for s in sources]
    if i.name != "FFMA" or len(found) != 3 or not all(found):
        return False
    numbers = {int(f[1]) for f in found}
    return len(numbers) == 3 and len({n % 2 for n in numbers}) == 1


def findings(code):
    """(kind, instruction) for each finding in the loops over K."""
    for loop in sass.loops_around(code, MMA):
        in_group, loaded = False, set()
        for i in (code[n] for n in loop):
            if i.name in SPECIAL:
                yield i.name, i
            if is_of_one_bank(i):
                yield "bank", i
            if MMA.fullmatch(i.name):
                in_group = "gsb0" not in i.operands
                continue
            is_load = LOAD.fullmatch(i.name) is not None
            if in_group and is_load:
                yield "load", i
            written, read = registers_of(i)
            if in_group and not is_load and loaded & read:
                yield "wait", i
            loaded -= read  # it waits once
            loaded = loaded | written_by_load(i) if is_load else loaded - written


def key(kind):
    """The name of a count in tests/golden/sass.json."""
    return f"loop over K: {kind}"


def counts(code):
    """The number of findings of each kind."""
    return dict(sorted(collections.Counter(key(kind) for kind, _ in findings(code)).items()))
