#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ranks_command_test.py  `gemm --ranks` writes the D of one device on every path, and refuses
options that do not fit; `plan --ranks` prints the model's times."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import pack_f32, write_npy  # noqa: E402
from command_case import CommandCase  # noqa: E402


class Ranks(CommandCase):
    def setUp(self):
        super().setUp()
        # Small integers: every sum is exact, so files are equal byte for byte.
        for name, rows, cols in (("a.npy", 37, 48), ("b.npy", 40, 48), ("c.npy", 37, 40)):
            values = [(7 * i + i // 5) % 5 - 2 for i in range(rows * cols)]
            write_npy(self.path(name), "<f4", (rows, cols), pack_f32(values))
        self.words = ["a.npy", "b.npy", "--transpose-b", "--out-dtype", "f32"]

    def test_every_path_writes_the_result_of_one_device(self):
        extra = ["-C", "c.npy", "--alpha", "2"]
        self.gemm(*self.words, *extra, "-o", "one.npy")
        for ranks in ("1", "3"):
            for split, op in (("rows", "all-gather"), ("k", "reduce-scatter"), ("k", "all-reduce")):
                for path in ("serial", "two-pieces", "pieces", "direct"):
                    with self.subTest(f"{ranks} {op} {path}"):
                        report = self.gemm(*self.words, *extra, "-o", "d.npy", "--ranks", ranks,
                                           "--split", split, "--op", op, "--path", path,
                                           "--check").stdout
                        self.assertIn(op, report)
                        self.assertEqual(self.content("d.npy"), self.content("one.npy"))

    def test_one_launch_with_gates_writes_the_result_of_one_device(self):
        bf16 = [*self.words, "--ab", "bf16"]
        self.gemm(*bf16, "-o", "one.npy")
        self.gemm(*bf16, "-o", "d.npy", "--ranks", "3", "--split", "rows", "--path", "gated",
                  "--check")
        self.assertEqual(self.content("d.npy"), self.content("one.npy"))
        result = self.run_it("gemm", *bf16, "-o", "d.npy", "--ranks", "3", "--split", "k",
                             "--path", "gated", status=2)
        self.assertIn("TW0904", result.stderr)

    def test_the_record_says_how_it_was_divided(self):
        record = json.loads(self.gemm(*self.words, "-o", "d.npy", "--ranks", "3", "--split", "k",
                                      "--op", "all-reduce", "--json").stdout)
        self.assertEqual(record["ranks"], {
            "ranks": 3, "op": "all-reduce", "path": "pieces", "rows": "13+12+12", "k": "16+16+16",
            "partials": "f32", "equal": True})

    def test_the_timeline_has_the_acts_of_each_rank(self):
        self.gemm(*self.words, "-o", "one.npy")
        drawn = {}
        for path in ("serial", "two-pieces", "pieces", "direct"):
            words = (*self.words, "-o", "d.npy", "--ranks", "3", "--path", path, "--timeline")
            report = self.gemm(*words, "t.svg", "--check").stdout
            self.assertRegex(report, r"timeline t.svg: the acts of 3 ranks with 2 SMs")
            self.assertEqual(self.content("d.npy"), self.content("one.npy"))
            drawn[path] = self.content("t.svg")
            self.gemm(*words, "again.svg")
            self.assertEqual(self.content("again.svg"), drawn[path])
            self.assertEqual(drawn[path].count(b">copies of rank "), 0 if path == "direct" else 3)
            self.gemm(*words, "more.svg", "--threads", "12")
            self.assertIn(b"A rank is 8 of the 132 SMs", self.content("more.svg"))
        self.assertEqual(drawn["serial"].count(b"GEMM of rows 0-36"), 3)
        self.assertEqual(drawn["pieces"].count(b"GEMM of rows 13-24"), 3)
        result = self.run_it("gemm", *self.words, "-o", "d.npy", "--ranks", "2", "--device", "gpu",
                             "--timeline", "t.svg", status=2)
        self.assertIn("TW0646", result.stderr)
        result = self.run_it("gemm", *self.words, "-o", "d.npy", "--ranks", "2", "--trace",
                             "t.json", status=2)
        self.assertIn("TW0615", result.stderr)

    def test_options_that_do_not_fit_are_refused(self):
        for words, code in ((["--ranks", "2", "--op", "all-reduce"], "TW0615"),
                            (["--ranks", "2", "--split", "k", "--op", "all-gather"], "TW0615"),
                            (["--ranks", "2", "--split", "k", "--partials", "d", "--check"],
                             "TW0615"),
                            (["--ranks", "2", "--scale-d", "1"], "TW0615")):
            with self.subTest(words):
                result = self.run_it("gemm", *self.words, "-o", "d.npy", *words, status=2)
                self.assertIn(code, result.stderr)

    def test_a_plan_has_the_time_of_each_path(self):
        plan = ["plan", "8192", "8192", "4096", "--ranks", "4"]
        for op in ("all-gather", "reduce-scatter", "all-reduce"):
            record = json.loads(self.run_it(*plan, "--op", op, "--json").stdout)
            times = {p["path"]: p["us"] for p in record["paths"]}
            self.assertAlmostEqual(times["serial"], record["gemm_us"] + record["nccl_us"])
            self.assertEqual(record["addition_us"] > 0, op != "all-gather")
            self.assertAlmostEqual(times["pieces"], record["later_us"] + max(
                4 * record["shard_us"], record["exchange_us"] + record["shard_us"]))
            times.pop("gated", None)  # chosen if it is named or measured
            self.assertEqual(times[record["chosen"]], min(times.values()))
            text = self.run_it(*plan, "--op", op).stdout
            self.assertIn("<- chosen", text)
            self.assertEqual({p["measured_us"] for p in record["paths"]}, {None})
            self.assertIn("GEMM of 2048 rows from 0", " ".join(record["steps"]) + text)
        far = json.loads(self.run_it(*plan, "--no-p2p", "--json").stdout)
        self.assertEqual(([p["path"] for p in far["paths"]], far["chosen"]),
                         (["serial"], "serial"))
        self.assertIn("NCCL gathers", far["steps"][0])
        self.assertIsNone(far["paths"][0]["us"])
        self.assertRegex(self.run_it(*plan, "--no-p2p").stdout,
                         r"serial +unknown +- +NCCL +<- chosen(.|\n)*no P2P")
        hosts = self.run_it(*plan, "--hosts", "2").stdout
        self.assertIn("On paper", hosts)
        self.assertIn("TW0903", self.run_it(*plan, "--hosts", "3", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
