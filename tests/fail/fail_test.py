# SPDX-License-Identifier: Apache-2.0
"""fail_test.py  What must not compile does not, and the compiler's text says why.

Each tests/fail/*.cpp has two halves: without TW_FAIL it compiles, with TW_FAIL it must not, and
the compiler's output must hold every text named by a comment:
    // expect-error: TEXT        in both compilers
    // expect-error(g++): TEXT   in that one only (g++ or nvcc)
    // compilers: nvcc           only there; the default is g++ and, where there is one, nvcc
    // bad target: 90            nvcc's target of the bad half, instead of 90a
A wall of errors helps nobody: at most MAX_ERRORS.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "../../include")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc")
COMMANDS = {"g++": ["g++", "-std=c++20", "-fsyntax-only", "-I" + INCLUDE]}
if NVCC:
    COMMANDS["nvcc"] = [NVCC, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a",
                        "-I" + INCLUDE, "-x", "cu", "--ptx"]
MAX_ERRORS = 8


def check(path, compiler):
    """None, or what is wrong with this file under this compiler."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    only = re.search(r"^// compilers: (.*)$", text, re.M)
    if only and compiler not in only[1].split():
        return None
    expected = [found[1].strip() for found in re.finditer(
        rf"// expect-error(?:\({re.escape(compiler)}\))?: (.*)$", text, re.M)]
    if not expected:
        return "expects no text"
    target = re.search(r"^// bad target: (\w+)$", text, re.M)
    bad_command = [re.sub("90a", target[1], word) if target else word
                   for word in COMMANDS[compiler]] + ["-DTW_FAIL"]
    # Outputs go to a folder of their own, never to a device file.
    with tempfile.TemporaryDirectory() as folder:
        good, bad = (subprocess.run(command + [path], capture_output=True, text=True, check=False,
                                    cwd=folder) for command in (COMMANDS[compiler], bad_command))
    if good.returncode != 0:
        return "the good half does not compile:\n" + good.stderr
    if bad.returncode == 0:
        return "the bad half compiles"
    for wanted in expected:
        if wanted not in bad.stderr:
            return f"'{wanted}' is not in:\n{bad.stderr}"
    errors = len(re.findall(r"\berror:|\berror #?\d*:?|: catastrophic error", bad.stderr))
    if errors > MAX_ERRORS:
        return f"{errors} errors, at most {MAX_ERRORS}:\n{bad.stderr}"
    return None


class MustNotCompile(unittest.TestCase):
    def test_every_file(self):
        paths = sorted(glob.glob(os.path.join(HERE, "*.cpp")))
        self.assertNotEqual(paths, [])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {(path, compiler): pool.submit(check, path, compiler)
                    for path in paths for compiler in COMMANDS}
        for (path, compiler), job in jobs.items():
            with self.subTest(file=os.path.basename(path), compiler=compiler):
                if job.result():
                    self.fail(job.result())


if __name__ == "__main__":
    unittest.main()
