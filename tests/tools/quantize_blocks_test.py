#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize_blocks_test.py  tilewright quantize --to mxfp8, mxfp4 and nvfp4 writes the bytes that
the formats' definitions give, in both orders of the scales and both kinds of files."""
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
from checkpoint_files import E2M1, E4M3, f32, npy_parts, write_f32  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]
FORMATS = {"mxfp8": (32, 448.0), "mxfp4": (32, 6.0), "nvfp4": (16, 6.0)}


def nearest(x, table):
    """The code of |x|, ties to the even code, clamped."""
    x = abs(x)
    best = min(range(len(table)), key=lambda c: (abs(table[c] - x), c % 2))
    return best if math.isfinite(x) else len(table) - 1


def amax(values):
    return max([abs(x) for x in values if math.isfinite(x)], default=0.0)


def reference(kind, matrix):
    """Codes of the values [row][k], of the factors [row][block], and the second level."""
    block, limit = FORMATS[kind]
    second = 1.0
    if kind == "nvfp4" and amax([x for row in matrix for x in row]) > 0:
        second = max(f32(amax([x for row in matrix for x in row]) / 2688.0), 2.0**-126)
    values, factors = [], []
    for row in matrix:
        values.append([])
        factors.append([])
        for first in range(0, len(row), block):
            part = row[first:first + block]
            largest = amax(part)
            if kind == "nvfp4":
                code = max(1, nearest(f32(f32(largest / 6.0) / second), E4M3)) if largest else 0x38
                scale = f32(E4M3[code] * second)
            else:
                quotient = f32(largest / limit)
                code = 127 if largest == 0 else max(0, math.ceil(math.log2(quotient)) + 127)
                scale = 2.0**(code - 127)
            lost = kind != "mxfp8" and any(math.isnan(x) for x in part)
            factors[-1].append((0x7F if kind == "nvfp4" else 0xFF) if lost else code)
            for x in part:
                sign = 1 if math.copysign(1, x) < 0 and not math.isnan(x) else 0
                if kind == "mxfp8":
                    code8 = 0x7F if math.isnan(x) else nearest(f32(x / scale), E4M3)
                    values[-1].append(code8 | sign << 7)
                else:
                    code4 = 7 if math.isnan(x) else nearest(f32(x / scale), E2M1)
                    values[-1].append(code4 | sign << 3)
    return values, factors, second


