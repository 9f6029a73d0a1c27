#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkpoint_options_test.py  The options that checkpoints need, one by one: types of scales, given
scales, second levels, parts of a stack, several tensors of a file, the rule of OCP, the notes, and
what is refused by name."""
import math
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    E2M1, E4M3, bf16_bits, decoded, f32, pack_bf16, pack_f32, pack_pairs, product, read_npy,
    read_safetensors, write_f32, write_npy, write_safetensors)
from command_case import CommandCase  # noqa: E402


class Options(CommandCase):
    def test_scales_of_every_float_type_are_converted(self):
        x, w = self.codes(4 * 256), self.codes(200 * 256)
        numbers = [k / 64 for k in range(1, 5)]  # exact in every type
        packed = {"F32": pack_f32(numbers), "BF16": pack_bf16(numbers),
                  "F16": struct.pack("<4e", *numbers), "F64": struct.pack("<4d", *numbers)}
        tensors = {"x": ("F8_E4M3", [4, 256], x), "w": ("F8_E4M3", [200, 256], w)}
        for name, data in packed.items():
            tensors["row" + name] = (name, [4], data)
            tensors["blocks" + name] = (name, [2, 2], data)
        tensors["odd"] = ("F64", [4], struct.pack("<4d", 0.1, 0.2, 0.3, 0.4))
        write_safetensors(self.path("t.safetensors"), tensors)
        results, reports = {}, {}
        for name in packed:
            reports[name] = self.gemm(
                "t.safetensors:x", "t.safetensors:w", "--transpose-b", "-o", "d.npy", "--scale-a",
                "t.safetensors:row" + name, "--check").stdout
            by_row = read_npy(self.path("d.npy"))
            self.gemm("t.safetensors:x", "t.safetensors:w", "--transpose-b", "-o", "d.npy",
                      "--scale-b", "t.safetensors:blocks" + name, "--scale-b-as", "deepgemm")
            results[name] = (by_row, read_npy(self.path("d.npy")))
            self.assertEqual(results[name], results["F32"], name)
        self.assertNotIn(", from", reports["F32"])
        for name, text in (("BF16", "bf16"), ("F16", "f16"), ("F64", "f64")):
            self.assertIn(f", from {text}, exactly", reports[name])
        said = self.gemm("t.safetensors:x", "t.safetensors:w", "--transpose-b", "-o", "d.npy",
                         "--scale-a", "t.safetensors:odd").stdout
        self.assertIn(", from f64, rounded to float32", said)

    def test_blocks_with_extents_of_one(self):
        w = self.codes(300 * 256)
        numbers = [f32(self.rng.random()) for _ in range(6)]
        write_f32(self.path("x.npy"), self.normal(4, 256))
        write_safetensors(self.path("w.safetensors"), {
            "w": ("F8_E4M3", [300, 256], w), "two": ("F32", [3, 2], pack_f32(numbers)),
            "four": ("F32", [3, 1, 2, 1], pack_f32(numbers)),
            "bad": ("F32", [3, 1, 1, 2], pack_f32(numbers))})
        got = []
        for name in ("two", "four"):
            self.gemm("x.npy", "w.safetensors:w", "--transpose-b", "-o", "d.npy", "--scaling-a",
                      "1x128", "--scale-b", "w.safetensors:" + name)
            got.append(read_npy(self.path("d.npy")))
        self.assertEqual(*got)
        self.refused("TW0605", "x.npy", "w.safetensors:w", "--transpose-b", "-o", "d.npy",
                     "--scaling-a", "1x128", "--scale-b", "w.safetensors:bad")

    def test_a_given_scale_divides_a_wide_matrix(self):
        x = [[f32(v) for v in row] for row in self.normal(3, 64)]
        w = self.codes(16 * 64)
        write_f32(self.path("x.npy"), x)
        write_npy(self.path("s.npy"), "<f4", (1,), pack_f32([0.005]))
        write_safetensors(self.path("w.safetensors"), {"w": ("F8_E4M3", [16, 64], w)})
        files = ["x.npy", "w.safetensors:w", "--transpose-b", "-o"]
        for scale in ("0.005", "s.npy"):
            with self.subTest(scale):
                said = self.gemm(*files, "d.npy", "--scaling-a", "tensor", "--scale-a", scale,
                                 "--check").stdout
                self.assertIn("passed", said)
                self.assertIn(", given", said)
                # `quantize` makes the same values, and its scale is the one that is given.
                self.run_it("quantize", "x.npy", "q.npy", "--to", "e4m3", "--scale", scale,
                            "--quiet")
                self.assertEqual(read_npy(self.path("q.scale.npy")), [f32(0.005)])
                self.gemm("q.npy", *files[1:], "d2.npy", "--scale-a", "q.scale.npy")
                self.assertEqual(read_npy(self.path("d.npy")), read_npy(self.path("d2.npy")))
                self.gemm("q.npy", *files[1:], "d2.npy", "--scale-a", "0.005")
                self.assertEqual(read_npy(self.path("d.npy")), read_npy(self.path("d2.npy")))
        with open(self.path("q.npy"), "rb") as file:
            values = file.read()[-3 * 64:]
        for code, v in zip(values, [v for row in x for v in row]):
            y = min(abs(f32(v / f32(0.005))), 448.0)
            self.assertLessEqual(abs(abs(decoded(code, E4M3)) - y), max(y / 16, 2.0**-10))
        # Without --scaling-a the values are rounded as they are, and a note says it.
        said = self.gemm(*files, "d.npy", "--dtype", "e4m3", "--scale-a", "0.005").stdout
        self.assertIn("note     the values of A are rounded to e4m3, not divided by", said)
        self.assertIn("--scaling-a tensor", said)
        self.refused("TW0615", *files, "d.npy", "--scaling-a", "row", "--scale-a", "0.005",
                     contains=["--scaling-a tensor with it"])
        for bad in ("0", "-1", "nan", "inf", "1e-60"):
            self.refused("TW0452", *files, "d.npy", "--scaling-a", "tensor", "--scale-a=" + bad)
            done = self.run_it("quantize", "x.npy", "q.npy", "--to", "e4m3", "--scale=" + bad,
                               status=2)
            self.assertIn("TW0452", done.stderr)
        done = self.run_it("quantize", "x.npy", "q.npy", "--to", "e4m3", "--scaling", "row",
                           "--scale", "1", status=2)
        self.assertIn("TW0452", done.stderr)
        # A number has no order.
        for more in (["--scaling-a", "tensor"], []):
            self.refused("TW0615", *files, "d.npy", "--scale-a", "1", "--scale-a-as", "torch",
                         *more)
        done = self.run_it("quantize", "x.npy", "q.npy", "--to", "e4m3", "--power-of-two",
                           "--scale", "1", status=2)
        self.assertIn("TW0615", done.stderr)

    def test_a_given_scale_divides_each_matrix_of_a_stack(self):
        x = self.normal(6, 32)
        data = pack_f32([v for row in x for v in row])
        write_npy(self.path("x.npy"), "<f4", (6, 32), data)
        write_npy(self.path("stack.npy"), "<f4", (2, 3, 32), data)
        write_npy(self.path("w.npy"), "<f4", (8, 32),
                  pack_f32([v for row in self.normal(8, 32) for v in row]))
        for name, more in (("x.npy", []), ("stack.npy", ["--batch"])):
            self.gemm(name, "w.npy", "--transpose-b", "-o", "d" + name, "--scaling-a", "tensor",
                      "--scale-a", "0.01", "--scaling-b", "tensor", "--scale-b", "0.02", "--check",
                      *more)
        self.assertEqual(read_npy(self.path("dx.npy")), read_npy(self.path("dstack.npy")))

    def test_the_other_operand_gives_the_type(self):
        write_f32(self.path("x.npy"), self.normal(3, 64))
        write_npy(self.path("w8.npy"), "|i1", (16, 64), self.codes(16 * 64))
        write_npy(self.path("s.npy"), "<f4", (16, 1), pack_f32([0.01] * 16))
        files = ["x.npy", "w8.npy", "--transpose-b", "--scaling-a", "row", "--scale-b", "s.npy"]
        said = self.gemm(*files, "-o", "d.npy", "--out-dtype", "bf16", "--check").stdout
        self.assertIn("quantised to s8", said)
        self.gemm(*files, "-o", "d2.npy", "--out-dtype", "bf16", "--dtype", "s8")
        self.assertEqual(read_npy(self.path("d.npy")), read_npy(self.path("d2.npy")))
        self.gemm(*files, "-o", "d2.npy")  # bf16 is the default of integers with scales
        self.assertEqual(read_npy(self.path("d.npy")), read_npy(self.path("d2.npy")))
        # And the other way round.
        write_npy(self.path("x8.npy"), "|i1", (3, 64), self.codes(3 * 64))
        write_f32(self.path("w.npy"), self.normal(16, 64))
        said = self.gemm("x8.npy", "w.npy", "--transpose-b", "-o", "d.npy", "--scaling-b", "row",
                         "--out-dtype", "bf16").stdout
        self.assertIn("quantised to s8", said)

    def write_nvfp4(self, n=40, k=64):
        """x.npy, and a weight as ModelOpt and as compressed-tensors have it, and as F4."""
        write_f32(self.path("x.npy"), self.normal(4, k))
        codes = [self.rng.randrange(16) for _ in range(n * k)]
        factors = bytes(self.rng.randint(0x28, 0x50) for _ in range(n * k // 16))
        stored = f32(3000.0)
        packed = pack_pairs(codes)
        write_safetensors(self.path("w.safetensors"), {
            "weight": ("U8", [n, k // 2], packed), "weight_packed": ("U8", [n, k // 2], packed),
            "f4": ("F4", [n, k], packed), "scale": ("F8_E4M3", [n, k // 16], factors),
            "weight_scale_2": ("F32", [], pack_f32([1 / stored])),
            "weight_global_scale": ("F32", [1], pack_f32([stored])),
            "level16": ("BF16", [1], pack_bf16([2.0**-12])),
            "pair": ("F32", [2], pack_f32([1, 2]))})
        return ["--transpose-b", "--dtype", "nvfp4", "--arch", "sm100", "--scale-b",
                "w.safetensors:scale", "--scale-b-as", "linear", "-o", "d.npy"]

    def test_packed_bytes_and_levels(self):
        words = self.write_nvfp4()
        level = f32(1 / f32(3000.0))
        results = []
        for weight, second in (("f4", [repr(level)]), ("weight", ["w.safetensors:weight_scale_2"]),
                               ("weight_packed", ["w.safetensors:weight_global_scale",
                                                  "--scale2-b-as", "reciprocal"]),
                               ("weight", ["3000", "--scale2-b-as", "reciprocal"])):
            said = self.gemm("x.npy", "w.safetensors:" + weight, *words, "--scale2-b", *second,
                             "--check").stdout
            self.assertIn("passed", said)
            self.assertNotIn("note", said)
            results.append(read_npy(self.path("d.npy")))
            self.assertEqual(results[0], results[-1])
        said = self.gemm("x.npy", "w.safetensors:weight_packed", *words, "--scale2-b",
                         "w.safetensors:weight_global_scale").stdout
        self.assertIn("note     the second level of B is 3000, above 1: compressed-tensors", said)
        self.assertIn("--scale2-b-as reciprocal", said)
        self.gemm("x.npy", "w.safetensors:f4", *words, "--scale2-b", "w.safetensors:level16")
        # A .npy file of uint8 is read alike; in Fortran order bytes are no pairs along K.
        packed = read_safetensors(self.path("w.safetensors"))["weight"][2]
        write_npy(self.path("w.npy"), "|u1", (40, 32), packed)
        self.gemm("x.npy", "w.npy", *words, "--scale2-b", repr(level))
        self.assertEqual(read_npy(self.path("d.npy")), results[0])
        with open(self.path("w.npy"), "rb") as file:
            content = file.read().replace(b"'fortran_order': False", b"'fortran_order': True ")
        with open(self.path("f.npy"), "wb") as file:
            file.write(content)
        self.refused("TW0605", "x.npy", "f.npy", *words, "--scale2-b", "1", contains=["C order"])
        # A number with any scales of D, and with any other result.
        for more in (["--out-dtype", "nvfp4"], ["--out-dtype", "mxfp8"], ["--out-dtype", "mxfp4"],
                     ["--scale-d", "amax-row"], ["--scale-d", "amax-1x128"],
                     ["--scale-d", "0.5", "--trace", "t.json"]):
            with self.subTest(more):
                self.gemm("x.npy", "w.safetensors:f4", *words, "--scale2-b", "0.001", "--scale2-a",
                          "0.01", *more)
        for bad in ("nan", "inf", "1e-60", "1e60"):
            self.refused("TW0476", "x.npy", "w.safetensors:f4", *words, "--scale2-b", bad,
                         contains=["a finite number"])
        self.refused("TW0476", "x.npy", "w.safetensors:f4", *words, "--scale2-b", "0",
                     "--scale2-b-as", "reciprocal")
        self.refused("TW0476", "x.npy", "w.safetensors:f4", *words, "--scale2-b",
                     "w.safetensors:pair")

    def test_a_given_level_of_a_wide_matrix(self):
        words = self.write_nvfp4() + ["--scale2-b", "0.001"]
        self.gemm("x.npy", "w.safetensors:weight", *words, "--scale2-a", "0.002", "--check")
        want = read_npy(self.path("d.npy"))
        self.run_it("quantize", "x.npy", "q.npy", "--to", "nvfp4", "--scale2", "0.002", "--quiet")
        self.assertEqual(read_npy(self.path("q.scale2.npy")), [f32(0.002)])
        self.gemm("q.npy", "w.safetensors:weight", *words, "--scale-a", "q.scale.npy",
                  "--scale2-a", "q.scale2.npy")
        self.assertEqual(read_npy(self.path("d.npy")), want)
        self.run_it("quantize", "x.npy", "q2.npy", "--to", "nvfp4", "--scale2", "500",
                    "--scale2-as", "reciprocal", "--quiet")
        self.assertEqual(read_npy(self.path("q2.scale2.npy")), [f32(1 / 500)])
        self.refused("TW0475", "x.npy", "w.safetensors:weight", *words, "--scale-a", "q.scale.npy",
                     contains=["--scale2-a"])
        self.refused("TW0476", "x.npy", "x.npy", "--transpose-b", "--dtype", "mxfp4", "--arch",
                     "sm100", "-o", "d.npy", "--scale2-a", "1")

    def test_names_and_types_that_are_refused(self):
        write_f32(self.path("x.npy"), self.normal(4, 64))
        ints = struct.pack("<256i", *range(256))
        write_safetensors(self.path("m.safetensors"), {
            "mlp.up.qweight": ("I32", [8, 32], ints), "mlp.up.qzeros": ("I32", [8, 32], ints),
            "awq.qweight": ("I32", [64, 4], ints), "up.weight_packed": ("I32", [32, 8], ints),
            "plain": ("I32", [64, 4], ints), "packed.weight_packed": ("U8", [8, 32], bytes(256)),
            "up_blocks": ("U8", [4, 4, 16], bytes(256)), "four": ("U8", [2, 2, 4, 16], bytes(256)),
            "half": ("U8", [8, 32], bytes(256)), "half_scale": ("F32", [8, 4], bytes(128)),
            "nv.weight": ("U8", [8, 32], bytes(256)),
            "nv.weight_scale": ("F8_E4M3", [8, 4], bytes(32)),
            "mx.weight": ("U8", [8, 32], bytes(256)), "mx.weight_scale": ("U8", [8, 2], bytes(16)),
            "long.weight": ("U8", [8, 64], bytes(512)),
            "long.weight_scale": ("F8_E4M3", [8, 8], bytes(64)),
            "amd": ("F8_E4M3FNUZ", [4, 64], bytes(256)),
            "amd5": ("F8_E5M2FNUZ", [4, 64], bytes(256))})
        for name, said in (("mlp.up.qweight", "GPTQ or AWQ"), ("mlp.up.qzeros", "GPTQ or AWQ"),
                           ("awq.qweight", "GPTQ or AWQ"),
                           ("up.weight_packed", "compressed-tensors (pack-quantized)")):
            self.refused("TW0659", "x.npy", "m.safetensors:" + name, "-o", "d.npy",
                         contains=[said, "dequantise"])
            self.refused("TW0659", "m.safetensors:" + name, "x.npy", "-o", "d.npy")
            done = self.run_it("quantize", "m.safetensors:" + name, "q.npy", "--to", "mxfp4",
                               status=2)
            self.assertIn("TW0659", done.stderr)
        self.gemm("x.npy", "m.safetensors:plain", "-o", "d.npy")  # a matrix of int32
        for name in ("packed.weight_packed", "up_blocks", "four", "nv.weight", "mx.weight",
                     "long.weight"):
            self.refused("TW0662", "x.npy", "m.safetensors:" + name, "--transpose-b", "-o", "d.npy",
                         contains=["two elements of e2m1 to a byte", "`gemm --dtype"])
        self.refused("TW0616", "x.npy", "m.safetensors:half", "--transpose-b", "-o", "d.npy",
                     contains=["two elements of e2m1 to a byte? --dtype nvfp4 or mxfp4"])
        for name in ("amd", "amd5"):
            self.refused("TW0661", "x.npy", "m.safetensors:" + name, "--transpose-b", "-o", "d.npy",
                         contains=["FNUZ", "torch.bfloat16"])
        with open(self.path("model.gguf"), "wb") as file:
            file.write(b"GGUF" + bytes(100))
        os.link(self.path("model.gguf"), self.path("renamed.safetensors"))
        for name in ("model.gguf", "model.gguf:blk.0.up", "renamed.safetensors:w"):
            self.refused("TW0660", "x.npy", name, "-o", "d.npy", contains=["llama.cpp"])

    def test_packed_experts_are_refused_one_by_one_too(self):
        write_f32(self.path("x.npy"), self.normal(4, 64))
        write_safetensors(self.path("m.safetensors"), {
            "up.weight": ("U8", [2, 8, 32], bytes(512)),
            "up.weight_scale": ("F8_E4M3", [2, 8, 4], bytes(64)),
            "down.weight": ("U8", [2, 8, 64], bytes(1024)),  # K bytes fit
            "down.weight_scale": ("U8", [2, 8, 4], bytes(64))})
        for name in ("up.weight", "down.weight"):
            for part in (["[0]"], ["[1]"], ["", "--batch"]):
                with self.subTest(name=name, part=part):
                    self.refused("TW0662", "x.npy", f"m.safetensors:{name}{part[0]}", *part[1:],
                                 "--transpose-b", "-o", "d.npy")

    def test_blocks_of_gpt_oss(self):
        """(E, N, K/32, 16) as a stack, one expert of it, and (N, K/32, 16) alone."""
        n, k, experts = 24, 64, 3
        write_f32(self.path("x.npy"), self.normal(4, k))
        packed = [pack_pairs([self.rng.randrange(16) for _ in range(n * k)])
                  for _ in range(experts)]
        scales = [bytes(self.rng.randint(120, 126) for _ in range(n * k // 32))
                  for _ in range(experts)]
        write_safetensors(self.path("m.safetensors"), {
            "w_blocks": ("U8", [experts, n, k // 32, 16], b"".join(packed)),
            "w_scales": ("U8", [experts, n, k // 32], b"".join(scales)),
            "one": ("U8", [n, k // 32, 16], packed[2]), "flat": ("F4", [n, k], packed[2]),
            "one_scales": ("U8", [n, k // 32], scales[2])})
        words = ["--transpose-b", "--dtype", "mxfp4", "--arch", "sm100", "--check", "-o"]

        def run(weight, scale, out="d.npy", *more):
            self.gemm("x.npy", "m.safetensors:" + weight, *words, out, "--scale-b",
                      "m.safetensors:" + scale, *more)
            return read_npy(self.path(out))
        want = run("flat", "one_scales")
        self.assertEqual(run("one", "one_scales"), want)
        self.assertEqual(run("w_blocks[2]", "w_scales[2]"), want)
        self.assertEqual(run("w_blocks", "w_scales", "all.npy", "--batch")[-len(want):], want)
        for i in range(3):
            self.assertEqual(run("w_blocks", "w_scales", "all.npy", "--batch")[i * 96:i * 96 + 96],
                             run(f"w_blocks[{i}]", f"w_scales[{i}]"))
        self.refused("TW0610", "x.npy", "m.safetensors:w_blocks[3]", *words, "d.npy", "--scale-b",
                     "m.safetensors:w_scales[2]", contains=["[0] to [2]"])

    def test_bytes_that_look_like_e2m1(self):
        write_npy(self.path("w.npy"), "<V1", (8, 32), bytes(i % 16 for i in range(256)))
        write_npy(self.path("x.npy"), "<V1", (4, 32), bytes(100 + i % 8 for i in range(128)))
        files = ["x.npy", "w.npy", "--transpose-b", "-o", "d.npy"]
        said = self.gemm(*files).stdout
        self.assertIn("note     B is read as e4m3, and no byte of it is above 15", said)
        self.assertNotIn("note     A", said)
        self.assertNotIn("note", self.gemm(*files, "--dtype", "e4m3").stdout)

    def test_tensors_of_one_file(self):
        write_f32(self.path("w.npy"), self.normal(20, 64))
        one = ["--scale-out", "q.safetensors:w.scale", "--scale2-out", "q.safetensors:w.level"]
        self.run_it("quantize", "w.npy", "q.safetensors:w", "--to", "nvfp4", *one, "--quiet")
        self.run_it("quantize", "w.npy", "p.safetensors:w", "--to", "nvfp4", "--quiet")
        q = read_safetensors(self.path("q.safetensors"))
        self.assertEqual(sorted(q), ["w", "w.level", "w.scale"])
        for name, file in (("w", "p"), ("w.scale", "p.scale"), ("w.level", "p.scale2")):
            self.assertEqual(q[name], read_safetensors(self.path(file + ".safetensors"))["w"])
        # Again over the old file: all of its tensors are replaced. Over one with others: not.
        self.run_it("quantize", "w.npy", "q.safetensors:w", "--to", "nvfp4", *one, "--quiet")
        done = self.run_it("quantize", "w.npy", "q.safetensors:w", "--to", "nvfp4", "--quiet",
                           status=2)
        self.assertIn("TW0612", done.stderr)
        self.run_it("quantize", "w.npy", "e.safetensors:w", "--to", "e4m3", "--scaling", "row",
                    "--scale-out", "e.safetensors:s", "--quiet")
        self.assertEqual(sorted(read_safetensors(self.path("e.safetensors"))), ["s", "w"])
        for same in ("e.safetensors:w", "e2.npy"):
            done = self.run_it("quantize", "w.npy", same.replace("e.", "f."), "--to", "e4m3",
                               "--scaling", "row", "--scale-out", same.replace("e.", "f."),
                               status=2)
            self.assertIn("TW0612", done.stderr)
        write_f32(self.path("x.npy"), self.normal(4, 64))
        self.gemm("x.npy", "w.npy", "--transpose-b", "-o", "d.safetensors:d", "--scaling-a", "row",
                  "--scaling-b", "row", "--scale-d", "amax-row", "--scale-d-out",
                  "d.safetensors:d.scale")
        d = read_safetensors(self.path("d.safetensors"))
        self.assertEqual({n: t[:2] for n, t in d.items()},
                         {"d": ("F8_E4M3", [4, 20]), "d.scale": ("F32", [4, 1])})

    def test_the_rule_of_ocp(self):
        rows = [[f32(self.rng.gauss(0, 1) * 2.0**self.rng.randint(-20, 20)) for _ in range(70)]
                for _ in range(6)]
        rows[0] = [0.0] * 70
        rows[1] = [2.0**-149] * 70
        rows[2] = [448.0 * 0.75] * 70
        write_f32(self.path("w.npy"), rows)
        for kind, of_limit, table, limit in (("mxfp8", 8, E4M3, 448.0), ("mxfp4", 2, E2M1, 6.0)):
            self.run_it("quantize", "w.npy", "q.npy", "--to", kind, "--scale-rule", "floor",
                        "--scale-order", "linear", "--quiet")
            with open(self.path("q.npy"), "rb") as file:
                values = file.read()[-6 * 70:]
            with open(self.path("q.scale.npy"), "rb") as file:
                factors = file.read()[-6 * 3:]
            for r, row in enumerate(rows):
                for b in range(3):
                    part = row[32 * b:32 * b + 32]
                    amax = max(abs(v) for v in part)
                    exponent = math.frexp(amax)[1] - 1 - of_limit if amax else 0
                    want = max(exponent, -127) + 127
                    self.assertEqual(factors[3 * r + b], want)
                    for i, v in enumerate(part):
                        y = v / 2.0**(want - 127)
                        y = min(abs(y), limit)
                        best = min(range(len(table)), key=lambda c: (abs(table[c] - y), c % 2))
                        code = values[70 * r + 32 * b + i]
                        self.assertEqual(abs(decoded(code, table)), table[best])
        done = self.run_it("quantize", "w.npy", "q.npy", "--to", "nvfp4", "--scale-rule", "floor",
                           status=2)
        self.assertIn("TW0455", done.stderr)

    def test_the_gate_of_gpt_oss(self):
        n, k = 32, 32
        x, w = self.normal(5, k), [[v * 3 for v in row] for row in self.normal(n, k)]
        write_npy(self.path("x.npy"), "<V2", (5, k), pack_bf16([v for r in x for v in r]))
        write_npy(self.path("w.npy"), "<V2", (n, k), pack_bf16([v for r in w for v in r]))
        bias = self.normal(1, n)[0]
        write_npy(self.path("b.npy"), "<f4", (n,), pack_f32(bias))

        def rounded(rows):
            return [[struct.unpack("<f", struct.pack("<I", bf16_bits(v) << 16))[0] for v in row]
                    for row in rows]
        sums, sizes = product(rounded(x), rounded(w))
        clamped = 0
        for order in ("interleaved", "split"):
            said = self.gemm("x.npy", "w.npy", "--transpose-b", "--bias", "b.npy", "--gate",
                             "swigluoai:" + order, "--out-dtype", "f32", "-o", "d.npy",
                             "--check").stdout
            self.assertIn("passed", said)
            got = iter(read_npy(self.path("d.npy")))
            for row, size in zip(sums, sizes):
                for j in range(n // 2):
                    g, u = (2 * j, 2 * j + 1) if order == "interleaved" else (j, j + n // 2)
                    gate, up = row[g] + bias[g], row[u] + bias[u]
                    clamped += gate > 7 or abs(up) > 7
                    gate, up = min(gate, 7.0), max(min(up, 7.0), -7.0)
                    want = gate / (1 + math.exp(-1.702 * gate)) * (up + 1)
                    self.assertLess(abs(next(got) - want), 1e-5 * (size[g] + 8) * (size[u] + 8) / 8)
        self.assertGreater(clamped, 20)


if __name__ == "__main__":
    unittest.main()
