#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ceilings_test.py  gen/ceilings.py takes a result of `tilewright bench ceiling` into a device's
file and embeds it; files and results that lack something are refused and change nothing."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.environ["TW_SOURCE_DIR"], "gen/ceilings.py")
MEMORY = [("shared memory", 33000.4, 29), ("L1", 31000, 38), ("L2", 5512.345, 262.5),
          ("DRAM", 3073, 611)]


class Ceilings(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.write("gpu.json", {"tensor_tflops": 989.5, "source": "a data sheet"})
        self.result = {"schema": "tilewright.bench.ceiling/1", "device": {"card": "A GPU"},
                       "environment": {"date": "2026-11-25T12:00:00Z"},
                       "memory": [{"level": level, "gb_per_s": rate, "latency_clocks": clocks,
                                   "bytes_per_clock_sm": 1} for level, rate, clocks in MEMORY]}

    def write(self, name, record):
        (self.folder / name).write_text(json.dumps(record), encoding="utf-8")

    def run_script(self, *words):
        return subprocess.run([sys.executable, "-B", SCRIPT, *words, "--folder", self.folder],
                              capture_output=True, text=True, check=False)

    def add(self):
        self.write("result.out", self.result)
        return self.run_script("add", "gpu", self.folder / "result.out")

    def test_a_result_is_taken_and_embedded(self):
        self.assertEqual(self.add().returncode, 0)
        measured = json.loads((self.folder / "gpu.json").read_text())["measured"]
        self.assertEqual(measured["note"], "A GPU, 2026-11-25")
        self.assertEqual(measured["L2"], {"gb_per_s": 5512.0, "latency_clocks": 262.5})
        out = self.folder / "table.cpp"
        self.assertEqual(self.run_script("embed", "--out", out).returncode, 0)
        self.assertIn('{"gpu", 989.5, "a data sheet", "A GPU, 2026-11-25"', out.read_text())
        self.assertIn("{33000.0, 29.0}, {31000.0, 38.0}, {5512.0, 262.5}", out.read_text())

    def test_what_lacks_something_is_refused(self):
        before = (self.folder / "gpu.json").read_text()
        del self.result["memory"][2]
        self.assertNotEqual(self.add().returncode, 0)
        self.assertEqual((self.folder / "gpu.json").read_text(), before)
        self.result["schema"] = "tilewright.bench.gemm/1"
        self.assertNotEqual(self.add().returncode, 0)
        self.write("gpu.json", {"tensor_tflops": 1})
        self.assertNotEqual(self.run_script("embed", "--out", self.folder / "x").returncode, 0)


if __name__ == "__main__":
    unittest.main()
