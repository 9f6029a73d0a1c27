#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""file_types_test.py  The help of gemm names the types of files, and gemm reads a file of each."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import write_npy, write_safetensors  # noqa: E402
from command_case import CommandCase  # noqa: E402

NPY = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "int8": "|i1", "uint8": "|u1",
       "int32": "<i4", "bfloat16": "<V2"}
BITS = {"F16": 16, "BF16": 16, "F32": 32, "F64": 64, "I8": 8, "U8": 8, "I32": 32, "F8_E4M3": 8,
        "F8_E5M2": 8, "F4": 4}
ROWS, COLS = 8, 64


class FileTypes(CommandCase):
    def files_of_the_help(self):
        text = " ".join(self.run_it("gemm", "--help").stdout.split())
        npy, safetensors = re.search(r"Files: FILE\.npy \((.*?)\), FILE.*?TENSOR \((.*?)\)",
                                     text).groups()
        return npy, safetensors

    def test_the_help_names_each_type(self):
        npy, safetensors = self.files_of_the_help()
        for name in NPY:
            self.assertRegex(npy, rf"\b{name}\b")
        self.assertIn("8-bit and 4-bit floats", npy)
        operands, scales = safetensors.split("; scales also ")
        self.assertEqual(operands.split(", "), list(BITS))
        self.assertEqual(scales, "F8_E8M0")

    def test_gemm_reads_each_type(self):
        for name, descr in NPY.items():
            write_npy(self.path("x.npy"), descr, (ROWS, COLS), bytes(ROWS * COLS * int(descr[2])))
            with self.subTest(name):
                self.gemm("x.npy", "x.npy", "--transpose-b", "-o", "d.npy", "--dtype", "bf16")
        for name, bits in BITS.items():
            data = bytes(ROWS * COLS * bits // 8)
            write_safetensors(self.path("x.safetensors"), {"x": (name, [ROWS, COLS], data)})
            with self.subTest(name):
                self.gemm("x.safetensors:x", "x.safetensors:x", "--transpose-b", "-o", "d.npy",
                          "--dtype", "bf16")

    def test_gemm_reads_scales_of_ue8m0(self):
        write_safetensors(self.path("x.safetensors"), {
            "x": ("F8_E4M3", [ROWS, COLS], bytes(ROWS * COLS)),
            "s": ("F8_E8M0", [ROWS, COLS // 32], bytes(ROWS * COLS // 32))})
        self.gemm("x.safetensors:x", "x.safetensors:x", "--transpose-b", "-o", "d.npy", "--dtype",
                  "mxfp8", "--arch", "sm100", "--scale-a", "x.safetensors:s", "--scale-b",
                  "x.safetensors:s")


if __name__ == "__main__":
    unittest.main()
