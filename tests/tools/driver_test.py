#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""driver_test.py  A process that only emulates does not load the CUDA driver."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]


def loads_driver(*arguments):
    """Whether libcuda was requested from the dynamic loader; the C library says so."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_DEBUG": "libs"})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return "find library=libcuda.so" in done.stderr


class Driver(unittest.TestCase):
    def test_info_looks_at_the_gpu(self):
        self.assertTrue(loads_driver("info", "--json"), "else the next test could not fail")

    def test_emulated_gemm_does_not_load_it(self):
        with tempfile.TemporaryDirectory() as folder:
            a, d = os.path.join(folder, "a.npy"), os.path.join(folder, "d.npy")
            write_npy(a, "<f2", (64, 64), b"\x00\x3c" * 64 * 64)
            self.assertFalse(loads_driver("gemm", a, a, "-o", d, "--device", "emu"))

    def test_layout_does_not_load_it(self):
        self.assertFalse(loads_driver("layout", "(4,8):(8,1)"))


if __name__ == "__main__":
    built = subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True, check=True)
    if not json.loads(built.stdout).get("cuda"):
        print("skipped: a build without device code")
        sys.exit(77)
    unittest.main()
