# SPDX-License-Identifier: Apache-2.0
"""selftest_assembly_test.py  ptxas assembles the probes of `tilewright selftest` for sm_100f,
without a stack and without spills. Status 77 without nvcc."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""


class Assembly(unittest.TestCase):
    def test_probes_have_no_spills(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [NVCC, "-std=c++20", "-arch=sm_100f", "-cubin", "-Xptxas=-v",
                 "-I" + os.path.join(ROOT, "include"), "-I" + ROOT,
                 os.path.join(ROOT, "tools/check/selftest/probes_gpu.cu"), "-o", "x.cubin"],
                cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                            r"(\d+) bytes spill loads", done.stderr)
        with open(os.path.join(ROOT, "tools/check/selftest/probes.hpp"), encoding="utf-8") as file:
            probes = len(re.findall(r"^  act\(", file.read(), re.MULTILINE))
        self.assertGreater(probes, 30)
        self.assertEqual(frames, [("0", "0", "0")] * probes, done.stderr)


if __name__ == "__main__":
    if not os.path.exists(NVCC):
        sys.exit(77)
    unittest.main()
