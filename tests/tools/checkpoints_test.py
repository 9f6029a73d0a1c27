#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkpoints_test.py  Each command of docs/checkpoints.md that reads a checkpoint runs on a tiny
one of that layout, and gives the product of the decoded numbers."""
import math
import os
import random
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    E2M1, E4M3, bf16_bits, decoded, f32, of_bf16, pack_bf16, pack_f32, pack_pairs, product,
    read_npy, write_f32, write_safetensors)

COMMAND, SOURCE = os.environ["TW_COMMAND"], os.environ["TW_SOURCE_DIR"]
PAGE = os.path.join(SOURCE, "docs", "checkpoints.md")
M, N, K = 3, 200, 384
UP = "model.layers.0.mlp.up_proj."
random.seed(20261128)


FINITE = [c for c in range(255) if c != 127]  # codes of e4m3


def blocks(n, size):
    return (n + size - 1) // size


def commands():
    """The commands of the page, by the file of the checkpoint that they read."""
    found = {}
    with open(PAGE, encoding="utf-8") as file:
        for line in file.read().replace("\\\n", " ").split("\n"):
            if not line.startswith("$ tilewright "):
                continue
            words = shlex.split(line[2:])
            if words[1] == "gemm":
                found.setdefault(words[3].split(".safetensors")[0], []).append(words[1:])
    return found


class Weights:
    """A weight (N, K) and its decoded numbers."""

    def __init__(self, n=N, k=K):
        self.n, self.k, self.codes, self.values = n, k, [], []

    def e4m3(self, scale_at):
        """Codes, decoded by scale_at(n, k)."""
        codes = [random.choices(FINITE, k=self.k) for _ in range(self.n)]
        self.codes = bytes(c for row in codes for c in row)
        self.values = [[decoded(c, E4M3) * scale_at(i, j) for j, c in enumerate(row)]
                       for i, row in enumerate(codes)]
        return self

    def s8(self, scale_at):
        codes = [random.choices(range(-127, 128), k=self.k) for _ in range(self.n)]
        self.codes = bytes(c % 256 for row in codes for c in row)
        self.values = [[c * scale_at(i, j) for j, c in enumerate(row)]
                       for i, row in enumerate(codes)]
        return self

    def e2m1(self, scale_at):
        codes = [random.choices(range(16), k=self.k) for _ in range(self.n)]
        self.codes = pack_pairs([c for row in codes for c in row])
        self.values = [[decoded(c, E2M1) * scale_at(i, j) for j, c in enumerate(row)]
                       for i, row in enumerate(codes)]
        return self


def scales(count):
    """Float32 numbers near 1/100."""
    return [f32(random.uniform(0.005, 0.02)) for _ in range(count)]


def as_bf16(values):
    return [of_bf16(bf16_bits(x)) for x in values]


def x_of(block, table, largest, k=K, step=1.0):
    """Rows whose quantisation is exact: numbers of the table times a power of two for each block,
    each block with the largest of them."""
    rows = []
    for _ in range(M):
        row = []
        for first in range(0, k, block):
            size = min(block, k - first)
            power = step * 2.0**random.randint(-3, 0) if block < k else step
            part = [random.choice(table) * random.choice((-1, 1)) for _ in range(size)]
            part[random.randrange(size)] = largest
            row += [v * power for v in part]
        rows.append(row)
    return rows


INTEGERS = [float(i) for i in range(128)]
FP8_ROWS = lambda: x_of(K, E4M3[:127], 448.0, step=2.0**-6)  # noqa: E731
FP8_BLOCKS = lambda: x_of(128, E4M3[:127], 448.0, step=2.0**-6)  # noqa: E731


def fp8_blocks(scale_type, name="weight_scale_inv", shape=None):
    """128x128 blocks, as DeepSeek, Qwen and others have them."""
    rows, cols = blocks(N, 128), blocks(K, 128)
    s = scales(rows * cols)
    if scale_type == "BF16":
        s = as_bf16(s)
    if scale_type == "F8_E8M0":
        s = [2.0**random.randint(-9, -5) for _ in s]
    w = Weights().e4m3(lambda n, k: s[n // 128 * cols + k // 128])
    data = {"F32": pack_f32, "BF16": pack_bf16,
            "F8_E8M0": lambda v: bytes(int(math.log2(x)) + 127 for x in v)}[scale_type](s)
    return FP8_BLOCKS(), w.values, {
        UP + "weight": ("F8_E4M3", [N, K], w.codes),
        UP + name: (scale_type, shape or [rows, cols], data)}


def channels(weight, scale_type, names=("weight", "weight_scale"), x=None):
    """A scale for each row of the weight."""
    s = as_bf16(scales(N)) if scale_type == "BF16" else scales(N)
    w = getattr(Weights(), weight)(lambda n, k: s[n])
    return x or FP8_ROWS(), w.values, {
        UP + names[0]: ("I8" if weight == "s8" else "F8_E4M3", [N, K], w.codes),
        UP + names[1]: (scale_type, [N, 1], (pack_bf16 if scale_type == "BF16" else pack_f32)(s))}


def static_fp8(shape):
    """One scale for the weight and one for x."""
    s, given = scales(1)[0], f32(0.037)
    w = Weights().e4m3(lambda n, k: s)
    codes = [[random.choice(E4M3) * random.choice((-1, 1)) for _ in range(K)] for _ in range(M)]
    x = [[f32(v * given) for v in row] for row in codes]
    tensors = {UP + "weight": ("F8_E4M3", [N, K], w.codes),
               UP + "weight_scale": ("F32", shape, pack_f32([s])),
               UP + "input_scale": ("F32", shape, pack_f32([given]))}
    return (x, [[v * given for v in row] for row in codes]), w.values, tensors


def nvfp4(names, reciprocal):
    """Factors of e4m3 for 16 elements, a level for the weight and one for x."""
    factor_codes = [random.randrange(0x20, 0x60) for _ in range(N * K // 16)]
    level, x_level = f32(1 / 3000), 2.0**-9
    stored = [f32(1 / v) if reciprocal else v for v in (level, x_level)]
    if reciprocal:
        level = f32(1 / stored[0])
    w = Weights().e2m1(lambda n, k: E4M3[factor_codes[n * (K // 16) + k // 16]] * level)
    x = x_of(16, E2M1, 6.0, step=x_level)
    shape = [1] if reciprocal else []
    return x, w.values, {
        UP + names[0]: ("U8", [N, K // 2], w.codes),
        UP + "weight_scale": ("F8_E4M3", [N, K // 16], bytes(factor_codes)),
        UP + names[1]: ("F32", shape, pack_f32(stored[:1])),
        UP + names[2]: ("F32", shape, pack_f32(stored[1:]))}


def mxfp4_compressed():
    exponents = [random.randint(118, 124) for _ in range(N * K // 32)]
    w = Weights().e2m1(lambda n, k: 2.0**(exponents[n * (K // 32) + k // 32] - 127))
    return x_of(32, E2M1, 6.0), w.values, {
        UP + "weight_packed": ("U8", [N, K // 2], w.codes),
        UP + "weight_scale": ("U8", [N, K // 32], bytes(exponents))}


def mxfp8():
    exponents = [random.randint(110, 116) for _ in range(N * K // 32)]
    w = Weights().e4m3(lambda n, k: 2.0**(exponents[n * (K // 32) + k // 32] - 127))
    return x_of(32, E4M3[:127], 448.0, step=2.0**-6), w.values, {
        UP + "weight": ("F8_E4M3", [N, K], w.codes),
        UP + "weight_scale": ("U8", [N, K // 32], bytes(exponents))}


def llama4_experts():
    """Experts (E, K, N), with a scale for each column."""
    experts, name = 2, "language_model.model.layers.1.feed_forward.experts.gate_up_proj"
    data, factors, last = b"", [], None
    for _ in range(experts):
        s = as_bf16(scales(N))
        w = Weights().e4m3(lambda n, k, s=s: s[n])
        data += bytes(w.codes[n * K + k] for k in range(K) for n in range(N))
        factors += s
        last = w.values
    return FP8_ROWS(), last, {name: ("F8_E4M3", [experts, K, N], data),
                              name + "_scale": ("BF16", [experts, 1, N], pack_bf16(factors))}


def gpt_oss():
    """Experts (E, 2I, K/32, 16), gate and up in turn, and a bias for each; expert 1 is used."""
    experts, n, k, prefix = 2, 48, 96, "model.layers.0.mlp.experts.gate_up_proj"
    codes, exponents, biases, last = b"", [], [], None
    for _ in range(experts):
        e = [random.randint(121, 125) for _ in range(n * k // 32)]
        w = Weights(n, k).e2m1(lambda i, j, e=e: 2.0**(e[i * (k // 32) + j // 32] - 127))
        codes, last = codes + w.codes, w.values
        exponents += e
        biases.append(as_bf16([random.uniform(-6, 6) for _ in range(n)]))
    x = x_of(32, E2M1, 6.0, k=k, step=0.25)
    sums, sizes = product(x, last)
    want, allowed = [], []
    for row, size in zip(sums, sizes):
        y, e = [], []
        for j in range(n // 2):
            gate = min(row[2 * j] + biases[-1][2 * j], 7.0)
            up = max(min(row[2 * j + 1] + biases[-1][2 * j + 1], 7.0), -7.0)
            y.append(gate / (1 + math.exp(-1.702 * gate)) * (up + 1))
            e.append(2.0**-18 * (size[2 * j] + 8) * (size[2 * j + 1] + 8))
        want.append(y)
        allowed.append(e)
    return x, (want, allowed), {
        prefix + "_blocks": ("U8", [experts, n, k // 32, 16], codes),
        prefix + "_scales": ("U8", [experts, n, k // 32], bytes(exponents)),
        prefix + "_bias": ("BF16", [experts, n], pack_bf16([b for e in biases for b in e]))}


CASES = {
    "deepseek_v3": lambda: fp8_blocks("F32"),
    "deepseek_v31": lambda: fp8_blocks("F8_E8M0"),
    "qwen3": lambda: fp8_blocks("BF16"),
    "kimi_k2": lambda: fp8_blocks("F32"),
    "llama4": lambda: channels("e4m3", "BF16"),
    "llama4_experts": llama4_experts,
    "gpt_oss": gpt_oss,
    "modelopt_fp8": lambda: static_fp8([]),
    "modelopt_fp8_pb_wo": lambda: fp8_blocks("F32", "weight_scale",
                                             [blocks(N, 128), 1, K // 128, 1]),
    "modelopt_nvfp4": lambda: nvfp4(("weight", "weight_scale_2", "input_scale"), False),
    "modelopt_mxfp8": mxfp8,
    "compressed_fp8": lambda: channels("e4m3", "BF16"),
    "compressed_fp8_static": lambda: static_fp8([1]),
    "compressed_int8": lambda: channels("s8", "BF16", x=x_of(K, INTEGERS, 127.0, step=2.0**-5)),
    "compressed_nvfp4": lambda: nvfp4(("weight_packed", "weight_global_scale",
                                       "input_global_scale"), True),
    "compressed_mxfp4": mxfp4_compressed,
    "torchao": lambda: channels("e4m3", "F32", ("_weight_qdata", "_weight_scale")),
}


class Checkpoints(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *words, status=0):
        done = subprocess.run([COMMAND, *words], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def gemm(self, words):
        blackwell = "--dtype" in words and words[words.index("--dtype") + 1][:2] in ("nv", "mx")
        return self.run_it(*words, "--device", "emu", "--check",
                           *(["--arch", "sm100"] if blackwell else []))

    def compare(self, got, want, allowed):
        flat = [(w, a) for rows in zip(want, allowed) for w, a in zip(*rows)]
        self.assertEqual(len(got), len(flat))
        for g, (w, a) in zip(got, flat):
            self.assertLessEqual(abs(g - w), a + 2.0**-8 * abs(w))

    def test_every_command_of_the_page(self):
        known = commands()
        self.assertEqual(sorted(known), sorted(CASES))
        for name, case in CASES.items():
            with self.subTest(name):
                x, w, tensors = case()
                x, exact = x if isinstance(x, tuple) else (x, x)
                write_f32(self.path("x.npy"), x)
                write_safetensors(self.path(name + ".safetensors"), tensors)
                if isinstance(w, tuple):
                    want, allowed = w
                else:
                    want, allowed = product(exact, w)
                    allowed = [[2.0**-12 * a for a in row] for row in allowed]
                self.assertGreater(max(abs(v) for row in want for v in row), 1e-4)
                for words in known[name]:
                    said = self.gemm(words).stdout
                    self.assertIn("check    passed", said)
                    if any(t[0] == "BF16" and n.endswith(("scale", "scale_inv"))
                           for n, t in tensors.items()):
                        self.assertIn(", from bf16, exactly", said)
                    self.compare(read_npy(self.path(words[words.index("-o") + 1])), want, allowed)


if __name__ == "__main__":
    unittest.main()
