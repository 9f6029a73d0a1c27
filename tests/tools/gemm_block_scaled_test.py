#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gemm_block_scaled_test.py  tilewright gemm of MXFP8, MXFP4 and NVFP4 operands: files that
`tilewright quantize` writes, wide matrices that are quantised first, exact data bit for bit against
a reference in Python, and every refusal. `plan` and `check gemm` of the same formats.
TW_SCALED_SHAPES=200 runs as many random shapes of each format."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import E2M1, npy_parts, write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
BLOCK = {"mxfp8": 32, "mxfp4": 32, "nvfp4": 16}


class BlockScaledGemm(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rng = random.Random(20261125)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def gemm(self, *words, status=0):
        return self.run_it("gemm", *words, "--device", "emu", "--arch", "sm100", status=status)

    def wide(self, name, rows, cols):
        values = [self.rng.gauss(0, 1) for _ in range(rows * cols)]
        write_npy(self.path(name), "<f4", (rows, cols), struct.pack(f"<{rows * cols}f", *values))

    def quantise(self, name, out, kind, operand, *more):
        self.run_it("quantize", name, out, "--to", kind, "--operand", operand, "--quiet", *more)

    def test_files_of_quantize_are_multiplied(self):
        for kind in BLOCK:
            for order in ("linear", "32x4x4"):
                with self.subTest(kind=kind, order=order):
                    self.wide("a.npy", 150, 160)
                    self.wide("b.npy", 160, 90)
                    self.quantise("a.npy", "qa.npy", kind, "a", "--scale-order", order)
                    self.quantise("b.npy", "qb.npy", kind, "b", "--scale-order", order)
                    words = ["qa.npy", "qb.npy", "--transpose-b", "-o", "d.npy", "--dtype", kind,
                             "--scale-a", "qa.scale.npy", "--scale-b", "qb.scale.npy"]
                    if kind == "nvfp4":
                        words += ["--scale2-a", "qa.scale2.npy", "--scale2-b", "qb.scale2.npy"]
                    report = self.gemm(*words, "--check").stdout
                    self.assertIn("passed", report)
                    self.assertIn(f"for {BLOCK[kind]} elements, {order}", report)
                    # Wide matrices are quantised to the same operands.
                    self.gemm("a.npy", "b.npy", "-o", "d2.npy", "--dtype", kind, "--check")
                    self.assertEqual(npy_parts(self.path("d.npy")), npy_parts(self.path("d2.npy")))

    def write_stacks(self, k):
        """Three matrices of other magnitudes: x.npy (3, 70, k), y.npy (3, 50, k) and yt.npy
        (3, k, 50) with all, x0.npy, y0.npy, ... alone, rows.npy and cols.npy below each other."""
        for name, below, rows in (("x", "rows", 70), ("y", "cols", 50)):
            all_of = [[size * self.rng.gauss(0, 1) for _ in range(rows * k)]
                      for size in (1, 300, 0.02)]
            turned = [[m[r * k + i] for i in range(k) for r in range(rows)] for m in all_of]
            for i, values in enumerate(all_of):
                write_npy(self.path(f"{name}{i}.npy"), "<f4", (rows, k),
                          struct.pack(f"<{rows * k}f", *values))
            for file, shape, of in ((name, (3, rows, k), all_of), (below, (3 * rows, k), all_of),
                                    (name + "t", (3, k, rows), turned)):
                write_npy(self.path(file + ".npy"), "<f4", shape,
                          b"".join(struct.pack(f"<{rows * k}f", *m) for m in of))

    def data_of(self, name):
        return npy_parts(self.path(name))[1]

    def test_stacks_are_quantised_matrix_by_matrix(self):
        self.write_stacks(96)
        for kind in ("mxfp8", "mxfp4"):
            for b, flags in (("y.npy", ["--transpose-b"]), ("yt.npy", [])):
                with self.subTest(kind=kind, b=b):
                    report = self.gemm("x.npy", b, "--batch", *flags, "-o", "d.npy", "--dtype",
                                       kind, "--check").stdout
                    self.assertIn("passed", report)
                    alone = b""
                    for i in range(3):
                        self.gemm(f"x{i}.npy", f"y{i}.npy", "--transpose-b", "-o", "one.npy",
                                  "--dtype", kind)
                        alone += self.data_of("one.npy")
                    self.assertEqual(self.data_of("d.npy"), alone)
            # A single B for all.
            self.gemm("x.npy", "y1.npy", "--batch", "--transpose-b", "-o", "d.npy", "--dtype", kind)
            self.gemm("x2.npy", "y1.npy", "--transpose-b", "-o", "one.npy", "--dtype", kind)
            self.assertEqual(self.data_of("d.npy")[-70 * 50 * 2:], self.data_of("one.npy"))

    def test_a_stack_in_nvfp4_shares_its_second_level(self):
        k = 96
        self.write_stacks(k)
        # The rows of all matrices below each other have the second level of all.
        words = ["--batch", "--transpose-b", "--dtype", "nvfp4"]
        for below, name, operand, rows in (("rows.npy", "qx", "a", 70),
                                           ("cols.npy", "qy", "b", 50)):
            self.run_it("quantize", below, "q.npy", "--to", "nvfp4", "--scale-order", "linear",
                        "--quiet")
            write_npy(self.path(name + ".npy"), "<V1", (3, rows, k), self.data_of("q.npy"))
            write_npy(self.path(name + ".scale.npy"), "<V1", (3, rows, k // 16),
                      self.data_of("q.scale.npy"))
            level = self.data_of("q.scale2.npy")
            write_npy(self.path(name + ".scale2.npy"), "<f4", (), level)
            write_npy(self.path(name + ".equal.npy"), "<f4", (3,), 3 * level)
            write_npy(self.path(name + ".two.npy"), "<f4", (2,), 2 * level)
            write_npy(self.path(name + ".other.npy"), "<f4", (3,),
                      2 * level + struct.pack("<f", 0.5))
            words += [f"--scale-{operand}", name + ".scale.npy"]

        def second(of_a, of_b):
            return ["--scale2-a", f"qx.{of_a}.npy", "--scale2-b", f"qy.{of_b}.npy"]

        files = ["qx.npy", "qy.npy", *words]
        self.gemm(*files, "-o", "want.npy", *second("scale2", "scale2"), "--check")
        for b, flags in (("y.npy", ["--transpose-b"]), ("yt.npy", [])):
            record = json.loads(self.gemm("x.npy", b, *flags, "--batch", "--dtype", "nvfp4", "-o",
                                          "d.npy", "--check", "--json").stdout)
            self.assertEqual(record["check"]["wrong"], 0)
            self.assertEqual(self.data_of("d.npy"), self.data_of("want.npy"))
        # As many float32 as matrices are one where they are equal.
        self.gemm(*files, "-o", "d.npy", *second("equal", "equal"))
        self.assertEqual(self.data_of("d.npy"), self.data_of("want.npy"))
        for of_a, of_b in (("other", "equal"), ("equal", "other")):
            said = self.gemm(*files, "-o", "no.npy", *second(of_a, of_b), status=2).stderr
            self.assertIn("TW0476", said)
            self.assertIn("3 numbers that differ", said)
            self.assertIn("one second level for all matrices of a stack", said)
        self.assertIn("TW0476", self.gemm(*files, "-o", "no.npy", *second("two", "equal"),
                                          status=2).stderr)
        self.assertFalse(os.path.exists(self.path("no.npy")))

    def test_zeros_in_a_stack_do_not_decide_the_second_level(self):
        self.write_stacks(32)
        rows = self.data_of("x2.npy")
        write_npy(self.path("zeros.npy"), "<f4", (2, 70, 32), bytes(len(rows)) + rows)
        self.gemm("zeros.npy", "y0.npy", "--batch", "--transpose-b", "-o", "d.npy", "--dtype",
                  "nvfp4", "--check")
        self.gemm("x2.npy", "y0.npy", "--transpose-b", "-o", "one.npy", "--dtype", "nvfp4")
        self.assertEqual(self.data_of("d.npy"), bytes(70 * 50 * 2) + self.data_of("one.npy"))

    def test_safetensors_hold_two_elements_in_a_byte(self):
        self.wide("a.npy", 40, 96)
        self.wide("b.npy", 96, 70)
        for kind in ("mxfp4", "nvfp4"):
            self.quantise("a.npy", "qa.safetensors:w", kind, "a")
            self.quantise("b.npy", "qb.safetensors:w", kind, "b")
            words = ["qa.safetensors:w", "qb.safetensors:w", "--transpose-b", "-o", "d.npy",
                     "--dtype", kind, "--scale-a", "qa.scale.safetensors:w", "--scale-b",
                     "qb.scale.safetensors:w"]
            if kind == "nvfp4":
                words += ["--scale2-a", "qa.scale2.safetensors:w", "--scale2-b",
                          "qb.scale2.safetensors:w"]
            record = json.loads(self.gemm(*words, "--check", "--json").stdout)
            self.assertEqual(record["format"], kind)
            self.assertEqual(record["check"]["wrong"], 0)
            self.assertIn("32x4x4", record["scale_a"]["convention"])
            self.assertEqual("second_level" in record["scale_a"], kind == "nvfp4")
            self.gemm("a.npy", "b.npy", "-o", "d2.npy", "--dtype", kind)
            self.assertEqual(npy_parts(self.path("d.npy")), npy_parts(self.path("d2.npy")))

    def test_exact_nvfp4_has_the_bits_of_a_reference(self):
        m, n, k = 37, 29, 90
        blocks = (k + 15) // 16
        matrices = {}
        for name, rows, second in (("a", m, 0.5), ("b", n, 0.25)):
            codes = [self.rng.choice([0, 1, 2, 3, 4, 9, 10]) for _ in range(rows * k)]
            factors = [self.rng.choice([0x30, 0x38, 0x34, 0x3C]) for _ in range(rows * blocks)]
            write_npy(self.path(f"{name}.npy"), "<V1", (rows, k), bytes(codes))
            write_npy(self.path(f"{name}.scale.npy"), "<V1", (rows, blocks), bytes(factors))
            factor = {0x30: 0.5, 0x34: 0.75, 0x38: 1.0, 0x3C: 1.5}
            matrices[name] = [[(-1) ** (codes[r * k + i] >> 3) * E2M1[codes[r * k + i] & 7]
                               * factor[factors[r * blocks + i // 16]] * second
                               for i in range(k)] for r in range(rows)]
        self.gemm("a.npy", "b.npy", "--transpose-b", "-o", "d.npy", "--dtype", "nvfp4", "--scale-a",
                  "a.scale.npy", "--scale-b", "b.scale.npy", "--scale2-a", "0.5", "--scale2-b",
                  "0.25", "--d", "f32", "--check")
        want = [sum(x * y for x, y in zip(row, col)) for row in matrices["a"]
                for col in matrices["b"]]
        self.assertEqual(npy_parts(self.path("d.npy"))[1], struct.pack(f"<{m * n}f", *want))

    def test_random_shapes_keep_the_bound(self):
        for kind in BLOCK:
            for i in range(int(os.environ.get("TW_SCALED_SHAPES", "5"))):
                m, n = self.rng.randint(1, 200), self.rng.randint(1, 200)
                k = self.rng.randint(1, 300)
                k += k % 2 if kind != "mxfp8" else 0
                self.wide("a.npy", m, k)
                self.wide("b.npy", k, n)
                out = self.rng.choice(["bf16", "f32"])
                with self.subTest(kind=kind, m=m, n=n, k=k, out=out):
                    self.gemm("a.npy", "b.npy", "-o", "d.npy", "--dtype", kind, "--d", out,
                              "--check", "--quiet")

    def test_refusals_name_what_is_missing(self):
        self.wide("a.npy", 256, 128)
        self.wide("b.npy", 128, 64)
        self.quantise("a.npy", "qa.npy", "nvfp4", "a")
        self.quantise("b.npy", "qb.npy", "nvfp4", "b")
        whole = {"--scale-a": "qa.scale.npy", "--scale-b": "qb.scale.npy",
                 "--scale2-a": "qa.scale2.npy", "--scale2-b": "qb.scale2.npy",
                 "--scale-a-as": "32x4x4"}

        def refused(kind="nvfp4", **changes):
            options = {**whole, **{k.replace("_", "-"): v for k, v in changes.items()}}
            words = [w for k, v in options.items() if v for w in (k, v)]
            done = self.gemm("qa.npy", "qb.npy", "--transpose-b", "-o", "d.npy", "--dtype", kind,
                             *words, status=2)
            self.assertFalse(os.path.exists(self.path("d.npy")))
            return done.stderr

        self.assertIn("TW0476", refused(**{"--scale2-a": None}))
        self.assertIn("TW0476", refused(**{"--scale2-b": None}))
        self.assertIn("TW0475", refused(**{"--scale-b": None}))
        self.assertIn("TW0451", refused(**{"--scale-a-as": None}))  # (256, 8) fits both orders
        self.assertIn("TW0450", refused(**{"--scale-b": "qa.scale.npy"}))
        self.assertIn("TW0476", refused("mxfp4"))
        self.assertIn("TW0615", refused(**{"--scaling-a": "row", "--scale-a": None,
                                           "--scale-a-as": None}))
        write_npy(self.path("odd.npy"), "<f4", (4, 3), bytes(48))
        write_npy(self.path("odd_b.npy"), "<f4", (3, 4), bytes(48))
        done = self.gemm("odd.npy", "odd_b.npy", "-o", "d.npy", "--dtype", "mxfp4", status=2)
        self.assertIn("TW0477", done.stderr)

    def test_plans_name_the_format_and_the_order(self):
        for kind in BLOCK:
            text = self.run_it("plan", "4096", "4096", "4096", "--device", "b200", "--dtype", kind,
                               "--all-kernels", "--top", "1").stdout
            self.assertIn(f"sm100_{kind}_bf16", text)
            self.assertIn(f"for {BLOCK[kind]} elements, 32x4x4", text)
            self.assertIn("multiplied in the tensor core", text)
        copied = self.run_it("plan", "4096", "4096", "4096", "--device", "gb300", "--dtype",
                             "nvfp4", "--scale-order", "linear", "--all-kernels", "--json").stdout
        self.assertIn("not in the order that tcgen05 reads", copied)
        self.assertIn("TW0471", self.run_it("plan", "64", "64", "64", "--device", "h200",
                                            "--dtype", "nvfp4", status=2).stderr)
        self.assertIn("TW0477", self.run_it("plan", "64", "64", "33", "--device", "b200",
                                            "--dtype", "nvfp4", status=2).stderr)

    def test_check_gemm_runs_random_problems_of_the_formats(self):
        text = self.run_it("check", "gemm", "--family", "sm100_scaled", "--runs", "3",
                           "--quiet").stdout
        self.assertIn("passed", text)


if __name__ == "__main__":
    unittest.main()
