# SPDX-License-Identifier: Apache-2.0
"""sm100_assembly_test.py  ptxas assembles the Blackwell kernels for the family of sm_100 and for
sm_103a, without a stack and without spills; one machine code of sm_100f is meant
to serve both. Without TW_EFFORT=full for the family alone. Status 77 without nvcc."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
INCLUDE = os.path.join(ROOT, "include")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
FULL = os.environ.get("TW_EFFORT") == "full"  # ./dev test --full
TARGETS = ("100f", "103a", "110a") if FULL else ("100f",)


class Assembly(unittest.TestCase):
    def test_kernels_have_no_spills(self):
        for target in TARGETS:
            with self.subTest(target), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [NVCC, "-std=c++20", f"-arch=sm_{target}", "-cubin", "-Xptxas=-v",
                     "-I" + INCLUDE, "-I" + ROOT,
                     os.path.join(HERE, "sm100_gemm.cu"), "-o", "x.cubin"],
                    cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                    r"(\d+) bytes spill loads", done.stderr)
                self.assertEqual(frames, [("0", "0", "0")] * 7, done.stderr)


if __name__ == "__main__":
    if not os.path.exists(NVCC):
        sys.exit(77)
    unittest.main()
