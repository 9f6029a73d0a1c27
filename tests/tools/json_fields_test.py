#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""json_fields_test.py  Fields of --json that say where scales come from, of gemm and quantize, and
which levels of a roofline bound the GEMM (docs/json.md)."""
import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    f32, pack_f32, read_npy, read_safetensors, write_f32, write_npy)
from command_case import CommandCase  # noqa: E402


class JsonFields(CommandCase):
    def record(self, verb, *words):
        return json.loads(verb(*words, "--json").stdout)

    def scales_of_gemm(self, *words):
        """(given, file_dtype) of A and of B."""
        record = self.record(self.gemm, *words, "--transpose-b", "-o", "d.npy")
        return tuple(None if s is None else (s["given"], s["file_dtype"])
                     for s in (record["scale_a"], record["scale_b"]))

    def test_scales_of_gemm(self):
        write_f32(self.path("x.npy"), self.normal(32, 64))
        write_npy(self.path("x8.npy"), "<V1", (32, 64), self.codes(32 * 64))
        write_npy(self.path("s.npy"), "<f4", (32,), pack_f32([0.5] * 32))
        write_npy(self.path("s16.npy"), "<f2", (32,), struct.pack("<32e", *[0.5] * 32))
        computed, number = (False, None), (True, None)
        for words, want in (
                (["x.npy", "x.npy"], (None, None)),
                (["x8.npy", "x8.npy", "--scale-a", "s.npy"], ((True, "f32"), None)),
                (["x8.npy", "x8.npy", "--scale-b", "s16.npy"], (None, (True, "f16"))),
                (["x8.npy", "x8.npy", "--scale-a", "s16.npy", "--scale-b", "0.5"],
                 ((True, "f16"), number)),
                (["x.npy", "x8.npy", "--scaling-a", "row", "--scale-b", "s.npy"],
                 (computed, (True, "f32"))),
                (["x.npy", "x.npy", "--scaling-a", "row", "--scaling-b", "128x128"],
                 (computed, computed)),
                (["x.npy", "x.npy", "--scaling-a", "tensor", "--scale-a", "0.5", "--scaling-b",
                  "tensor"], (number, computed))):
            with self.subTest(words):
                self.assertEqual(self.scales_of_gemm(*words), want)

    def test_scales_of_blocks(self):
        write_f32(self.path("x.npy"), self.normal(32, 64))
        for kind, of_file in (("mxfp8", "ue8m0"), ("mxfp4", "ue8m0"), ("nvfp4", "ue4m3")):
            self.quantize("x.npy", "q.npy", "--to", kind, "--quiet")
            words = ["--dtype", kind, "--arch", "sm100"]
            second = ["--scale2-a", "q.scale2.npy"] if kind == "nvfp4" else []
            with self.subTest(kind):
                self.assertEqual(self.scales_of_gemm("q.npy", "x.npy", *words, "--scale-a",
                                                     "q.scale.npy", *second),
                                 ((True, of_file), (False, None)))
        # A second level alone is given; the scales of the blocks are computed.
        self.assertEqual(self.scales_of_gemm("x.npy", "x.npy", *words, "--scale2-b", "0.5"),
                         ((False, None), (True, None)))

    def test_scales_of_quantize(self):
        write_f32(self.path("x.npy"), self.normal(32, 64))
        fp8 = ["x.npy", "q.npy", "--to", "e4m3", "--scaling", "tensor"]
        self.assertIs(self.record(self.quantize, *fp8)["given"], False)
        self.assertIs(self.record(self.quantize, *fp8, "--scale", "0.5")["given"], True)
        nvfp4 = ["x.npy", "q.npy", "--to", "nvfp4"]
        for more, given, level in (([], False, None), (["--scale2", "0.5"], True, 0.5),
                                   (["--scale2", "3", "--scale2-as", "reciprocal"], True,
                                    f32(1 / 3))):
            with self.subTest(more):
                record = self.record(self.quantize, *nvfp4, *more)
                stored, = read_npy(self.path("q.scale2.npy"))
                self.assertIs(record["given"], given)
                self.assertEqual(record["second_level"], stored)
                self.assertEqual(record["second_level_stored"], stored)
                if level:
                    self.assertEqual(stored, level)
        for kind in ("mxfp8", "mxfp4"):
            record = self.record(self.quantize, "x.npy", "q.npy", "--to", kind)
            self.assertFalse({"second_level", "second_level_stored"} & set(record))

    def test_the_stored_level_of_a_checkpoint(self):
        write_f32(self.path("x.npy"), self.normal(32, 64))
        for layout, name, reciprocal in (("modelopt", "weight_scale_2", False),
                                         ("compressed-tensors", "weight_global_scale", True)):
            file = layout + ".safetensors"
            record = self.record(self.quantize, "x.npy", file + ":up.weight", "--to", "nvfp4",
                                 "--checkpoint", layout)
            stored, = struct.unpack("<f", read_safetensors(self.path(file))["up." + name][2])
            self.assertEqual(record["second_level_file"], f"{file}:up.{name}")
            self.assertEqual(record["second_level_stored"], stored)
            self.assertEqual(record["second_level"], f32(1 / stored) if reciprocal else stored)
            self.assertLess(record["second_level"], 1)

    def test_levels_that_bound_a_gemm(self):
        for device in ("h200", "a100", "b200"):
            record = json.loads(self.run_it("roofline", "512x512x512", "--device", device,
                                            "--json").stdout)
            bounds = {level["level"]: level["bounds"] for level in record["levels"]}
            self.assertEqual(bounds, {"DRAM": True, "L2": False, "shared memory": True})
            times = [level["us"] for level in record["levels"] if level["bounds"]]
            self.assertEqual(record["min_us"], max([record["tensor_us"], *times]))


if __name__ == "__main__":
    unittest.main()
