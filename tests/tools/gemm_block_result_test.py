#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gemm_block_result_test.py  tilewright gemm --out-dtype mxfp8, mxfp4 and nvfp4: the files are
those that `tilewright quantize` makes of D in float32, another GEMM reads them, and every refusal.
TW_SCALED_SHAPES=200 runs as many random shapes.
"""
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
from checkpoint_files import npy_parts, pack_f32, write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
PRODUCT = ("a.npy", "b.npy", "--transpose-b")
KINDS = ("mxfp8", "mxfp4", "nvfp4")


class BlockResult(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        rng = random.Random(20261126)
        for name, rows, cols in (("a.npy", 130, 64), ("b.npy", 102, 64), ("e.npy", 102, 20)):
            self.floats(name, (rows, cols), [rng.gauss(0, 1) for _ in range(rows * cols)])

    def tearDown(self):
        self.folder.cleanup()

    def floats(self, name, shape, values):
        write_npy(os.path.join(self.folder.name, name), "<f4", shape, pack_f32(values))

    def run_it(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def gemm(self, *words, arch="sm100", status=0):
        return self.run_it("gemm", *words, "--device", "emu", "--arch", arch, status=status)

    def same(self, *names):
        contents = []
        for name in names:
            with open(os.path.join(self.folder.name, name), "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents, names)

    def test_files_are_those_of_quantize(self):
        for suffix in (".npy", ".safetensors:w"):
            file = suffix.split(":", maxsplit=1)[0]
            for kind in KINDS:
                for order in ("32x4x4", "linear"):
                    with self.subTest(kind=kind, order=order, suffix=suffix):
                        self.gemm(*PRODUCT, "-o", "wide.npy", "--d", "f32")
                        self.run_it("quantize", "wide.npy", "q" + suffix, "--to", kind,
                                    "--scale-order", order)
                        report = self.gemm(*PRODUCT, "-o", "d" + suffix, "--d", kind,
                                           "--scale-d-as", order, "--check").stdout
                        self.assertIn("passed", report)
                        self.assertIn("scales of D are those of their blocks", report)
                        self.same("q" + file, "d" + file)
                        self.same("q.scale" + file, "d.scale" + file)
                        if kind == "nvfp4":
                            self.same("q.scale2" + file, "d.scale2" + file)

    def test_block_scaled_operands_and_named_files(self):
        self.gemm(*PRODUCT, "-o", "wide.npy", "--d", "f32", "--dtype", "nvfp4",
                  "--alpha", "0.5")
        self.run_it("quantize", "wide.npy", "q.npy", "--to", "nvfp4")
        with open(os.path.join(self.folder.name, "q.scale2.npy"), "rb") as file:
            level = struct.unpack("<f", file.read()[-4:])[0]
        record = json.loads(self.gemm(*PRODUCT, "-o", "d.npy", "--dtype", "nvfp4", "--d",
                                      "nvfp4", "--alpha", "0.5", "--scale-d-out", "s.npy",
                                      "--scale2-d-out", "s2.npy", "--check", "--json").stdout)
        self.assertEqual(record["check"]["wrong"], 0)
        self.assertEqual(record["check"]["wrong_scales"], 0)
        self.assertEqual(record["scale_d"]["dtype"], "ue4m3")
        self.assertIn("32x4x4", record["scale_d"]["convention"])
        self.assertAlmostEqual(record["scale_d"]["second_level"] / level, 1, places=6)
        self.assertEqual(record["scale_d"]["second_level_file"], "s2.npy")
        self.same("q.npy", "d.npy")
        self.same("q.scale.npy", "s.npy")
        self.same("q.scale2.npy", "s2.npy")

    def write_stacks(self):
        """Three matrices of other magnitudes: x.npy and y.npy with all, x0.npy, y0.npy, ... alone.
        """
        rng = random.Random(20261128)
        for name, rows in (("x", 130), ("y", 102)):
            matrices = [[size * rng.gauss(0, 1) for _ in range(rows * 64)]
                        for size in (1, 50, 0.01)]
            for i, values in enumerate(matrices):
                self.floats(f"{name}{i}.npy", (rows, 64), values)
            self.floats(f"{name}.npy", (3, rows, 64), sum(matrices, []))

    def data_of(self, name):
        return npy_parts(os.path.join(self.folder.name, name))[1]

    def shape_of(self, name):
        header = npy_parts(os.path.join(self.folder.name, name))[0]
        return header.split("'shape': ")[1].split(", }")[0]

    def test_a_stack_has_the_bits_of_each_matrix_alone(self):
        self.write_stacks()
        files = ("", ".scale", ".scale2")
        for kind in KINDS:
            for order in ("32x4x4", "linear"):
                with self.subTest(kind=kind, order=order):
                    words = ("--transpose-b", "--d", kind, "--scale-d-as", order, "--check")
                    report = self.gemm("x.npy", "y.npy", "--batch", "-o", "d.npy", *words).stdout
                    self.assertIn("passed", report)
                    for i in range(3):
                        self.gemm(f"x{i}.npy", f"y{i}.npy", "-o", f"d{i}.npy", *words)
                    for what in files if kind == "nvfp4" else files[:2]:
                        self.assertEqual(self.data_of(f"d{what}.npy"),
                                         b"".join(self.data_of(f"d{i}{what}.npy")
                                                  for i in range(3)), what)
                    block = 16 if kind == "nvfp4" else 32
                    blocks = -(-102 // block)
                    self.assertEqual(self.shape_of("d.scale.npy"), f"(3, 130, {blocks})"
                                     if order == "linear" else f"(3, 256, {-(-blocks // 4) * 4})")
                    if kind == "nvfp4":
                        self.assertEqual(self.shape_of("d.scale2.npy"), "(3,)")
                        levels = struct.unpack("<3f", self.data_of("d.scale2.npy"))
                        self.assertGreater(levels[1], 100 * levels[0])
                        self.assertRegex(report, r"second levels of 3 matrices, [\d.e-]+ to [\d.]+ "
                                                 r"-> d\.scale2\.npy")

    def test_records_have_the_second_level_of_each_matrix(self):
        self.write_stacks()
        words = ("--transpose-b", "--d", "nvfp4", "--check", "--json")
        record = json.loads(self.gemm("x.npy", "y.npy", "--batch", "-o", "d.npy", *words).stdout)
        levels = [json.loads(self.gemm(f"x{i}.npy", f"y{i}.npy", "-o", "one.npy", *words).stdout)
                  ["scale_d"]["second_level"] for i in range(3)]
        self.assertEqual(record["scale_d"]["second_levels"], levels)
        self.assertNotIn("second_level", record["scale_d"])
        self.assertEqual(record["check"]["wrong_scales"], 0)
        # A factor for each block of 16, and the second levels.
        self.assertEqual(record["check"]["scales"], 3 * (130 * 7 + 1))

    def test_a_stack_of_one_matrix_keeps_its_dimension(self):
        self.floats("x.npy", (1, 2, 64), [1.0] * 128)
        for order, shape in (("32x4x4", "(1, 128, 8)"), ("linear", "(1, 2, 7)")):
            self.gemm("x.npy", "b.npy", "--transpose-b", "--batch", "-o", "d.npy", "--d", "nvfp4",
                      "--scale-d-as", order)
            self.assertEqual(self.shape_of("d.npy"), "(1, 2, 102)")
            self.assertEqual(self.shape_of("d.scale.npy"), shape)
            self.assertEqual(self.shape_of("d.scale2.npy"), "(1,)")

    def test_another_gemm_reads_a_stack(self):
        self.write_stacks()
        for kind in ("mxfp8", "mxfp4"):
            for suffix in (".npy", ".safetensors:w"):
                for order in ("32x4x4", "linear"):
                    with self.subTest(kind=kind, suffix=suffix, order=order):
                        self.gemm("x.npy", "y.npy", "--transpose-b", "--batch", "-o", "d" + suffix,
                                  "--d", kind, "--scale-d-as", order)
                        report = self.gemm("d" + suffix, "e.npy", "--batch", "-o", "f.npy",
                                           "--dtype", kind, "--scale-a", "d.scale" + suffix,
                                           "--check").stdout
                        self.assertIn("passed", report)
                        self.assertIn(order, report)
                        alone = b""
                        for i in range(3):
                            self.gemm(f"x{i}.npy", f"y{i}.npy", "--transpose-b", "-o",
                                      "one" + suffix, "--d", kind, "--scale-d-as", order)
                            self.gemm("one" + suffix, "e.npy", "-o", "g.npy", "--dtype", kind,
                                      "--scale-a", "one.scale" + suffix)
                            alone += self.data_of("g.npy")
                        self.assertEqual(self.data_of("f.npy"), alone)
        # An operand has one second level, a stack of D one for each matrix.
        self.gemm("x.npy", "y.npy", "--transpose-b", "--batch", "-o", "d.npy", "--d", "nvfp4")
        done = self.gemm("d.npy", "e.npy", "--batch", "-o", "h.npy", "--dtype", "nvfp4",
                         "--scale-a", "d.scale.npy", "--scale2-a", "d.scale2.npy", status=2)
        self.assertIn("TW0476", done.stderr)
        self.assertIn("one second level for all matrices of a stack", done.stderr)
        self.assertIn("one by one", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "h.npy")))

    def test_another_gemm_reads_them(self):
        self.gemm(*PRODUCT, "-o", "d.safetensors:w", "--d", "nvfp4")
        self.run_it("quantize", "e.npy", "e4.safetensors:w", "--to", "nvfp4", "--operand", "b")
        report = self.gemm("d.safetensors:w", "e4.safetensors:w", "--transpose-b", "-o", "f.npy",
                           "--dtype", "nvfp4", "--check",
                           "--scale-a", "d.scale.safetensors:w", "--scale-b",
                           "e4.scale.safetensors:w", "--scale2-a", "d.scale2.safetensors:w",
                           "--scale2-b", "e4.scale2.safetensors:w").stdout
        self.assertIn("passed", report)
        done = self.gemm("d.safetensors:w", "e4.safetensors:w", "--transpose-b", "-o", "f.npy",
                         "--dtype", "nvfp4", "--scale-a", "d.scale.safetensors:w", "--scale-b",
                         "e4.scale.safetensors:w", "--scale2-b", "e4.scale2.safetensors:w",
                         status=2)
        self.assertIn("TW0476", done.stderr)  # the second level of A is needed

    def test_the_report_names_the_second_level(self):
        report = self.gemm(*PRODUCT, "-o", "d.npy", "--d", "nvfp4").stdout
        self.assertRegex(report, r"second level 0\.\d+ -> d\.scale2\.npy")

    def test_a_gate_before_the_format(self):
        self.floats("gates.npy", (96, 64), [0.01 * (i % 37 - 18) for i in range(96 * 64)])
        for kind in KINDS:
            for gate in ("split", "interleaved"):
                with self.subTest(kind=kind, gate=gate):
                    words = ("a.npy", "gates.npy", "--transpose-b", "--dtype", kind,
                             "--gate", f"swiglu:{gate}")
                    if kind != "mxfp4":  # not in the representative set
                        self.assertIn("passed", self.gemm(*words, "-o", "wide.npy", "--d", "bf16",
                                                          "--check").stdout)
                    if kind != "nvfp4":  # its D is computed by two launches
                        self.assertIn("passed", self.gemm(*words, "-o", "d.npy", "--d", kind,
                                                          "--check").stdout)

    def test_on_hopper_and_ampere(self):
        for arch in ("sm90", "sm80"):
            self.gemm(*PRODUCT, "-o", "d.npy", "--d", "mxfp8", "--check", arch=arch)

    def test_plan_names_the_second_launch(self):
        text = self.run_it("plan", "4096", "4096", "4096", "--device", "b200", "--d", "nvfp4",
                           "--all-kernels", "--top", "1").stdout
        self.assertIn("ue4m3 for 16 elements, 32x4x4", text)
        self.assertIn("D in float32 first, then a second kernel", text)

    def test_epilogues_write_the_format_of_the_operands(self):
        for kind in ("mxfp8", "mxfp4"):
            text = self.run_it("plan", "4096", "4096", "4096", "--device", "b200", "--dtype", kind,
                               "--d", kind, "--all-kernels", "--top", "1").stdout
            self.assertIn("by the same kernel", text)
            report = self.gemm(*PRODUCT, "-o", "d.npy", "--dtype", kind, "--d", kind, "--check",
                               "--activation", "silu").stdout
            self.assertIn("passed", report)
            self.assertIn("scales of D are those of their blocks", report)

    def test_random_shapes_keep_the_bound(self):
        rng = random.Random(20261127)
        for _ in range(int(os.environ.get("TW_SCALED_SHAPES", "4"))):
            kind, order = rng.choice(KINDS), rng.choice(("linear", "32x4x4"))
            m, n, k = rng.randint(1, 300), 2 * rng.randint(1, 150), 2 * rng.randint(1, 150)
            for name, rows in (("a.npy", m), ("b.npy", n)):
                self.floats(name, (rows, k), [rng.gauss(0, 1) for _ in range(rows * k)])
            with self.subTest(kind=kind, order=order, m=m, n=n, k=k):
                self.gemm(*PRODUCT, "-o", "d.npy", "--dtype", kind, "--d", kind, "--scale-d-as",
                          order, "--check", "--quiet")

    def test_refusals(self):
        def refused(code, *words):
            done = self.gemm(*PRODUCT, *words, status=2)
            self.assertIn(code, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder.name, "x.npy")))

        to = ("-o", "x.npy")
        refused("TW0615", *to, "--d", "nvfp4", "--scale-d", "amax-row")
        refused("TW0615", *to, "--d", "mxfp8", "--scale2-d-out", "s2.npy")
        refused("TW0615", *to, "--d", "mxfp8", "--scale-d-as", "cublaslt")
        refused("TW0615", *to, "--scale-d", "amax-row", "--scale-d-as", "linear")
        refused("TW0615", *to, "--scale-d-as", "torch")
        refused("TW0612", *to, "--scale-d-out", "s.npy")
        refused("TW0612", *to, "--d", "nvfp4", "--scale2-d-out", "x.npy")
        refused("TW0612", "-o", "-", "--d", "mxfp8")
        self.floats("b.npy", (101, 64), [1.0] * (64 * 101))
        refused("TW0458", *to, "--d", "mxfp4")


if __name__ == "__main__":
    unittest.main()
