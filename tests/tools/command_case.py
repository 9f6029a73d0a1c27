# SPDX-License-Identifier: Apache-2.0
"""command_case.py  A test case that runs the command in a separate folder."""
import os
import random
import subprocess
import tempfile
import unittest

from checkpoint_files import f32

COMMAND = os.environ["TW_COMMAND"]


class CommandCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.rng = random.Random(20261128)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def gemm(self, *words, status=0):
        return self.run_it("gemm", *words, "--device", "emu", status=status)

    def quantize(self, *words, status=0):
        return self.run_it("quantize", *words, status=status)

    def expect_refusal(self, code, verb, words, contains=()):
        said = verb(*words, status=2).stderr
        self.assertIn(f"tilewright: {code}: ", said)
        for text in contains:
            self.assertIn(text, " ".join(said.split()))
        return said

    def refused(self, code, *words, contains=()):
        return self.expect_refusal(code, self.gemm, words, contains)

    def quantize_refused(self, code, *words, contains=()):
        return self.expect_refusal(code, self.quantize, words, contains)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def normal(self, rows, cols):
        return [[f32(self.rng.gauss(0, 1)) for _ in range(cols)] for _ in range(rows)]

    def codes(self, count, last=126):
        return bytes(self.rng.randint(0, last) | self.rng.choice((0, 128)) for _ in range(count))
