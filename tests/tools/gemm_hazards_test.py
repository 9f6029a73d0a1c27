# SPDX-License-Identifier: Apache-2.0
"""gemm_hazards_test.py  `tilewright gemm --hazards` of a kernel with a planted fault: the report
reaches the user, the status is 1 and nothing is written. faulty_command is the command with such a
kernel, tests/tools/faulty."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
FAULTY = os.path.join(os.environ["TW_BINARY_DIR"], "bin/faulty_command")
NOT_SEEN = "ordinary loads and stores were not seen"
SIZE = 256
PLANTED = {"TW_PLANTED_FAULT": "1"}


def write_matrix(path, seed):
    """SIZE x SIZE of f16, column-major."""
    values = [(i * seed + i // 7) % 7 - 3 for i in range(SIZE * SIZE)]
    write_npy(path, "<f2", (SIZE, SIZE), struct.pack(f"<{len(values)}e", *values), fortran=True)


class Hazards(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        write_matrix(self.path("a.npy"), 3)
        write_matrix(self.path("b.npy"), 5)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def gemm(self, command, *words, environment=None):
        return subprocess.run(
            [command, "gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"),
             "--d", "f32", "--device", "emu", "--arch", "sm100", *words],
            env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False)

    def test_the_report_of_a_fault_reaches_the_user(self):
        done = self.gemm(FAULTY, "--hazards", environment=PLANTED)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("E0025", done.stderr)
        self.assertIn("fence_proxy_async", done.stderr)
        self.assertNotIn("no fault was found", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.npy", "b.npy"])
        done = self.gemm(FAULTY, "--hazards", "--json", environment=PLANTED)
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0025", done.stdout + done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.npy", "b.npy"])

    def test_without_the_option_the_fault_is_not_found(self):
        done = self.gemm(FAULTY, "--check", environment=PLANTED)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(self.path("d.npy")))

    def test_ordinary_accesses_that_were_not_seen_are_named(self):
        done = self.gemm(FAULTY, "--hazards")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no fault was found", done.stdout)
        self.assertNotIn(NOT_SEEN, done.stdout)
        done = self.gemm(COMMAND, "--hazards")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no fault was found", done.stdout)
        self.assertIn(NOT_SEEN, done.stdout)
        record = json.loads(self.gemm(COMMAND, "--hazards", "--json").stdout)
        self.assertEqual((record["hazards_checked"], record["ordinary_accesses_seen"]),
                         (True, False))
        self.assertIn("sm100_f16_f32_nn_128x128x64_1cta_s6", record["kernel"])
        self.assertNotIn(NOT_SEEN, self.gemm(COMMAND).stdout)


if __name__ == "__main__":
    unittest.main()
