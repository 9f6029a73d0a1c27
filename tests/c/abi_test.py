# SPDX-License-Identifier: Apache-2.0
"""abi_test.py  The interface that tilewright.h declares is the committed one, abi.xml, as abidiff
compares them: functions, and the members of each struct with their places. A library without code
is compiled from the declarations, with debug information; symbols_test.py compares the declarations
with the real library. `python3 tests/c/abi_test.py --accept` writes the description anew."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ACCEPTED = os.path.join(HERE, "abi.xml")


def declarations():
    """The functions of the header, each as text up to its semicolon."""
    with open(os.path.join(ROOT, "include/tilewright.h"), encoding="utf-8") as file:
        code = re.sub(r"//[^\n]*|^#.*$", "", file.read(), flags=re.M)
    code = code.replace('extern "C" {', "")
    return [" ".join(found[0].split()) for found in
            re.finditer(r"^(?!typedef)\w[\w \t*]*?\btw_\w+\([^;]*\)(?=;)", code, re.M)]


def library(folder):
    """A shared object that has these functions and types."""
    source = os.path.join(folder, "declared.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "tilewright.h"\n')
        for text in declarations():
            file.write(text + " { __builtin_trap(); }\n")
    out = os.path.join(folder, "libtilewright.so.0")
    subprocess.run(["gcc", "-std=c99", "-g", "-fPIC", "-shared", "-Wl,-soname,libtilewright.so.0",
                    f"-fdebug-prefix-map={folder}=.",  # abi.xml names no folder of this machine
                    f"-Wl,--version-script={ROOT}/capi/tilewright.map", f"-I{ROOT}/include",
                    "declared.c", "-o", out], check=True, cwd=folder)
    return out


class Abi(unittest.TestCase):
    def test_functions_are_declared_one_by_one(self):
        self.assertGreaterEqual(len(declarations()), 19)

    def test_the_interface_is_the_accepted_one(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["abidiff", ACCEPTED, library(folder)], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr +
                         "\nmembers are added at the end only; then abi_test.py --accept")


if __name__ == "__main__":
    if not shutil.which("abidiff"):
        print("no abidiff: package abigail-tools")
        sys.exit(77)
    if sys.argv[1:] == ["--accept"]:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                            "--out-file", ACCEPTED, library(scratch)], check=True)
        sys.exit(0)
    unittest.main()
