#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prepare_command_test.py  `tilewright prepare` on tiny checkpoints of each layout: the rows come
back, a GEMM multiplies the decoded numbers, and bad
ones are refused."""
import json
import os
import shlex
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import (  # noqa: E402
    E2M1, E4M3, decoded, pack_bf16, pack_f32, pack_pairs, product, read_npy, write_f32,
    write_npy, write_safetensors)
from command_case import CommandCase  # noqa: E402

M, N, K, GROUP = 5, 72, 256, 64
GROUPS = K // GROUP
AWQ_PLACE = [0, 4, 1, 5, 2, 6, 3, 7]  # of element i in its word


def words(rows, place=range(8)):
    """int32 with eight elements each, of a list of rows."""
    out = b""
    for row in rows:
        for i in range(0, len(row), 8):
            word = sum(row[i + j] << 4 * place[j] for j in range(8))
            out += struct.pack("<I", word)
    return out


def transposed(rows):
    return [list(column) for column in zip(*rows)]


class Prepare(CommandCase):
    def setUp(self):
        super().setUp()
        self.q = [[self.rng.randrange(16) for _ in range(K)] for _ in range(N)]
        self.z = [[self.rng.randrange(1, 16) for _ in range(GROUPS)] for _ in range(N)]
        # Numbers that bf16 holds, and their multiples by integers below 16.
        self.s = [[self.rng.choice([0.25, 0.375, 0.5, 1.0, 1.25, 2.0]) for _ in range(GROUPS)]
                  for _ in range(N)]
        # Small integers: sums are exact.
        self.x = [[float(self.rng.randrange(-2, 3)) for _ in range(K)] for _ in range(M)]
        write_f32(self.path("x.npy"), self.x)

    def values(self, zero):
        return [[(self.q[n][k] - zero(n, k // GROUP)) * self.s[n][k // GROUP] for k in range(K)]
                for n in range(N)]

    def scales(self, rows):
        return pack_bf16([x for row in rows for x in row])

    def check(self, address, values, layout, *options):
        """Prepares, multiplies the prepared weight and the checkpoint's, and compares."""
        done = self.run_it("prepare", address, "w.npy", "--json", *options)
        record = json.loads(done.stdout)
        self.assertEqual(record["checkpoint_layout"], layout)
        self.assertEqual((record["n"], record["k"]), (N, K))
        self.gemm("x.npy", "w.npy", "-o", "d.npy", "--out-dtype", "bf16", "--check", "--quiet")
        want, _ = product(self.x, values)
        got = read_npy(self.path("d.npy"))
        self.assertEqual(len(got), M * N)
        for g, w in zip(got, [w for row in want for w in row]):
            self.assertLessEqual(abs(g - w), abs(w) / 256 + 1e-6)
        return record

    def rows(self):
        """The elements that --undo returns, and all of its tensors."""
        self.run_it("prepare", "w.npy", "rows.safetensors:w", "--undo", "--quiet")
        with open(self.path("rows.safetensors"), "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size))
            data = file.read()
        at = {name: data[slice(*entry["data_offsets"])] for name, entry in header.items()
              if name != "__metadata__"}
        nibbles = [[(at["w"][(n * K + k) // 2] >> 4 * (k % 2)) & 15 for k in range(K)]
                   for n in range(N)]
        return nibbles, at

    def test_gptq(self):
        for version in "1", "2":
            with self.subTest(version):
                stored = [[z - (version == "1") for z in row] for row in self.z]
                write_safetensors(self.path("m.safetensors"), {
                    "up.qweight": ("I32", [K // 8, N], b"".join(
                        words([self.q[n][8 * i:8 * i + 8]]) for i in range(K // 8)
                        for n in range(N))),
                    "up.qzeros": ("I32", [GROUPS, N // 8], words(transposed(stored))),
                    "up.scales": ("BF16", [GROUPS, N], self.scales(transposed(self.s))),
                    "up.g_idx": ("I32", [K], struct.pack(f"<{K}i", *(k // GROUP
                                                                      for k in range(K))))})
                self.check("m.safetensors:up.qweight", self.values(lambda n, g: self.z[n][g]),
                           "GPTQ", "--gptq-version", version)
                nibbles, at = self.rows()
                self.assertEqual(nibbles, self.q)
                self.assertEqual(list(at["w_zeros"]), [z for row in self.z for z in row])

    def test_gptq_with_act_order(self):
        """The file's k is in the group g_idx[k]; sorted, k of the weights is order[k]."""
        order = list(range(K))
        self.rng.shuffle(order)
        order = [k for group in range(GROUPS)
                 for k in sorted(order[group * GROUP:(group + 1) * GROUP])]
        place = {k: i for i, k in enumerate(order)}
        stored = [[row[place[k]] for k in range(K)] for row in self.q]
        write_safetensors(self.path("m.safetensors"), {
            "up.qweight": ("I32", [K // 8, N], b"".join(
                words([stored[n][8 * i:8 * i + 8]]) for i in range(K // 8) for n in range(N))),
            "up.qzeros": ("I32", [GROUPS, N // 8], words([[7] * N] * GROUPS)),
            "up.scales": ("BF16", [GROUPS, N], self.scales(transposed(self.s))),
            "up.g_idx": ("I32", [K], struct.pack(f"<{K}i", *(place[k] // GROUP
                                                              for k in range(K))))})
        self.expect_refusal("TW0468", lambda *w, status: self.run_it("prepare", *w, status=status),
                            ["m.safetensors:up", "w.npy"])
        self.check("m.safetensors:up", self.values(lambda n, g: 8), "GPTQ", "--order", "o.npy")
        with open(self.path("o.npy"), "rb") as file:
            written = file.read()
        self.assertEqual(list(struct.unpack(f"<{K}i", written[-4 * K:])), order)
        # A group that has other than 64 elements.
        bad = [place[k] // GROUP for k in range(K)]
        bad[0] = (bad[0] + 1) % GROUPS
        write_safetensors(self.path("b.safetensors"), {
            "up.qweight": ("I32", [K // 8, N], bytes(K // 2 * N)),
            "up.scales": ("BF16", [GROUPS, N], self.scales(transposed(self.s))),
            "up.g_idx": ("I32", [K], struct.pack(f"<{K}i", *bad))})
        self.expect_refusal("TW0468", lambda *w, status: self.run_it("prepare", *w, status=status),
                            ["b.safetensors:up", "w.npy", "--order", "o.npy"])

    def test_for_activations_of_e4m3(self):
        """int4 with scales of 128, with zero points too, and mxfp4: small integers are exact
        in e4m3."""
        scale = [[self.s[n][g] for g in range(2)] for n in range(N)]
        zero = [[self.z[n][g] for g in range(2)] for n in range(N)]
        write_safetensors(self.path("m.safetensors"), {
            "up.weight_packed": ("I32", [N, K // 8], words(self.q)),
            "up.weight_scale": ("BF16", [N, 2], self.scales(scale)),
            "awq.qweight": ("I32", [K, N // 8], words(transposed(self.q), AWQ_PLACE)),
            "awq.qzeros": ("I32", [2, N // 8], words(transposed(zero), AWQ_PLACE)),
            "awq.scales": ("BF16", [2, N], self.scales(transposed(scale))),
            "mx.weight": ("U8", [N, K // 2], pack_pairs([x for row in self.q for x in row])),
            "mx.weight_scale": ("U8", [N, K // 32], bytes(
                120 + (n + 3 * j) % 15 for n in range(N) for j in range(K // 32)))})
        int4 = [[(self.q[n][k] - 8) * scale[n][k // 128] for k in range(K)] for n in range(N)]
        mx = [[E2M1[self.q[n][k] % 8] * (-1 if self.q[n][k] > 7 else 1)
               * 2.0 ** ((n + 3 * (k // 32)) % 15 - 7) for k in range(K)] for n in range(N)]
        awq = [[(self.q[n][k] - zero[n][k // 128]) * scale[n][k // 128] for k in range(K)]
               for n in range(N)]
        for name, values in (("up.weight_packed", int4), ("awq.qweight", awq), ("mx.weight", mx)):
            with self.subTest(name):
                record = json.loads(self.run_it(
                    "prepare", "m.safetensors:" + name, "w.npy", "--activations", "e4m3",
                    "--json").stdout)
                self.assertEqual((record["activations"], record["parts"]), ("e4m3", 2 * N))
                self.assertEqual((record["rounded_parts"], record["largest_error"]), (0, 0))
                self.gemm("x.npy", "w.npy", "-o", "d.npy", "--out-dtype", "bf16",
                          "--check", "--quiet")
                want, _ = product(self.x, values)
                got = read_npy(self.path("d.npy"))
                for g, w in zip(got, [w for row in want for w in row]):
                    self.assertLessEqual(abs(g - w), abs(w) / 128 + 0.02)
                whole = self.content("w.npy")
                self.assertEqual(record["version"], whole[whole.index(b"TWWEIGHT") + 8])
                self.assertEqual(record["version"], 2 if name == "up.weight_packed" else 1)
                if name == "mx.weight":
                    continue
                nibbles, at = self.rows()
                self.assertEqual(nibbles, self.q)
                if name != "awq.qweight":
                    continue
                self.assertEqual(record["zeros"], "integers")
                self.assertEqual(list(at["w_zeros"]), [z for row in zero for z in row])
        text = self.run_it("prepare", "m.safetensors:mx.weight", "w.npy", "--activations",
                           "e4m3").stdout
        self.assertIn(f"exact    {2 * N} of {2 * N} parts", text)

    def test_gptq_without_zero_points_of_each_group(self):
        write_safetensors(self.path("m.safetensors"), {
            "up.qweight": ("I32", [K // 8, N], b"".join(
                words([self.q[n][8 * i:8 * i + 8]]) for i in range(K // 8) for n in range(N))),
            "up.qzeros": ("I32", [GROUPS, N // 8], words([[7] * N] * GROUPS)),
            "up.scales": ("BF16", [GROUPS, N], self.scales(transposed(self.s)))})
        record = self.check("m.safetensors:up", self.values(lambda n, g: 8), "GPTQ")
        self.assertEqual(record["zeros"], "none")

    def test_awq(self):
        write_safetensors(self.path("m.safetensors"), {
            "up.qweight": ("I32", [K, N // 8], words(transposed(self.q), AWQ_PLACE)),
            "up.qzeros": ("I32", [GROUPS, N // 8], words(transposed(self.z), AWQ_PLACE)),
            "up.scales": ("BF16", [GROUPS, N], self.scales(transposed(self.s)))})
        self.check("m.safetensors:up.qweight", self.values(lambda n, g: self.z[n][g]), "AWQ")
        self.assertEqual(self.rows()[0], self.q)

    def test_compressed_tensors(self):
        write_safetensors(self.path("m.safetensors"), {
            "up.weight_packed": ("I32", [N, K // 8], words(self.q)),
            "up.weight_scale": ("BF16", [N, GROUPS], self.scales(self.s)),
            "up.weight_zero_point": ("I32", [N // 8, GROUPS], b"".join(
                words([[self.z[n + j][g] for j in range(8)]]) for n in range(0, N, 8)
                for g in range(GROUPS)))})
        values = self.values(lambda n, g: self.z[n][g])
        self.check("m.safetensors:up.weight_packed", values, "compressed-tensors")
        # As B itself: prepared first, and the report says so.
        done = self.gemm("x.npy", "m.safetensors:up.weight_packed", "-o", "e.npy", "--check")
        self.assertIn("tilewright prepare m.safetensors:up.weight_packed", done.stdout)
        self.assertEqual(self.content("d.npy"), self.content("e.npy"))

    def test_tinygemm(self):
        inner = 4
        places = []
        for tile_n in range(N // 8):
            for tile_k in range(K // (16 * inner)):
                for lane in range(32):
                    for word in range(inner // 2):
                        n, k = 8 * tile_n + lane // 4, 16 * inner * tile_k + 32 * word
                        ks = [k + 16 * s + lane % 4 * 2 + j for s in (0, 1) for j in (0, 1, 8, 9)]
                        places.append([self.q[n][i] for i in ks])
        both = [[v for n in range(N) for v in (self.s[n][g], -1.5)] for g in range(GROUPS)]
        write_safetensors(self.path("m.safetensors"), {
            "up": ("I32", [N // 8, K // (16 * inner), 32, inner // 2],
                   words(places, AWQ_PLACE)),
            "up_scales": ("BF16", [GROUPS, N, 2], self.scales(both))})
        values = [[v - 1.5 for v in row] for row in self.values(lambda n, g: 8)]
        self.check("m.safetensors:up", values, "torch tinygemm")
        self.assertEqual(self.rows()[0], self.q)
        one = self.content("w.npy")
        # Two experts, in groups with a bias.
        write_safetensors(self.path("e.safetensors"), {
            "up": ("I32", [2, N // 8, K // (16 * inner), 32, inner // 2],
                   words(places[::-1], AWQ_PLACE) + words(places, AWQ_PLACE)),
            "up_scales": ("BF16", [2, GROUPS, N, 2],
                          self.scales(both[::-1]) + self.scales(both))})
        self.run_it("prepare", "e.safetensors:up", "e.npy", "--quiet")
        blocks = len(self.content("e.npy")) - len(one)  # of an expert
        self.assertEqual(self.content("e.npy")[-blocks:], one[-blocks:])
        write_npy(self.path("ends.npy"), "<i4", (2,), struct.pack("<2i", 2, M))
        write_f32(self.path("bias.npy"), [[self.rng.uniform(-9, 9) for _ in range(N)]
                                          for _ in range(2)])
        self.gemm("x.npy", "e.npy", "-o", "d.npy", "--groups", "ends.npy", "--bias", "bias.npy",
                  "--activation", "relu", "--check", "--quiet")

    def test_int8_pairs(self):
        signed = [[(q - 8) % 16 for q in row] for row in self.q]
        write_safetensors(self.path("m.safetensors"), {
            "up.weight": ("I8", [N, K // 2], pack_pairs([q for row in signed for q in row])),
            "up.weight_scale_inv": ("BF16", [N, GROUPS], self.scales(self.s))})
        self.check("m.safetensors:up.weight", self.values(lambda n, g: 8), "int8 pairs")
        self.assertEqual(self.rows()[0], self.q)
        # Any int8 may have this name: gemm does not guess.
        self.refused("TW0616", "x.npy", "m.safetensors:up.weight", "-o", "e.npy",
                     contains=["`tilewright prepare` reads them"])

    def test_mxfp4_rows_and_blocks(self):
        exponents = [[self.rng.randrange(125, 129) for _ in range(K // 32)] for _ in range(N)]
        values = [[decoded(self.q[n][k], E2M1) * 2.0 ** (exponents[n][k // 32] - 127)
                   for k in range(K)] for n in range(N)]
        packed = pack_pairs([q for row in self.q for q in row])
        scales = bytes(e for row in exponents for e in row)
        write_safetensors(self.path("m.safetensors"), {
            "up.weight_packed": ("U8", [N, K // 2], packed),
            "up.weight_scale": ("U8", [N, K // 32], scales),
            "moe_blocks": ("U8", [1, N, K // 32, 16], packed),
            "moe_scales": ("U8", [1, N, K // 32], scales)})
        self.check("m.safetensors:up", values, "MXFP4 rows")
        self.assertEqual(self.rows()[1]["w_scale"], scales)
        self.check("m.safetensors:moe_blocks", values, "MXFP4 blocks")

    def test_gate(self):
        """ReLU of gate rows times up rows, however the checkpoint arranges them."""
        n = 64
        exponents = [[self.rng.randrange(126, 129) for _ in range(K // 32)] for _ in range(n)]
        rows = [[decoded(self.q[i][k], E2M1) * 2.0 ** (exponents[i][k // 32] - 127)
                 for k in range(K)] for i in range(n)]
        packed = pack_pairs([q for row in self.q[:n] for q in row])
        scales = bytes(e for row in exponents for e in row)
        write_safetensors(self.path("m.safetensors"), {
            "moe_blocks": ("U8", [1, n, K // 32, 16], packed),
            "moe_scales": ("U8", [1, n, K // 32], scales)})
        sums, _ = product(self.x, rows)
        for gate in "split", "interleaved":
            with self.subTest(gate):
                record = json.loads(self.run_it(
                    "prepare", "m.safetensors:moe_blocks", "w.npy", "--gate", gate,
                    "--json").stdout)
                self.assertEqual(record["gate"], gate)
                want = [max(0, row[j if gate == "split" else 2 * j])
                        * row[n // 2 + j if gate == "split" else 2 * j + 1]
                        for row in sums for j in range(n // 2)]
                for b in "w.npy", "m.safetensors:moe_blocks":
                    said = self.gemm("x.npy", b, "-o", "d.npy", "--gate", "reglu:" + gate,
                                     "--check").stdout
                    self.assertEqual("--gate " + gate + "` does that once" in said, b != "w.npy")
                    for got, exact in zip(read_npy(self.path("d.npy")), want, strict=True):
                        self.assertLessEqual(abs(got - exact), abs(exact) / 128 + 1e-6)
                self.run_it("prepare", "w.npy", "r.safetensors:w", "--undo", "--quiet")
                with open(self.path("r.safetensors"), "rb") as file:
                    self.assertIn(packed, file.read())
                self.expect_refusal("TW0467", self.gemm, ["x.npy", "w.npy", "-o", "e.npy"])

    def test_the_commands_of_the_page(self):
        """docs/weights4.md: the experts of gpt-oss, gate and up and down, with their biases."""
        experts, model, inner, tokens = 3, 64, 32, 11
        names = {"gate_up_proj": (2 * inner, model), "down_proj": (model, inner)}
        tensors = {}
        for name, (n, k) in names.items():
            name = "model.layers.0.mlp.experts." + name
            tensors |= {
                name + "_blocks": ("U8", [experts, n, k // 32, 16],
                                   self.rng.randbytes(experts * n * k // 2)),
                name + "_scales": ("U8", [experts, n, k // 32],
                                   bytes(self.rng.choices(range(118, 124),
                                                          k=experts * n * k // 32))),
                name + "_bias": ("BF16", [experts, n], pack_bf16(
                    [self.rng.uniform(-1, 1) for _ in range(experts * n)]))}
        write_safetensors(self.path("model.safetensors"), tensors)
        write_f32(self.path("x.npy"), [row[:model] for row in (self.x * 3)[:tokens]])
        write_npy(self.path("ends.npy"), "<i8", (experts,), struct.pack("<3q", 4, 4, tokens))
        with open(os.path.join(os.environ["TW_SOURCE_DIR"], "docs/weights4.md"),
                  encoding="utf-8") as file:
            lines = [line.split()[1:] for line in file if line.startswith("tilewright ")
                     and (".mlp.experts" in line or "--groups" in line)][:4]
        self.assertEqual([words[0] for words in lines], ["prepare", "prepare", "gemm", "gemm"])
        for words in lines[:2]:
            self.run_it(*words, "--quiet")
        for words in lines[2:]:
            self.gemm(*words[1:], "--quiet", "--check")

    def test_experts_in_separate_tensors(self):
        """docs/weights4.md: AWQ's experts by an asterisk, gate and up by --up; a joined weight has
        the rows of its parts."""
        model, inner, tokens, tensors = 128, 64, 11, {}
        for expert in range(3):
            for name, n, k in ("w1", inner, model), ("w3", inner, model), ("w2", model, inner):
                at = f"model.layers.0.moe.experts.{expert}.{name}."
                tensors |= {
                    at + "qweight": ("I32", [k, n // 8], self.rng.randbytes(k * n // 2)),
                    at + "qzeros": ("I32", [k // GROUP, n // 8],
                                    self.rng.randbytes(k // GROUP * n // 2)),
                    at + "scales": ("BF16", [k // GROUP, n], pack_bf16(
                        [self.rng.uniform(0.01, 0.02) for _ in range(k // GROUP * n)]))}
        write_safetensors(self.path("model.safetensors"), tensors)
        write_f32(self.path("x.npy"), [row[:model] for row in (self.x * 3)[:tokens]])
        write_npy(self.path("ends.npy"), "<i8", (3,), struct.pack("<3q", 4, 4, tokens))
        with open(os.path.join(os.environ["TW_SOURCE_DIR"], "docs/weights4.md"),
                  encoding="utf-8") as file:
            lines = [shlex.split(line)[1:] for line in file if line.startswith("tilewright ")]
        at = next(i for i, line in enumerate(lines) if "*" in line[1])
        for words in lines[at:at + 2]:
            self.run_it(*words, "--quiet")
        self.gemm(*lines[at + 2][1:], "--quiet", "--check")
        first = "model.safetensors:model.layers.0.moe.experts.{}.{}.qweight"
        record = json.loads(self.run_it(
            "prepare", first.format(2, "w1"), "one.npy", "--up", first.format(2, "w3"), "--gate",
            "split", "--json").stdout)
        blocks = record["bytes"] - 256
        self.assertEqual(self.content("up.npy")[-blocks:], self.content("one.npy")[-blocks:])

        def refused(*words):
            self.expect_refusal("TW0468", lambda *w, status: self.run_it(
                "prepare", *w, status=status), list(words))
        refused(first.format("*", "w4"), "e.npy")
        refused(first.format(0, "w1"), "e.npy", "--up", first.format(0, "w2"))
        del tensors["model.layers.0.moe.experts.1.w2.qweight"]
        write_safetensors(self.path("model.safetensors"), tensors)
        refused(first.format("*", "w2"), "e.npy")  # 0 and 2

    def test_nvfp4(self):
        codes = [[self.rng.randrange(40, 80) for _ in range(K // 16)] for _ in range(N)]
        values = [[decoded(self.q[n][k], E2M1) * decoded(codes[n][k // 16], E4M3) * 0.5
                   for k in range(K)] for n in range(N)]
        packed = pack_pairs([q for row in self.q for q in row])
        scales = bytes(c for row in codes for c in row)
        write_safetensors(self.path("m.safetensors"), {
            "a.weight": ("U8", [N, K // 2], packed),
            "a.weight_scale": ("F8_E4M3", [N, K // 16], scales),
            "a.weight_scale_2": ("F32", [], pack_f32([0.5])),
            "b.weight_packed": ("U8", [N, K // 2], packed),
            "b.weight_scale": ("F8_E4M3", [N, K // 16], scales),
            "b.weight_global_scale": ("F32", [1], pack_f32([2.0]))})
        for name in "a.weight", "b.weight_packed":
            record = self.check("m.safetensors:" + name, values, "NVFP4 rows")
            self.assertEqual(record["factor"], 0.5)

    def test_scales_of_another_type_are_rounded_on_request(self):
        write_safetensors(self.path("m.safetensors"), {
            "up.weight_packed": ("I32", [N, K // 8], words(self.q)),
            "up.weight_scale": ("F32", [N, GROUPS], pack_f32([1 / 3] * (N * GROUPS)))})
        self.expect_refusal("TW0468", lambda *w, status: self.run_it("prepare", *w, status=status),
                            ["m.safetensors:up", "w.npy"], ["--scales-to"])
        record = json.loads(self.run_it("prepare", "m.safetensors:up", "w.npy", "--scales-to",
                                        "bf16", "--json").stdout)
        self.assertEqual(record["rounded_scales"], N * GROUPS)

    def test_bad_ones_are_refused(self):
        def refused(code, *line):
            self.expect_refusal(
                code, lambda *w, status: self.run_it("prepare", *w, status=status), line)
        write_safetensors(self.path("m.safetensors"), {
            "a.qweight": ("I32", [K // 8, N], bytes(K // 2 * N)),
            "a.scales": ("BF16", [GROUPS, N], self.scales(self.s)),
            "a.g_idx": ("I32", [K], struct.pack(f"<{K}i", *([1] * K))),
            "b.qweight": ("I32", [K // 8, N], bytes(K // 2 * N)),
            "c.weight_packed": ("I32", [N, K // 8], bytes(K // 2 * N)),
            "c.weight_scale": ("BF16", [N, 3], bytes(6 * N)),
            "d.weight": ("U8", [N, K // 2], bytes(K // 2 * N)),
            "d.weight_scale": ("F8_E4M3", [N, K // 32], bytes(K // 32 * N))})
        for name in "a", "b", "c", "d":
            refused("TW0468", f"m.safetensors:{name}", "w.npy")
        for name in "m.safetensors:e", "m.safetensors":
            said = self.expect_refusal(
                "TW0468", lambda *w, status: self.run_it("prepare", *w, status=status),
                [name, "w.npy"])
            self.assertIn('the file has "a.qweight" and 2 more; ', said)
        refused("TW0468", "x.npy", "w.npy")
        with open(self.path("x.npy"), "rb") as file:
            self.assertTrue(file.read(1))
        refused("TW0466", "x.npy", "r.safetensors:w", "--undo")

    def test_k_that_groups_do_not_divide(self):
        """K is 96: odd bytes of a row, 5 scales of a row, and groups of 48."""
        def tensor(scales):
            return {"w.weight_packed": ("I32", [16, 12], bytes(16 * 48)),
                    "w.weight_scale": ("BF16", [16, scales], self.scales([[1.0] * scales] * 16))}

        def refused(code, contains, words="prepare m.safetensors:w w.npy"):
            self.expect_refusal(code, lambda *w, status: self.run_it(*w, status=status),
                                words.split(), [contains])

        write_safetensors(self.path("m.safetensors"), tensor(5))
        refused("TW0468", "need scales that divide K = 96 into groups of one size; add zeros")
        write_safetensors(self.path("m.safetensors"), tensor(2))
        refused("TW0465", "got 48 elements, need 16, 32, a multiple of 64, or 0: all K; repeat")
        write_safetensors(self.path("m.safetensors"), {
            "w.weight": ("U8", [16, 17], bytes(16 * 17)),
            "w.weight_scale": ("U8", [16, 2], bytes(32))})
        refused("TW0468", "of K = 34 elements of e2m1 scales of ue8m0 (or u8) for 32")
        odd = "quantize x.npy q.safetensors:w --to int4"
        write_f32(self.path("x.npy"), [[1.0] * 95] * 16)
        refused("TW0465", "got 95, need an even number; two elements fill a byte: add a", odd)
        write_f32(self.path("x.npy"), [[1.0] * 96] * 16)
        refused("TW0465", "got K = 96, need a K that they divide; add columns of zeros",
                odd + " --group 64")

    def test_other_versions_and_extents_are_refused(self):
        self.test_int8_pairs()
        whole = bytearray(self.content("w.npy"))
        at = whole.index(b"TWWEIGHT")
        for place, byte in ((at + 8, 9), (at + 12, 9), (at + 48, 64)):
            changed = bytearray(whole)
            changed[place] = byte
            with open(self.path("v.npy"), "wb") as file:
                file.write(changed)
            self.refused("TW0466", "x.npy", "v.npy", "-o", "d.npy")
        self.refused("TW0467", "x.npy", "w.npy", "-o", "d.npy", "--scale-b", "2")
        write_f32(self.path("y.npy"), [row[:-16] for row in self.x])
        self.refused("TW0616", "y.npy", "w.npy", "-o", "d.npy")


if __name__ == "__main__":
    unittest.main()
