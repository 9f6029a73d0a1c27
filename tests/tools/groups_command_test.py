#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groups_command_test.py  tilewright gemm --groups: each axis and form against sums in Python, rows
of no group, and sizes and shapes that are refused."""
import ast
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import npy_parts, read_npy, write_npy  # noqa: E402

COMMAND = os.environ["TW_COMMAND"]


class Groups(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rng = random.Random(20261129)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, *shape):
        """Small integers, whose sums of products are exact in float32."""
        count = 1
        for extent in shape:
            count *= extent
        values = [self.rng.randint(-8, 8) for _ in range(count)]
        write_npy(self.path(name), "<f4", shape, struct.pack(f"<{count}f", *values))
        return values

    def write_numbers(self, name, numbers, dtype="<i4"):
        code = {"<i4": "i", "<i8": "q", "<f4": "f", "<i2": "h"}[dtype]
        write_npy(self.path(name), dtype, (len(numbers),),
                  struct.pack(f"<{len(numbers)}{code}", *numbers))

    def write_sizes(self, numbers, dtype="<i4"):
        self.write_numbers("g.npy", numbers, dtype)

    def read(self, name):
        header, data = npy_parts(self.path(name))
        return ast.literal_eval(header.strip())["shape"], struct.unpack(f"<{len(data) // 4}f", data)

    def gemm(self, *words, status=0):
        done = subprocess.run([COMMAND, "gemm", "a.npy", "b.npy", "-o", "d.npy", "--device", "emu",
                               "--groups", "g.npy", *words,
                               *([] if "--out-dtype" in words else ["--out-dtype", "f32"])],
                              cwd=self.folder.name, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        return done

    @staticmethod
    def numbers_of(sizes, form):
        ends = list(itertools.accumulate(sizes))
        return {"ends": ends, "starts": [0, *ends], "sizes": sizes, "counts": sizes}[form]

    def test_rows_in_each_form(self):
        n, k, sizes, rest = 24, 40, [5, 0, 130, 1, 0, 64], 3
        total = sum(sizes) + rest
        a, b = self.write("a.npy", total, k), self.write("b.npy", len(sizes), n, k)
        for form in ("ends", "starts", "sizes"):
            self.write_sizes(self.numbers_of(sizes, form))
            self.gemm("--transpose-b", "--group-form", form, "--check")
            shape, d = self.read("d.npy")
            self.assertEqual(tuple(shape), (total, n))
            row = 0
            for group, size in enumerate(sizes):
                for _ in range(size):
                    for col in range(n):
                        want = sum(a[row * k + i] * b[(group * n + col) * k + i] for i in range(k))
                        self.assertEqual(d[row * n + col], want, (form, row, col))
                    row += 1
            self.assertEqual(set(d[row * n:]), {0.0})  # rows of no group

    def test_each_group_has_its_bias(self):
        n, k, sizes = 16, 24, [3, 0, 70]
        a, b = self.write("a.npy", sum(sizes), k), self.write("b.npy", len(sizes), n, k)
        bias = self.write("v.npy", len(sizes), n)
        self.write_sizes(self.numbers_of(sizes, "ends"))
        self.gemm("--transpose-b", "--out-dtype", "bf16", "--bias", "v.npy", "--activation", "relu",
                  "--check")
        row = 0
        d = read_npy(self.path("d.npy"))
        for group, size in enumerate(sizes):
            for _ in range(size):
                for col in range(n):
                    x = sum(a[row * k + i] * b[(group * n + col) * k + i] for i in range(k))
                    want = max(0, x + bias[group * n + col])
                    self.assertLessEqual(abs(d[row * n + col] - want), want / 128)
                row += 1

    def test_a_weight_multiplies_the_bias_too(self):
        """As a down projection with a bias needs it; each group has an alpha."""
        n, k, sizes = 16, 24, [3, 0, 70]
        a, b = self.write("a.npy", sum(sizes), k), self.write("b.npy", len(sizes), n, k)
        bias, weight = self.write("v.npy", len(sizes), n), self.write("w.npy", sum(sizes))
        alpha = self.write("alpha.npy", len(sizes))
        self.write_sizes(self.numbers_of(sizes, "ends"))
        self.gemm("--transpose-b", "--out-dtype", "bf16", "--bias", "v.npy", "--row-weight",
                  "w.npy", "--group-alpha", "alpha.npy", "--activation", "relu", "--check")
        row = 0
        d = read_npy(self.path("d.npy"))
        for group, size in enumerate(sizes):
            for _ in range(size):
                for col in range(n):
                    x = sum(a[row * k + i] * b[(group * n + col) * k + i] for i in range(k))
                    want = max(0, alpha[group] * x + bias[group * n + col]) * weight[row]
                    self.assertLessEqual(abs(d[row * n + col] - want), abs(want) / 128)
                row += 1

    def test_the_group_of_each_row(self):
        n, k = 24, 40
        groups = [2] * 130 + [-1] * 126 + [-1] * 128 + [0] * 3 + [-1] * 125 + [1] * 60
        a, b = self.write("a.npy", len(groups), k), self.write("b.npy", 3, n, k)
        self.write_sizes(groups)
        self.gemm("--transpose-b", "--group-form", "rows", "--check")
        _, d = self.read("d.npy")
        for row, group in enumerate(groups):
            for col in range(n):
                want = 0 if group < 0 else sum(a[row * k + i] * b[(group * n + col) * k + i]
                                               for i in range(k))
                self.assertEqual(d[row * n + col], want, (row, col))

    def test_rows_are_gathered_and_scattered(self):
        """D has its rows where --scatter says; rows of no group are zeros."""
        n, k, sizes, tokens = 16, 24, [3, 0, 40], 9
        a, b = self.write("a.npy", tokens, k), self.write("b.npy", len(sizes), n, k)
        rows = sum(sizes) + 2
        gather = [self.rng.randrange(tokens) for _ in range(rows)]
        scatter = self.rng.sample(range(rows), rows)
        weight = self.write("w.npy", rows)  # of the rows of D
        addend = self.write("c.npy", rows, n)  # likewise
        self.write_numbers("i.npy", gather), self.write_numbers("s.npy", scatter, "<i8")
        self.write_sizes(self.numbers_of(sizes, "ends"), "<i8")
        self.gemm("--transpose-b", "--out-dtype", "bf16", "--gather", "i.npy", "--scatter", "s.npy",
                  "--row-weight", "w.npy", "--residual", "c.npy", "--check")
        d, want = read_npy(self.path("d.npy")), [0.0] * (rows * n)
        at = 0
        for group, size in enumerate(sizes):
            for _ in range(size):
                for col in range(n):
                    want[scatter[at] * n + col] = weight[scatter[at]] * sum(
                        a[gather[at] * k + i] * b[(group * n + col) * k + i] for i in range(k)
                    ) + addend[scatter[at] * n + col]
                at += 1
        for got, exact in zip(d, want):
            self.assertLessEqual(abs(got - exact), abs(exact) / 128)

        def refused(code, gathered, scattered):
            self.write_numbers("i.npy", gathered), self.write_numbers("s.npy", scattered)
            done = self.gemm("--transpose-b", "--gather", "i.npy", "--scatter", "s.npy", status=2)
            self.assertIn(code, done.stderr)

        refused("TW0496", [tokens, *gather[1:]], scatter)  # no row of A
        refused("TW0496", [-1, *gather[1:]], scatter)
        refused("TW0496", gather, [rows, *scatter[1:]])  # no row of D
        refused("TW0496", gather, [scatter[1], *scatter[1:]])  # twice
        refused("TW0616", gather, scatter[1:])

    def test_columns(self):
        m, k, sizes = 24, 16, [9, 0, 40]
        total = sum(sizes) + 2
        a, b = self.write("a.npy", len(sizes), m, k), self.write("b.npy", total, k)
        self.write_sizes(self.numbers_of(sizes, "sizes"))
        self.gemm("--transpose-b", "--group-axis", "n", "--group-form", "sizes", "--out-dtype",
                  "bf16", "--check")
        d, col = read_npy(self.path("d.npy")), 0
        for group, size in enumerate(sizes):
            for _ in range(size):
                for row in range(m):
                    want = sum(a[(group * m + row) * k + i] * b[col * k + i] for i in range(k))
                    self.assertLessEqual(abs(d[row * total + col] - want), abs(want) / 128)
                col += 1

    def test_k_has_a_result_for_each_group(self):
        m, n, sizes = 16, 24, [16, 0, 72]
        total = sum(sizes)
        a, b = self.write("a.npy", total, m), self.write("b.npy", total, n)
        self.write_sizes(self.numbers_of(sizes, "ends"))
        record = json.loads(self.gemm("--transpose-a", "--group-axis", "k", "--json",
                                      "--check").stdout)
        self.assertEqual(record["groups"], {"count": 3, "axis": "k", "form": "ends"})
        shape, d = self.read("d.npy")
        self.assertEqual(tuple(shape), (len(sizes), m, n))
        at = 0
        for group, size in enumerate(sizes):
            for row, col in itertools.product(range(m), range(n)):
                want = sum(a[(at + i) * m + row] * b[(at + i) * n + col] for i in range(size))
                self.assertEqual(d[(group * m + row) * n + col], want)
            at += size

    def test_slots_keep_the_rows_beyond_their_counts(self):
        counts, rows, n, k = [3, 0, 7], 7, 16, 24
        a, b = self.write("a.npy", 3, rows, k), self.write("b.npy", 3, n, k)
        self.write_sizes(counts)
        self.gemm("--transpose-b", "--group-axis", "slots", "--check")
        shape, d = self.read("d.npy")
        self.assertEqual(tuple(shape), (3, rows, n))
        for slot, row, col in itertools.product(range(3), range(rows), range(n)):
            want = sum(a[(slot * rows + row) * k + i] * b[(slot * n + col) * k + i]
                       for i in range(k)) if row < counts[slot] else 0
            self.assertEqual(d[(slot * rows + row) * n + col], want)

    def test_what_is_refused(self):
        self.write("a.npy", 20, 16)
        self.write("b.npy", 2, 8, 16)

        def refused(code, numbers, *words, dtype="<i4", says=""):
            self.write_sizes(numbers, dtype)
            done = self.gemm("--transpose-b", *words, status=2)
            self.assertIn(f"{code}: ", done.stderr)
            self.assertIn(says, done.stderr)

        descends = "number of group 1: got 7, need 10, the end of the group before, to 20; the form"
        refused("TW0496", [10, 7], says=descends)
        refused("TW0496", [10, 7], "--check", dtype="<i8", says=descends)
        refused("TW0496", [10, 21], says="got 21, need 10, the end of the group before, to 20")
        refused("TW0496", [-1, 20], says="number of group 0: got -1, need 0 to 20;")
        refused("TW0496", [-1, 20], "--group-form", "sizes", says="got -1, need 0 to 20, the rest")
        refused("TW0496", [12, 9], "--group-form", "sizes", says="got 9, need 0 to 8, the rest of")
        refused("TW0496", [21, 21, 21], "--group-form", "starts", says="got 21, need 0 to 20;")
        refused("TW0496", [1 << 32, 20], dtype="<i8", says="got 4294967296, need a number of 32")
        refused("TW0616", [10, 15, 20])  # B has two matrices
        refused("TW0604", [10, 20], dtype="<i2")
        refused("TW0616", [10.0, 20.0], dtype="<f4")
        refused("TW0615", [10, 20], "--group-form", "counts")
        refused("TW0616", [], "--group-form", "starts")
        refused("TW0616", [0] * 19, "--group-form", "rows")
        refused("TW0496", [2] * 20, "--group-form", "rows")
        refused("TW0496", [0] * 10 + [1] * 10, "--group-form", "rows")  # begins at 10
        self.write("v.npy", 3)
        refused("TW0616", [10, 20], "--group-alpha", "v.npy")
        refused("TW0616", [10, 20], "--row-weight", "v.npy")
        self.write("b.npy", 8, 20)
        refused("TW0494", [16, 16], "--activation", "relu", "--group-axis", "k", "--transpose-a")
        self.assertFalse(os.path.exists(self.path("d.npy")))

    def test_lines_that_tma_cannot_address(self):
        self.write_sizes([10, 20])
        for shapes, words in (
                (((20, 17), (2, 8, 17)), ["--transpose-b"]),  # A and B: lines of 34 bytes
                (((20, 16), (2, 16, 9)), []),  # B: 18 bytes
                (((20, 9), (20, 16)), ["--group-axis", "k", "--transpose-a"]),
                (((8, 20), (16, 20)), ["--group-axis", "k", "--transpose-b"]),  # K is contiguous
                (((2, 8, 16), (16, 20)), ["--group-axis", "n"])):
            self.write("a.npy", *shapes[0])
            self.write("b.npy", *shapes[1])
            said = self.gemm(*words, status=2).stderr
            self.assertIn("TW0495: ", said)
            self.assertRegex(said, "got .*, need .*multiple.* of 16 bytes.*; pad")

    def test_no_group_empty_ones_and_more_than_tiles(self):
        rows, n, k = 20, 8, 16
        a, b = self.write("a.npy", rows, k), self.write("b.npy", 1, n, k)
        self.write_sizes([rows])  # one group is the GEMM
        self.gemm("--transpose-b", "--check")
        want = [sum(a[i * k + x] * b[j * k + x] for x in range(k))
                for i in range(rows) for j in range(n)]
        self.assertEqual(list(self.read("d.npy")[1]), want)
        for sizes in ([0, 0], []):
            self.write_sizes(sizes)
            self.write("b.npy", max(1, len(sizes)), n, k)
            said = self.gemm("--transpose-b", "--check").stdout
            self.assertEqual(set(self.read("d.npy")[1]), {0.0})
            self.assertNotIn("INCONCLUSIVE", said)
            self.assertIn("passed: all 0 elements" if sizes else "no groups: nothing was", said)
        many = [min(i, rows) for i in range(1, 1025)]  # a row each, and empty ones
        b = self.write("b.npy", len(many), n, k)
        self.write_sizes(many)
        self.gemm("--transpose-b", "--check")
        want = [sum(a[i * k + x] * b[(i * n + j) * k + x] for x in range(k))
                for i in range(rows) for j in range(n)]
        self.assertEqual(list(self.read("d.npy")[1]), want)
        self.write("b.npy", 1025, n, k)
        self.write_sizes([*many, rows])
        self.assertIn("TW0492: number of groups: got 1025, need 1 to 1024",
                      self.gemm("--transpose-b", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