class QuantizeBlocks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_command(self, *options, status=0):
        done = subprocess.run([COMMAND, "quantize", *options], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def matrix(self, rows, columns):
        chosen = random.Random(rows * columns)
        special = [0.0, -0.0, math.inf, -math.inf, 1e-30, -3e38]
        out = [[f32(chosen.gauss(0, 1) * 2.0**chosen.randint(-12, 12)) for _ in range(columns)]
               for _ in range(rows)]
        for i, x in enumerate(special):
            out[1][i] = x
        for k in range(min(32, columns)):
            out[2][k] = 0.0
        out[3][5] = math.nan
        return out

    def test_bytes_of_every_format_and_order(self):
        for kind in FORMATS:
            for order in ("linear", "32x4x4"):
                with self.subTest(f"{kind} {order}"):
                    self.check(kind, order)

    def check(self, kind, order):
        rows, columns = 131, 72  # padding of rows and of factors, a last block that is not full
        matrix = self.matrix(rows, columns)
        if kind == "nvfp4":  # otherwise one element decides the second level
            matrix[1][5] = -400.0
        write_f32(self.path("x.npy"), matrix)
        told = json.loads(self.run_command(self.path("x.npy"), self.path("q.npy"), "--to", kind,
                                           "--scale-order", order, "--json"))
        values, factors, second = reference(kind, matrix)
        head, data = npy_parts(self.path("q.npy"))
        self.assertIn(f"({rows}, {columns})", head)
        self.assertEqual(list(data), [code for row in values for code in row])
        _, scales = npy_parts(self.path("q.scale.npy"))
        blocks = len(factors[0])
        if order == "linear":
            expected = bytes(code for row in factors for code in row)
        else:  # torch: tiles of 128 rows by 4 factors, 32 x 4 x 4
            tiles = (blocks + 3) // 4
            out = bytearray(512 * tiles * ((rows + 127) // 128))
            for r, row in enumerate(factors):
                for b, code in enumerate(row):
                    out[(r // 128 * tiles + b // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4
                        + b % 4] = code
            expected = bytes(out)
        self.assertEqual(scales, expected)
        self.assertEqual(told["scale_block"], FORMATS[kind][0])
        self.assertEqual(told["nan"], 1)
        if kind == "nvfp4":
            _, scale2 = npy_parts(self.path("q.scale2.npy"))
            self.assertEqual(struct.unpack("<f", scale2)[0], second)
            self.assertEqual(told["second_level"], second)
        else:
            self.assertFalse(os.path.exists(self.path("q.scale2.npy")))

    def test_safetensors_have_two_elements_in_a_byte(self):
        matrix = self.matrix(5, 64)
        write_f32(self.path("x.npy"), matrix)
        self.run_command(self.path("x.npy"), self.path("w.safetensors") + ":w", "--to", "mxfp4")
        with open(self.path("w.safetensors"), "rb") as file:
            data = file.read()
        length = struct.unpack("<Q", data[:8])[0]
        entry = json.loads(data[8:8 + length])["w"]
        self.assertEqual((entry["dtype"], entry["shape"]), ("F4", [5, 64]))
        values = [code for row in reference("mxfp4", matrix)[0] for code in row]
        self.assertEqual(list(data[8 + length:]),
                         [low | high << 4 for low, high in zip(values[::2], values[1::2])])
        with open(self.path("w.scale.safetensors"), "rb") as file:
            self.assertIn(b"F8_E8M0", file.read())
        # A file of such elements is a matrix like any other.
        self.run_command(self.path("w.safetensors") + ":w", self.path("y.npy"), "--to", "e4m3",
                         "--scaling", "tensor")
        _, again = npy_parts(self.path("y.npy"))
        # The largest magnitude, 6, becomes 448.
        self.assertEqual(list(again), [nearest(f32(E2M1[c % 8] / f32(6 / 448)), E4M3) | c // 8 << 7
                                       for c in values])

    def test_columns_of_b_are_rows_of_the_result(self):
        matrix = self.matrix(48, 7)
        write_f32(self.path("x.npy"), matrix)
        self.run_command(self.path("x.npy"), self.path("q.npy"), "--to", "nvfp4", "--operand", "b",
                         "--scale-order", "linear", "--quiet")
        head, data = npy_parts(self.path("q.npy"))
        self.assertIn("(7, 48)", head)
        values, _, _ = reference("nvfp4", [list(column) for column in zip(*matrix)])
        self.assertEqual(list(data), [code for row in values for code in row])

    def test_refusals(self):
        write_f32(self.path("x.npy"), [[1.0] * 33] * 2)
        for options, code in ((("--to", "mxfp8", "--scaling", "row"), "TW0455"),
                              (("--to", "mxfp4", "--scale2-out", self.path("s.npy")), "TW0455"),
                              (("--to", "e4m3", "--scaling", "row", "--scale-order", "linear"),
                               "TW0452"),
                              (("--to", "e4m3"), "TW0615")):
            text = self.run_command(self.path("x.npy"), self.path("q.npy"), *options, status=2)
            self.assertIn(code, text)
        text = self.run_command(self.path("x.npy"), self.path("q.safetensors") + ":q", "--to",
                                "nvfp4", status=2)
        self.assertIn("TW0455", text)
        with open(self.path("x.npy"), "rb") as file:
            stack = file.read().replace(b"(2, 33), }", b"(1, 2, 33)}")
        with open(self.path("x.npy"), "wb") as file:
            file.write(stack)
        text = self.run_command(self.path("x.npy"), self.path("q.npy"), "--to", "nvfp4", status=2)
        self.assertIn("TW0605", text)
        self.assertIn("`tilewright gemm --batch`, which quantises it", text)
        self.assertFalse(os.path.exists(self.path("q.npy")))

    def test_report_names_the_layout_and_the_second_level(self):
        write_f32(self.path("x.npy"), [[1.0] * 64] * 130)
        text = self.run_command(self.path("x.npy"), self.path("q.npy"), "--to", "nvfp4")
        self.assertIn("((32,4,2),(16,4,1)):((16,4,512),(0,1,512))", text)
        self.assertIn("element = value * scale * scale 2", text)


if __name__ == "__main__":
    unittest.main()
