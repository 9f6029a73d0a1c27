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
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import npy_parts, write_npy, write_safetensors  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
FACTOR_FILES = ("linear npy", "linear fortran", "linear safetensors", "32x4x4 npy",
                "32x4x4 vector", "32x4x4 safetensors")


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
        write_npy(self.path(name), "<f4", shape, struct.pack(f"<{count}f", *values))
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
                    self.assertEqual(npy_parts(self.path("d.npy"))[1], b"")
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
        write_npy(self.path("zeros.npy"), "<V1", (12, 64), bytes(12 * 64))  # 0 times infinity
        words[1] = "zeros.npy"
        record = json.loads(self.gemm(*words, "--scale2-a", "1e25", "--scale2-b", "1e25",
                                      "--check", "--json").stdout)
        self.assertTrue(record["check"]["passed"])

    def test_one_nan_in_a_weight_is_judged(self):
        self.floats("a.npy", 20, 64)
        values = self.floats("b.npy", 12, 64)
        values[5 * 64 + 7] = math.nan
        write_npy(self.path("b.npy"), "<f4", (12, 64), struct.pack("<768f", *values))
        for kind in ("mxfp8", "mxfp4", "nvfp4"):
            with self.subTest(kind=kind):
                record = json.loads(self.gemm("a.npy", "b.npy", "--transpose-b", "--out-dtype",
                                              kind, "--check", "--json").stdout)
                self.assertTrue(record["check"]["passed"])
                self.assertEqual(record["check"]["judged"], 240)
                self.assertGreater(record["check"]["scales"], 0)

    def write_factors(self, path, order, rows, blocks, data):
        """Factors of (rows, blocks) in one of the ways of FACTOR_FILES. Returns their address."""
        tiles = -(-blocks // 4)
        if order.startswith("32x4x4"):
            tiled = bytearray(512 * tiles * -(-rows // 128))
            for r, b in itertools.product(range(rows), range(blocks)):
                at = 512 * (r // 128 * tiles + b // 4) + r % 32 * 16 + r % 128 // 32 * 4 + b % 4
                tiled[at] = data[r * blocks + b]
            rows, blocks, data = -(-rows // 128) * 128, 4 * tiles, bytes(tiled)
        if order.endswith("safetensors"):
            write_safetensors(self.path(path + ".safetensors"),
                              {"s": ("F8_E4M3", [rows, blocks], data)})
            return path + ".safetensors:s"
        fortran = order.endswith("fortran")
        if fortran:
            data = bytes(data[r * blocks + b] for b in range(blocks) for r in range(rows))
        shape = (len(data),) if order.endswith("vector") else (rows, blocks)
        write_npy(self.path(path + ".npy"), "<V1", shape, data, fortran)
        return path + ".npy"

    def test_factors_with_a_sign_are_refused(self):
        """Of A and of B, the first, the last and others, wherever the file has them."""
        blocks, extents = 6, {"a": 140, "b": 24}
        for name, rows in extents.items():
            self.floats(f"{name}.npy", rows, 16 * blocks)
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "nvfp4", "--quiet",
                        "--scale-order", "linear")
        words = ["a4.npy", "b4.npy", "--transpose-b", "--dtype", "nvfp4", "--arch", "sm100",
                 "--scale2-a", "1", "--scale2-b", "1"]
        right = {name: npy_parts(self.path(f"{name}4.scale.npy"))[1] for name in extents}
        for order, wrong in itertools.product(FACTOR_FILES, extents):
            rows, other = extents[wrong], "ab".replace(wrong, "")
            as_words = [f"--scale-{x}-as={order.split()[0]}" for x in "ab"]
            files = {x: self.write_factors("scale_" + x, order, extents[x], blocks, right[x])
                     for x in "ab"}
            self.gemm(*words, *as_words, "--scale-a", files["a"], "--scale-b", files["b"])
            os.remove(self.path("d.npy"))
            for row, block in ((0, 0), (rows - 1, blocks - 1), (19, 3), (rows - 1, 0)):
                with self.subTest(order=order, wrong=wrong, row=row, block=block):
                    factors = bytearray(right[wrong])
                    factors[row * blocks + block] |= 0x80
                    name = self.write_factors("signs", order, rows, blocks, bytes(factors))
                    done = self.gemm(*words, *as_words, f"--scale-{wrong}", name,
                                     f"--scale-{other}", files[other], status=2)
                    for text in (f"TW0478: nvfp4 scale of {wrong.upper()} in {name}: got "
                                 f"0x{factors[row * blocks + block]:02x}",
                                 f"{'row' if wrong == 'a' else 'column'} {row}, elements "
                                 f"{16 * block} to {16 * block + 15} of K"):
                        self.assertIn(text, " ".join(done.stderr.split()))
                    self.assertFalse(os.path.exists(self.path("d.npy")))

    def test_padding_with_a_sign_is_not_read(self):
        """Of 32x4x4: rows to a multiple of 128, factors to a multiple of 4."""
        for name, rows in (("a", 20), ("b", 12)):
            self.floats(f"{name}.npy", rows, 96)
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "nvfp4", "--quiet",
                        "--scale-order", "linear")
        words = ["a4.npy", "b4.npy", "--transpose-b", "--dtype", "nvfp4", "--arch", "sm100",
                 "--scale2-a", "1", "--scale2-b", "1", "--scale-b", "b4.scale.npy"]
        right = npy_parts(self.path("a4.scale.npy"))[1]
        name = self.write_factors("padded", "32x4x4 npy", 20, 6, right)
        self.gemm(*words, "--scale-a", name)
        want = npy_parts(self.path("d.npy"))
        padded = bytearray(npy_parts(self.path(name))[1])
        self.assertGreater(padded.count(0), 800)
        write_npy(self.path(name), "<V1", (128, 8), bytes(c or 0xB8 for c in padded))
        self.gemm(*words, "--scale-a", name)
        self.assertEqual(npy_parts(self.path("d.npy")), want)

    def test_nan_in_the_padding_of_k_is_refused(self):
        """Zeros of K are multiplied by it. In rows after the last one it is harmless."""
        for form, nan, block in (("mxfp8", 0xFF, 32), ("mxfp4", 0xFF, 32), ("nvfp4", 0x7F, 16)):
            k = 6 * block
            for name, rows in (("a", 20), ("b", 12)):
                self.floats(f"{name}.npy", rows, k)
                self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", form, "--quiet")
            levels = ["--scale2-a", "1", "--scale2-b", "1"] if form == "nvfp4" else []
            words = ["a4.npy", "b4.npy", "--transpose-b", "--dtype", form, "--arch", "sm100",
                     *levels]
            files = {x: f"{x}4.scale.npy" for x in "ab"}
            right = {x: npy_parts(self.path(files[x]))[1] for x in "ab"}
            for wrong, other in (("a", "b"), ("b", "a")):
                for row, b, refused in ((3, 6, True), (9, 7, True), (100, 2, False)):
                    with self.subTest(form=form, wrong=wrong, row=row, block=b):
                        factors = bytearray(right[wrong])
                        factors[b // 4 * 512 + row % 32 * 16 + row // 32 * 4 + b % 4] = nan
                        write_npy(self.path("nan.npy"), "<V1", (len(factors),), bytes(factors))
                        done = self.gemm(*words, f"--scale-{wrong}", "nan.npy", f"--scale-{other}",
                                         files[other], "--check", status=2 if refused else 0)
                        if refused:
                            self.assertIn("TW0491", done.stderr)
                            self.assertIn(f"{row} after its last block, 5 of 6",
                                          " ".join(done.stderr.split()))

    def test_one_factor_with_a_sign_in_a_stack(self):
        for name, rows in (("a", 20), ("b", 12)):
            self.floats(f"{name}.npy", rows, 64)
            self.run_it("quantize", f"{name}.npy", f"{name}4.npy", "--to", "nvfp4", "--quiet",
                        "--scale-order", "linear")
            for what, cols in (("", 64), (".scale", 4)):
                data = npy_parts(self.path(f"{name}4{what}.npy"))[1]
                write_npy(self.path(f"{name}{what}.npy"), "<V1", (2, rows, cols), 2 * data)
        words = ["a.npy", "b.npy", "--batch", "--transpose-b", "--dtype", "nvfp4", "--arch",
                 "sm100", "--scale2-a", "1", "--scale2-b", "1", "--scale-a-as", "linear",
                 "--scale-b-as", "linear"]
        self.gemm(*words, "--scale-a", "a.scale.npy", "--scale-b", "b.scale.npy")
        for wrong, other, place in (("a", "b", "row 19"), ("b", "a", "column 11")):
            _, data = npy_parts(self.path(f"{wrong}.scale.npy"))
            signed = data[:-1] + bytes([data[-1] | 0x80])
            write_npy(self.path("signs.npy"), "<V1", (2, len(data) // 8, 4), signed)
            said = self.gemm(*words, f"--scale-{wrong}", "signs.npy", f"--scale-{other}",
                             f"{other}.scale.npy", status=2).stderr
            self.assertIn("TW0478", said)
            self.assertIn(f"{place}, elements 48 to 63 of K", " ".join(said.split()))

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
