#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scale_arguments_test.py  Scales on the command line of gemm, as a number or a file: values that
float32 cannot hold, files of other types, and numbers where each block has a scale."""
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    npy_parts, pack_bf16, pack_f32, write_f32, write_npy, write_safetensors)
from command_case import CommandCase  # noqa: E402

NEED_FINITE = "need a finite number that float32 can hold"
BEYOND = (1e60, -1e60, 3.5e38)  # of float64, beyond float32
WITHIN = (3.4028234e38, 1e-60, 0.0, math.inf, math.nan)


class ScaleArguments(CommandCase):
    def doubles(self, name, *values, shape=None):
        write_npy(self.path(name), "<f8", (len(values),) if shape is None else shape,
                  struct.pack(f"<{len(values)}d", *values))

    def write_operands(self):
        write_f32(self.path("x.npy"), self.normal(32, 64))
        write_npy(self.path("x8.npy"), "<V1", (32, 64), self.codes(32 * 64))
        write_npy(self.path("w8.npy"), "<V1", (16, 64), self.codes(16 * 64))

    def test_the_scale_of_d(self):
        self.write_operands()
        words = ["x.npy", "x.npy", "--transpose-b", "-o", "d.npy"]
        self.gemm(*words, "--scale-d", "0.5")
        want = npy_parts(self.path("d.npy"))
        for name, descr, data in (("f64", "<f8", struct.pack("<d", 0.5)),
                                  ("f16", "<f2", struct.pack("<e", 0.5)),
                                  ("bf16", "<V2", pack_bf16([0.5])),
                                  ("f32", "<f4", pack_f32([0.5]))):
            with self.subTest(name):
                write_npy(self.path(name + ".npy"), descr, (), data)
                self.gemm(*words, "--scale-d", name + ".npy")
                self.assertEqual(npy_parts(self.path("d.npy")), want)
        os.remove(self.path("d.npy"))
        for bad in ("nan", "inf", "-inf", "1e60", "1e400", "1e-60"):
            with self.subTest(bad):
                self.refused("TW0616", *words, "--scale-d=" + bad,
                             contains=[f"scale of D: got {bad}, {NEED_FINITE}"])
        for i, bad in enumerate((math.nan, math.inf, *BEYOND)):
            with self.subTest(bad):
                self.doubles(f"bad{i}.npy", bad, shape=())
                self.refused("TW0616", *words, "--scale-d", f"bad{i}.npy",
                             contains=[f"in bad{i}.npy, {NEED_FINITE}"])
        for bad in ("0", "-1", "-0.5"):  # D is divided by it
            self.refused("TW0616", *words, "--scale-d=" + bad,
                         contains=["need a number above 0 in float32"])
        self.doubles("small.npy", 1e-60, shape=())
        self.refused("TW0616", *words, "--scale-d", "small.npy",
                     contains=["need a number above 0 in float32"])
        write_npy(self.path("two.npy"), "<f4", (2,), pack_f32([0.5, 0.5]))
        write_npy(self.path("int.npy"), "<i4", (), struct.pack("<i", 1))
        for name, got in (("two.npy", "2 elements of f32"), ("int.npy", "1 elements of s32")):
            self.refused("TW0616", *words, "--scale-d", name,
                         contains=[got, "need one float for all of D, or a number", "amax-row"])
        self.assertFalse(os.path.exists(self.path("d.npy")))

    def test_files_of_float64_beyond_float32(self):
        """One element that float32 cannot hold refuses the file; infinity and NaN do not."""
        self.write_operands()
        words = ["x8.npy", "w8.npy", "--transpose-b", "-o", "d.npy"]
        for operand, rows in (("a", 32), ("b", 16)):
            option = "--scale-" + operand
            for place in (0, rows - 1):
                for value in WITHIN:
                    with self.subTest(operand=operand, place=place, value=value):
                        self.doubles("s.npy", *[value if i == place else 0.5 for i in range(rows)])
                        self.gemm(*words, option, "s.npy")
                os.remove(self.path("d.npy"))
                for value in BEYOND:
                    with self.subTest(operand=operand, place=place, value=value):
                        self.doubles("s.npy", *[value if i == place else 0.5 for i in range(rows)])
                        self.refused("TW0450", *words, option, "s.npy",
                                     contains=[f"scale of {operand.upper()} in s.npy: got "
                                               f"{value:g}, need numbers that float32 can hold"])
                self.assertFalse(os.path.exists(self.path("d.npy")))
            data = struct.pack(f"<{rows}d", *[1e60] * rows)
            write_safetensors(self.path("s.safetensors"), {"s": ("F64", [rows, 1], data)})
            self.refused("TW0450", *words, option, "s.safetensors:s",
                         contains=["in s.safetensors:s: got 1e+60"])

    def test_a_number_is_no_scale_of_blocks(self):
        self.write_operands()
        for kind in ("mxfp8", "mxfp4", "nvfp4"):
            for operand in ("a", "b"):
                for number in ("1", "0.5", "nan", "1e60"):
                    with self.subTest(kind=kind, operand=operand, number=number):
                        self.refused(
                            "TW0615", "x.npy", "x.npy", "--transpose-b", "-o", "d.npy", "--arch",
                            "sm100", "--dtype", kind, "--scale-" + operand, number,
                            contains=[f"--scale-{operand} {number} with --dtype {kind}",
                                      "need a file of scales"])
        self.assertFalse(os.path.exists(self.path("d.npy")))


if __name__ == "__main__":
    unittest.main()
