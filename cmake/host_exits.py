#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host_exits.py  Finds host functions of a CUDA object that call a __device__ function.

nvcc accepts such a call in a template, and gives the __device__ function in host code a body that
passes 1, from a volatile variable, to exit(): the program ends with status 1 and no message. A host
function into which that body was inlined is found by its code. The body alone is no finding: every
__device__ function of an unnamed namespace has one.
"""
import re
import subprocess

HEAD = re.compile(r"^[0-9a-f]+ <(.+)>:$")
RELOCATION = re.compile(r"\sR_\w+\s+([^\s+-]+)")
# The store of 1 to the stack and the load of the status: x86-64, AArch64.
STORE = re.compile(r"movl\s+\$0x1,0x[0-9a-f]+\(%rsp\)|str\s+w\d+, \[sp")
LOAD = re.compile(r"mov\s+0x[0-9a-f]+\(%rsp\),%edi|ldr\s+w0, \[sp")
BODY = 6  # instructions, at most, of a __device__ function's body up to the call
# Instructions that a hardened g++ (Ubuntu's) adds at the start of a function: not counted.
HARDENING = re.compile(r"\sendbr64|%fs:0x28|mov\s+%rax,0x[0-9a-f]+\(%rsp\)|xor\s+%eax,%eax")


def functions(text):
    """Name and instructions of each function that objdump shows."""
    name, lines = None, []
    for line in text.splitlines():
        if found := HEAD.match(line):
            if name:
                yield name, lines
            name, lines = found[1], []
        elif "\t" in line:
            lines.append(line)
    if name:
        yield name, lines


def callers_of_device_code(text):
    """Mangled names of host functions that call a __device__ function, from `objdump -dr`."""
    found = []
    for name, lines in functions(text):
        for i, line in enumerate(lines):
            at = RELOCATION.search(line)
            if not at or at[1] != "exit":
                continue
            before = lines[max(0, i - 5):i]
            counted = sum(not HARDENING.search(x) for x in lines[:i])
            if counted > BODY and any(map(STORE.search, before)) and any(map(LOAD.search, before)):
                found.append(name)
                break
    return found


def of_object(path):
    """callers_of_device_code of an object file; none where binutils are missing."""
    try:
        undefined = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True)
        if not re.search(r"\bU exit$", undefined.stdout, re.M):
            return []
        text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return callers_of_device_code(text)
