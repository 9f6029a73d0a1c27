# SPDX-License-Identifier: Apache-2.0
"""symbols_test.py  The C library exports tw_* alone, all of them, with a version, and needs no
library beside those of the compiler and of C."""
import os
import re
import subprocess
import sys
import unittest

BUILD, SOURCE = os.environ["TW_BINARY_DIR"], os.environ["TW_SOURCE_DIR"]
LIBRARY = os.path.join(BUILD, "c/libtilewright.so.0")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Symbols(unittest.TestCase):
    def test_exports_are_the_functions_of_the_header(self):
        with open(os.path.join(SOURCE, "include/tilewright.h"), encoding="utf-8") as file:
            code = re.sub(r"//[^\n]*|^#.*$", "", file.read(), flags=re.M)
        declared = set(re.findall(r"\b(tw_\w+)\s*\(", code))
        exported = re.findall(r" [A-Z] (\S+)$", run("nm", "-D", "--defined-only", LIBRARY), re.M)
        exported.remove("TILEWRIGHT_0")
        self.assertEqual({name.split("@@")[0] for name in exported}, declared)
        self.assertEqual({name.split("@@")[1] for name in exported}, {"TILEWRIGHT_0"})

    def test_needs_the_libraries_of_the_compiler_alone(self):
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            if re.search(r"^TW_SANITIZE:STRING=.+$", file.read(), re.M):
                self.skipTest("a sanitizer is a library")
        dynamic = run("readelf", "-d", LIBRARY)
        needed = set(re.findall(r"NEEDED.*\[([a-z_+-]+)", dynamic))
        self.assertLessEqual(needed, {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x"})
        self.assertIn("[libtilewright.so.0]", dynamic)
        self.assertNotIn("TEXTREL", dynamic)

    def test_needs_no_newer_glibc(self):
        wanted = re.findall(r"@GLIBC_2\.(\d+)", run("nm", "-D", "--undefined-only", LIBRARY))
        self.assertLessEqual(max(map(int, wanted)), 34)


if __name__ == "__main__":
    if not os.path.exists(LIBRARY):
        sys.exit(77)
    unittest.main()
