# SPDX-License-Identifier: Apache-2.0
"""block_scaled_assembly_test.py  ptxas assembles the block-scaled kernels for the family of sm_100
and for sm_103a, without a stack, without spills, within 128 registers. Without
TW_EFFORT=full for the family alone. Status 77 without nvcc."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
FULL = os.environ.get("TW_EFFORT") == "full"  # ./dev test --full
TARGETS = ("100f", "103a", "110a") if FULL else ("100f",)


class Assembly(unittest.TestCase):
    def test_kernels_have_no_spills(self):
        source = os.path.join(HERE, "block_scaled.cu")
        with open(source, encoding="utf-8") as file:
            kernels = file.read().count("template __global__")
        for target in TARGETS:
            with self.subTest(target), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [NVCC, "-std=c++20", f"-arch=sm_{target}", "-cubin", "-Xptxas=-v", "-I" + ROOT,
                     "-I" + os.path.join(ROOT, "include"), source, "-o", "x.cubin"],
                    cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                    r"(\d+) bytes spill loads", done.stderr)
                self.assertEqual(frames, [("0", "0", "0")] * kernels, done.stderr)
                registers = [int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)]
                self.assertEqual(len(registers), kernels, done.stderr)
                self.assertLessEqual(max(registers), 128)


if __name__ == "__main__":
    if not os.path.exists(NVCC):
        sys.exit(77)
    unittest.main()
