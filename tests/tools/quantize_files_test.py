#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize_files_test.py  The files of `tilewright quantize`: checkpoints of each layout, which
types of scales a layout has, and results that would replace another file of the run."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    pack_f32, product, read_npy, read_safetensors, write_f32, write_safetensors)
from command_case import CommandCase  # noqa: E402

BLOCKS = ("mxfp8", "mxfp4", "nvfp4")


class QuantizeFiles(CommandCase):
    def test_checkpoints_that_quantize_writes(self):
        n, k = 200, 384
        w = self.normal(n, k)
        write_f32(self.path("w.npy"), w)
        write_f32(self.path("x.npy"), self.normal(3, k))
        prefix = "model.layers.0.mlp.up_proj."
        cases = [
            ("deepseek", ["e4m3", "--scaling", "128x128"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale_inv": ("F32", [2, 3])},
             ["--scaling-a", "1x128", "--scale-b", "weight_scale_inv"]),
            ("deepseek", ["e4m3", "--scaling", "128x128", "--power-of-two", "--scale-type",
                          "ue8m0"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale_inv": ("F8_E8M0", [2, 3])},
             ["--scaling-a", "1x128", "--scale-b", "weight_scale_inv"]),
            ("modelopt", ["e4m3", "--scaling", "tensor"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale": ("F32", [])},
             ["--scaling-a", "tensor", "--scale-b", "weight_scale"]),
            ("modelopt", ["e4m3", "--scaling", "128x128"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale": ("F32", [2, 1, 3, 1])},
             ["--scaling-a", "1x128", "--scale-b", "weight_scale"]),
            ("modelopt", ["nvfp4"],
             {"weight": ("U8", [n, k // 2]), "weight_scale": ("F8_E4M3", [n, k // 16]),
              "weight_scale_2": ("F32", [])},
             ["--dtype", "nvfp4", "--scale-b", "weight_scale", "--scale2-b", "weight_scale_2"]),
            ("compressed-tensors", ["e4m3", "--scaling", "tensor"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale": ("F32", [1])},
             ["--scaling-a", "row", "--scale-b", "weight_scale"]),
            ("compressed-tensors", ["e4m3", "--scaling", "row"],
             {"weight": ("F8_E4M3", [n, k]), "weight_scale": ("F32", [n, 1])},
             ["--scaling-a", "row", "--scale-b", "weight_scale"]),
            ("compressed-tensors", ["s8", "--scaling", "row"],
             {"weight": ("I8", [n, k]), "weight_scale": ("F32", [n, 1])},
             ["--scaling-a", "row", "--out-dtype", "bf16", "--scale-b", "weight_scale"]),
            ("compressed-tensors", ["nvfp4"],
             {"weight_packed": ("U8", [n, k // 2]), "weight_scale": ("F8_E4M3", [n, k // 16]),
              "weight_global_scale": ("F32", [1])},
             ["--dtype", "nvfp4", "--scale-b", "weight_scale", "--scale2-b", "weight_global_scale",
              "--scale2-b-as", "reciprocal"]),
            ("compressed-tensors", ["mxfp4"],
             {"weight_packed": ("U8", [n, k // 2]), "weight_scale": ("U8", [n, k // 32])},
             ["--dtype", "mxfp4", "--scale-b", "weight_scale"])]
        for layout, to, tensors, words in cases:
            with self.subTest(f"{layout} {to}"):
                if os.path.exists(self.path("m.safetensors")):
                    os.remove(self.path("m.safetensors"))
                out = f"m.safetensors:{prefix}weight"
                self.quantize("w.npy", out, "--to", *to, "--checkpoint", layout, "--quiet")
                found = read_safetensors(self.path("m.safetensors"))
                self.assertEqual({name: t[:2] for name, t in found.items()},
                                 {prefix + name: t for name, t in tensors.items()})
                address = "m.safetensors:" + prefix
                at = [address + word if word in tensors else word for word in words]
                blackwell = ["--arch", "sm100"] if "fp4" in to[0] else []
                weight = address + next(iter(tensors))
                self.gemm("x.npy", weight, "--transpose-b", "-o", "d.npy", *at, *blackwell,
                          "--check")
                got = read_npy(self.path("d.npy"))
                exact, sizes = product([read_npy(self.path("x.npy"))[i * k:i * k + k]
                                        for i in range(3)], w)
                share = 0.25 if "fp4" in to[0] else 0.04
                flat = zip(got, [v for row in exact for v in row],
                           [s for row in sizes for s in row])
                error = sum(abs(g - e) / s for g, e, s in flat) / len(got)
                self.assertLess(error, share / 4)
        self.quantize_refused("TW0615", "w.npy", "m.npy", "--to", "nvfp4", "--checkpoint",
                              "modelopt")
        self.quantize_refused("TW0615", "w.npy", f"n.safetensors:{prefix}weight", "--to", "s8",
                              "--scaling", "row", "--checkpoint", "deepseek",
                              contains=["--to e4m3 --scaling 128x128"])

    def test_types_of_scales_in_a_checkpoint(self):
        """DeepSeek V3.1 stores ue8m0; the other layouts store float32 alone."""
        write_f32(self.path("w.npy"), self.normal(256, 256))
        out = "m.safetensors:up.weight"
        words = ["w.npy", out, "--to", "e4m3", "--power-of-two", "--scale-type"]
        for layout in ("modelopt", "compressed-tensors"):
            for kind in ("tensor", "row", "128x128"):
                for scales in ("ue8m0", "ue8m0x4"):
                    with self.subTest(layout=layout, kind=kind, scales=scales):
                        self.quantize_refused(
                            "TW0615", *words, scales, "--scaling", kind, "--checkpoint", layout,
                            contains=[f"--to e4m3 --scaling {kind} --scale-type {scales}"])
        self.quantize_refused("TW0615", *words, "ue8m0x4", "--scaling", "128x128", "--checkpoint",
                              "deepseek", contains=["with --scale-type f32 or ue8m0"])
        self.quantize_refused("TW0615", *words, "ue8m0", "--scaling", "row", "--checkpoint",
                              "deepseek")
        self.assertFalse(os.path.exists(self.path("m.safetensors")))
        self.quantize(*words, "ue8m0", "--scaling", "128x128", "--checkpoint", "deepseek")
        found = read_safetensors(self.path("m.safetensors"))
        self.assertEqual(found["up.weight_scale_inv"][:2], ("F8_E8M0", [2, 2]))

    def write_inputs(self):
        """The matrix as x.npy, under two other names of the same file, and in m.safetensors."""
        rows = self.normal(32, 64)
        write_f32(self.path("x.npy"), rows)
        os.symlink("x.npy", self.path("link.npy"))
        os.link(self.path("x.npy"), self.path("hard.npy"))
        data = pack_f32([v for row in rows for v in row])
        write_safetensors(self.path("m.safetensors"), {"w": ("F32", [32, 64], data)})
        return {name: self.content(name) for name in os.listdir(self.folder.name)}

    def expect_kept(self, files):
        self.assertEqual({name: self.content(name) for name in os.listdir(self.folder.name)}, files)

    def test_scales_do_not_replace_the_matrix(self):
        files = self.write_inputs()
        ways = [(kind, ["--to", kind], "--scale-out") for kind in BLOCKS]
        ways += [("nvfp4", ["--to", "nvfp4"], "--scale2-out"),
                 ("e4m3", ["--to", "e4m3", "--scaling", "row"], "--scale-out")]
        for kind, words, option in ways:
            for name in ("x.npy", "./x.npy", self.path("x.npy"), "link.npy", "hard.npy"):
                with self.subTest(kind=kind, option=option, name=name):
                    self.quantize_refused("TW0612", "x.npy", "q.npy", *words, option, name,
                                          contains=[f"output {name}: got the file of the matrix"])
                    self.expect_kept(files)
            with self.subTest(kind=kind, option=option):
                self.quantize_refused("TW0612", "m.safetensors:w", "m.safetensors:w", *words,
                                      option, "m.safetensors:s",
                                      contains=["got the file of the matrix"])
                self.expect_kept(files)

    def test_scales_do_not_replace_the_scale_that_is_given(self):
        write_f32(self.path("one.npy"), [[4.0]])
        files = self.write_inputs()
        for words in (["--to", "nvfp4", "--scale2", "one.npy", "--scale-out", "one.npy"],
                      ["--to", "nvfp4", "--scale2", "one.npy", "--scale2-as", "reciprocal",
                       "--scale2-out", "./one.npy"],
                      ["--to", "e4m3", "--scaling", "tensor", "--scale", "one.npy", "--scale-out",
                       "one.npy"]):
            with self.subTest(words=words):
                self.quantize_refused("TW0612", "x.npy", "q.npy", *words,
                                      contains=["got the file of the scale that is given"])
                self.expect_kept(files)

    def test_results_do_not_replace_each_other(self):
        files = self.write_inputs()
        scale, second = "--scale-out", "--scale2-out"
        values, another = "the file of the values", "the file of another result"
        for kind, words, got in (
                ("mxfp8", [scale, "q.npy"], values), ("mxfp4", [scale, "./q.npy"], values),
                ("nvfp4", [second, "q.npy"], values), ("nvfp4", [scale, "q.npy"], values),
                ("nvfp4", [scale, "s.npy", second, "s.npy"], another),
                ("nvfp4", [second, "q.scale.npy"], another),
                ("nvfp4", [scale, "q.scale2.npy"], another)):
            with self.subTest(kind=kind, words=words):
                self.quantize_refused("TW0612", "x.npy", "q.npy", "--to", kind, *words,
                                      contains=[f"got {got}, need a separate file"])
                self.expect_kept(files)
        self.quantize_refused("TW0612", "x.npy", "q.safetensors:w", "--to", "nvfp4", scale,
                              "q.safetensors:s", second, "q.safetensors:s", contains=[another])
        self.quantize_refused("TW0612", "x.npy", "q.npy", "--to", "e4m3", "--scaling", "row", scale,
                              "q.npy", contains=[values])
        self.expect_kept(files)

    def test_stdout_takes_the_values_alone(self):
        files = self.write_inputs()
        for words in (["-", "--to", "mxfp8", "--scale-out", "s.npy"],
                      ["q.npy", "--to", "mxfp8", "--scale-out", "-"],
                      ["q.npy", "--to", "nvfp4", "--scale2-out", "-"],
                      ["q.npy", "--to", "e4m3", "--scaling", "row", "--scale-out", "-"],
                      ["-", "--to", "e4m3", "--scaling", "row", "--scale-out", "x.npy"]):
            with self.subTest(words=words):
                self.quantize_refused("TW0612", "x.npy", *words)
                self.expect_kept(files)


if __name__ == "__main__":
    unittest.main()
