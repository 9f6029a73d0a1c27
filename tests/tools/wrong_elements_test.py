# SPDX-License-Identifier: Apache-2.0
"""wrong_elements_test.py  A kernel that computes one wrong element in any matrix of a batch:
`gemm --check` fails and writes nothing, `check gemm` and `selftest` report it, wherever the kernel
stands among others. faulty_command is the command with such a kernel, tests/tools/faulty."""
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

FAULTY = os.path.join(os.environ["TW_BINARY_DIR"], "bin/faulty_command")
KERNEL = "sm100_f16_f32_nn_128x128x64_1cta_s6"
BATCH, SIZE = 3, 128


def write_stack(path, seed):
    """BATCH matrices of f16, SIZE x SIZE."""
    values = [(i * seed + i // 7) % 7 - 3 for i in range(BATCH * SIZE * SIZE)]
    write_npy(path, "<f2", (BATCH, SIZE, SIZE), struct.pack(f"<{len(values)}e", *values))


class WrongElements(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *words, wrong=None):
        planted = {} if wrong is None else {"TW_PLANTED_MATRIX": str(wrong)}
        return subprocess.run([FAULTY, *words], env={**os.environ, **planted}, check=False,
                              capture_output=True, text=True)

    def test_a_wrong_element_in_any_matrix_of_a_batch_fails_the_check(self):
        write_stack(self.path("a.npy"), 3)
        write_stack(self.path("b.npy"), 5)
        gemm = ["gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"), "--batch",
                "--transpose-a", "--transpose-b", "--out-dtype", "f32", "--device", "emu", "--arch",
                "sm100", "--check"]
        for matrix in range(BATCH):
            done = self.run_it(*gemm, "--json", wrong=matrix)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            record = json.loads(done.stdout)
            self.assertTrue(record["kernel"].startswith(KERNEL))
            check = record["check"]
            self.assertEqual((check["passed"], check["wrong"]), (False, 1))
            self.assertEqual(check["judged"], BATCH * SIZE * SIZE)
            place = check["at_max_error"]
            self.assertEqual((place["product"], place["row"], place["col"]), (matrix, 0, 0))
            self.assertFalse(os.path.exists(self.path("d.npy")))
            done = self.run_it(*gemm, wrong=matrix)
            self.assertEqual(done.returncode, 1)
            self.assertIn("FAILED", done.stdout)
            self.assertIn(f"at (0, 0) of matrix {matrix}", done.stdout)
            self.assertFalse(os.path.exists(self.path("d.npy")))
        self.assertEqual(self.run_it(*gemm).returncode, 0)
        self.assertTrue(os.path.exists(self.path("d.npy")))

    def test_check_gemm_reports_it_beside_kernels_that_are_right(self):
        for kernels, shape in ((KERNEL, []), ("sm100_f16", ["--shape", "200,136,64"])):
            words = ["check", "gemm", "--kernel", kernels, "--schedule", "random", "--quiet",
                     *shape]
            done = self.run_it(*words, "--json", wrong=0)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            record = json.loads(done.stdout)
            by_name = {k["name"]: k for k in record["kernels"]}
            self.assertGreater(by_name[KERNEL]["wrong_elements"], 0)
            self.assertEqual(by_name[KERNEL]["findings"][0]["kind"], "wrong-elements")
            self.assertGreater(record["false_reports"], 0)
            others = [k for name, k in by_name.items() if name != KERNEL]
            self.assertEqual(len(others) > 0, kernels != KERNEL)
            self.assertFalse([k["name"] for k in others if k["bad_runs"]])
            self.assertIn("wrong elements", self.run_it(*words, wrong=0).stdout)
            self.assertEqual(self.run_it(*words).returncode, 0)

    def test_selftest_reports_it_beside_kernels_that_are_right(self):
        words = ["selftest", "--only", "sm100_f16", "-o", self.path("report.json")]
        done = self.run_it(*words, "--json", wrong=0)
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        with open(self.path("report.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), report)
        self.assertFalse(report["passed"])
        failed = [k["name"] for k in report["kernels"] if not k["passed"]]
        self.assertEqual(failed, [KERNEL, KERNEL + ", D quantised by a second launch"])
        self.assertGreater(len(report["kernels"]), 1)
        done = self.run_it(*words, wrong=0)
        self.assertIn(f"failed  {KERNEL}: 1 of", done.stdout)
        self.assertEqual(self.run_it(*words).returncode, 0)


if __name__ == "__main__":
    unittest.main()
