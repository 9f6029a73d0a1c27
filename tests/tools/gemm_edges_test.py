#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gemm_edges_test.py  tilewright gemm at edges: decode shapes whose D a second launch quantises,
empty matrices with every vector, second levels that overflow, NaN in block-scaled results, and
options of scales that have no effect, which are refused."""
import itertools
import json
import math
import os
import random
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["TW_COMMAND"]


def npy(path, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def elements(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


class Edges(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rng = random.Random(20261128)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def floats(self, name, *shape, fill=None):
        count = math.prod(shape)
        values = [fill if fill is not None else self.rng.gauss(0, 1) for _ in range(count)]
        npy(self.path(name), "<f4", shape, struct.pack(f"<{count}f", *values))
        return values

    def run_it(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        return done

    def gemm(self, *words, status=0):
        return self.run_it("gemm", *words, "-o", "d.npy", "--device", "emu", status=status)

    def test_decode_shapes_with_a_quantised_result(self):
        """Kernels for small M or N, whose plans need no workspace but that of D."""
        ways = [("--scale-d", "0.5"), ("--scale-d", "amax-row"), ("--scale-d", "amax-1x128"),
                ("--scale-d", "amax-row", "--out-dtype", "s8"), ("--out-dtype", "mxfp8"),
                ("--out-dtype", "mxfp4"), ("--out-dtype", "nvfp4")]
        families = set()
        for (m, n, k), way in itertools.product(
                [(1, 32, 16), (8, 512, 64), (3, 4096, 256), (512, 2, 64)], ways):
            self.floats("a.npy", m, k)
            self.floats("b.npy", n, k)
            words = ["a.npy", "b.npy", "--transpose-b", *way, "--check", "--json"]
            in_two_launches = "s8" in way or "--scale-d" not in way
            for family in ([], ["--family", "gemv"]) if in_two_launches else ([],):
                with self.subTest(shape=(m, n, k), way=way, family=family):
                    record = json.loads(self.gemm(*words, *family).stdout)
                    self.assertTrue(record["check"]["passed"])
                    families.add(record["kernel"].split("_")[0])
        self.assertEqual(families, {"gemv", "sm90"})

    def test_empty_matrices_take_every_vector(self):
        self.floats("none.npy", 0, 16)
        self.floats("b.npy", 3, 16)
        self.floats("empty.npy", 0)
        self.floats("three.npy", 3)
        rows = ["none.npy", "b.npy", "--transpose-b"]
        cols = ["b.npy", "none.npy", "--transpose-b"]
        for words in ([*rows, "--bias", "empty.npy", "--bias-along", "rows"],
                      [*rows, "--row-scale", "empty.npy"], [*rows, "--bias", "three.npy"],
                      [*rows, "--col-scale", "three.npy"], [*cols, "--bias", "empty.npy"],
                      [*cols, "--col-scale", "empty.npy"], [*cols, "--row-scale", "three.npy"]):
            for more in ([], ["--json"], ["--invariant"], ["--json", "--invariant"], ["--check"]):
                with self.subTest(words=words, more=more):
                    said = self.gemm(*words, *more).stdout
                    if "--json" in more:
                        self.assertIsNone(json.loads(said)["invariant"])
                    self.assertEqual(elements(self.path("d.npy")), b"")
        self.assertIn("TW0616", self.gemm(*rows, "--bias", "empty.npy", status=2).stderr)

    def test_second_levels_beyond_float32(self):
        """Multiplied they are infinite, in the kernel and for --check."""
        self.floats("a.npy", 20, 64)
        self.floats("b.npy", 12, 64)
        for name in ("a", "b"):
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "nvfp4", "--quiet")
        words = ["a4.npy", "b4.npy", "--transpose-b", "--dtype", "nvfp4", "--arch", "sm100",
                 "--scale-a", "a4.scale.npy", "--scale-b", "b4.scale.npy", "--d", "f32"]
        for first, second in (("1e25", "1e25"), ("1e30", "1e-30"), ("1e-30", "1e-30")):
            record = json.loads(self.gemm(*words, "--scale2-a", first, "--scale2-b", second,
                                          "--check", "--json").stdout)
            self.assertTrue(record["check"]["passed"], (first, second))
        npy(self.path("zeros.npy"), "<V1", (12, 64), bytes(12 * 64))  # 0 times infinity
        words[1] = "zeros.npy"
        record = json.loads(self.gemm(*words, "--scale2-a", "1e25", "--scale2-b", "1e25",
                                      "--check", "--json").stdout)
        self.assertTrue(record["check"]["passed"])

    def test_one_nan_in_a_weight_is_judged(self):
        self.floats("a.npy", 20, 64)
        values = self.floats("b.npy", 12, 64)
        values[5 * 64 + 7] = math.nan
        npy(self.path("b.npy"), "<f4", (12, 64), struct.pack("<768f", *values))
        for kind in ("mxfp8", "mxfp4", "nvfp4"):
            with self.subTest(kind=kind):
                record = json.loads(self.gemm("a.npy", "b.npy", "--transpose-b", "--out-dtype",
                                              kind, "--check", "--json").stdout)
                self.assertTrue(record["check"]["passed"])
                self.assertEqual(record["check"]["judged"], 240)
                self.assertGreater(record["check"]["scales"], 0)

    def test_factors_with_a_sign_are_refused(self):
        self.floats("a.npy", 20, 64)
        self.floats("b.npy", 12, 64)
        for name in ("a", "b"):
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "nvfp4", "--quiet",
                        "--scale-order", "linear")
        factors = bytearray(elements(self.path("a4.scale.npy")))
        factors[3 * 4 + 1] |= 0x80
        npy(self.path("signs.npy"), "<V1", (20, 4), bytes(factors))
        said = self.gemm("a4.npy", "b4.npy", "--transpose-b", "--dtype", "nvfp4", "--arch",
                         "sm100", "--scale-a", "signs.npy", "--scale-a-as", "linear", "--scale-b",
                         "b4.scale.npy", "--scale-b-as", "linear", "--scale2-a", "1",
                         "--scale2-b", "1", status=2).stderr
        self.assertIn("TW0478", said)
        self.assertIn("row 3, elements 16 to 31 of K", said)

    def test_the_report_names_the_type_of_values_beside_their_scales(self):
        self.floats("a.npy", 20, 64)
        self.floats("b.npy", 12, 64)
        for name in ("a", "b"):
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "mxfp4", "--quiet")
        words = ["a4.npy", "b4.npy", "--transpose-b", "--dtype", "mxfp4", "--arch", "sm100",
                 "--scale-a", "a4.scale.npy", "--scale-b", "b4.scale.npy"]
        said = self.gemm(*words).stdout
        self.assertIn("A        20x64 e2m1 row-major\n", said)
        self.assertNotIn("rounded", said)
        record = json.loads(self.gemm(*words, "--json").stdout)
        self.assertEqual(record["a"]["file_dtype"], "e2m1")
        wide = self.gemm("a.npy", "b.npy", "--transpose-b", "--dtype", "mxfp4", "--arch",
                         "sm100").stdout
        self.assertIn("A        20x64 f32 row-major, quantised to e2m1\n", wide)


if __name__ == "__main__":
    unittest.main()
