# SPDX-License-Identifier: Apache-2.0
"""c99_test.py  tilewright.h is C99 without a warning, and C++; everything.c calls each function."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD, SOURCE = os.environ["TW_BINARY_DIR"], os.environ["TW_SOURCE_DIR"]
LIBRARY = os.path.join(BUILD, "c/libtilewright.so.0")
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/include"]


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def sanitizers():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^TW_SANITIZE:STRING=(.+)$", file.read(), re.M)
    return [f"-fsanitize={found[1]}"] if found else []


class C99(unittest.TestCase):
    def program(self, folder, source):
        out = os.path.join(folder, "program")
        run("gcc", "-std=c99", *STRICT, *sanitizers(), source, LIBRARY, "-lm",
            f"-Wl,-rpath,{BUILD}/c", "-o", out)
        return out

    def test_everything_is_called(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(SOURCE, "tests/c/everything.c")
            said = run(self.program(folder, source), TILEWRIGHT_TUNE="off")
            self.assertRegex(said, r"^all functions of tilewright \d")
        with open(os.path.join(SOURCE, "include/tilewright.h"), encoding="utf-8") as file:
            code = re.sub(r"//[^\n]*|^#.*$", "", file.read(), flags=re.M)
        with open(source, encoding="utf-8") as file:
            called = file.read()
        for name in set(re.findall(r"\b(tw_\w+)\s*\(", code)):
            self.assertRegex(called, rf"\b{name}\(", name)

    def test_the_tasks_of_the_page_run(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run(self.program(folder, os.path.join(SOURCE, "tests/c/tasks.c")),
                       TILEWRIGHT_TUNE="off")
        self.assertEqual(said, "the tasks of docs/c.md\n")

    def test_the_example_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run(self.program(folder, os.path.join(SOURCE, "examples/c/gemm.c")),
                       TILEWRIGHT_TUNE="off")
        with open(os.path.join(SOURCE, "examples/c/gemm.c"), encoding="utf-8") as file:
            shown = re.findall(r"^//   (\S.*)$", file.read().split("It prints:")[1], re.M)
        self.assertEqual(said.splitlines(), shown)

    def test_the_header_is_c_and_cpp_for_both_compilers(self):
        for compiler, standard in (("gcc", "c99"), ("gcc", "c11"), ("g++", "c++11"),
                                   ("clang", "c99"), ("clang++", "c++20")):
            if not shutil.which(compiler):
                continue
            language = "c++" if "+" in standard else "c"
            # DLPack's own header, before or after ours, is the same one by its guard.
            subprocess.run([compiler, f"-std={standard}", *STRICT, "-fsyntax-only", "-x", language,
                            "-"], text=True, check=True,
                           input='#include "tilewright.h"\n#include "tilewright/dlpack.h"\n')


if __name__ == "__main__":
    unittest.main()
