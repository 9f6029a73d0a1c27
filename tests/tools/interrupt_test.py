#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interrupt_test.py  Ctrl-C ends an emulated GEMM and a check at once."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
SIZE = 4096


class Interrupt(unittest.TestCase):
    def expect_end(self, words):
        with subprocess.Popen([COMMAND, *words], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            time.sleep(1)
            self.assertIsNone(run.poll(), "it has ended before it could be interrupted")
            began = time.monotonic()
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(timeout=60), -signal.SIGINT)
            self.assertLess(time.monotonic() - began, 5)  # less than 0.2 s on an idle machine

    def test_of_a_gemm(self):
        with tempfile.TemporaryDirectory() as folder:
            a, d = os.path.join(folder, "a.npy"), os.path.join(folder, "d.npy")
            write_npy(a, "<f2", (SIZE, SIZE), bytes(2 * SIZE * SIZE))
            self.expect_end(["gemm", a, a, "-o", d, "--device", "emu"])
            self.assertEqual(os.listdir(folder), ["a.npy"])

    def test_of_a_check(self):
        self.expect_end(["check", "gemm", "--runs", "100000"])


if __name__ == "__main__":
    unittest.main()
