#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interrupt_test.py  Ctrl-C ends an emulated GEMM and a check at once."""
import os
import signal
import struct
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["TW_COMMAND"]
SIZE = 4096


def write_zeros(path):
    """SIZE x SIZE of f16."""
    head = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({SIZE}, {SIZE}), }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.truncate(10 + len(head) + 2 * SIZE * SIZE)


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
            write_zeros(a)
            self.expect_end(["gemm", a, a, "-o", d, "--device", "emu"])
            self.assertEqual(os.listdir(folder), ["a.npy"])

    def test_of_a_check(self):
        self.expect_end(["check", "gemm", "--runs", "100000"])


if __name__ == "__main__":
    unittest.main()
