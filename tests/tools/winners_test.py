# SPDX-License-Identifier: Apache-2.0
"""winners_test.py  gen/winners.py: which plan a row has, and whether it starts early."""
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["TW_SOURCE_DIR"], "gen"))
sys.dont_write_bytecode = True
import winners  # noqa: E402

KERNEL = "sm90_bf16_bf16_tn_128x128x64_1x1_s6"
OTHER = "sm90_bf16_bf16_tn_64x64x64_1x1_s12"
GEMV = "gemv_bf16_bf16_4x1_u2_1x8_c2"
SIZE = {"m": 64, "n": 256, "k": 512, "batch": 1, "layout": "TN"}


def tuned(early=None, kernel=KERNEL, shared_tiles=0, sharers=0, us=7.0):
    """A shape of `tilewright tune --export`; the older ones have no starts_early."""
    fastest = {"kernel": kernel, "shared_tiles": shared_tiles, "sharers": sharers, "us": us,
               "swapped": False}
    if early is not None:
        fastest["starts_early"] = early
    return {**SIZE, "date": "2026-11-23 10:00:00", "fastest": fastest}


def rows(*shapes):
    """The rows that files of one shape each give."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{i}.json" for i in range(len(shapes))]
        for path, shape in zip(paths, shapes):
            path.write_text(json.dumps({"shapes": [shape]}), encoding="utf-8")
        return winners.rows(paths)


def early(*shapes):
    """The value of the only row: "true", "false", or nothing."""
    (row,) = rows(*shapes)
    found = re.search(r"}, (true|false)},$", row)
    return found[1] if found else None


class Winners(unittest.TestCase):
    def test_it_holds_for_the_plan_that_was_measured(self):
        self.assertEqual(early(tuned(early=True)), "true")
        self.assertIsNone(early(tuned(early=True), tuned(kernel=OTHER)))
        self.assertIsNone(early(tuned(early=True), tuned(shared_tiles=8, sharers=132)))

    def test_later_files_win_where_they_know(self):
        self.assertEqual(early(tuned(early=True), tuned(early=False)), "false")
        self.assertEqual(early(tuned(early=False), tuned(us=6.0)), "false")

    def test_a_batch_is_a_separate_problem(self):
        batch = {**tuned(early=True), "batch": 3}
        self.assertEqual(len(rows(tuned(), batch)), 2)
        self.assertIn("{64, 256, 512, 3, elem::bf16", rows(batch)[0])

    def test_plans_that_loaded_rows_of_zeros_are_left_out(self):
        old = {**tuned(), "date": "2026-11-22 14:00:00", "m": 128}
        self.assertEqual(len(rows(old)), 1)
        self.assertEqual(len(rows({**old, "m": 100})), 0)
        self.assertEqual(len(rows({**old, "n": 200})), 0)
        self.assertEqual(len(rows({**tuned(), "m": 100})), 1)
        self.assertEqual(len(rows({**old, "m": 8})), 1)
        wide = {**old, "n": 192, "fastest": {**old["fastest"], "swapped": True,
                                             "kernel": KERNEL.replace("128x128", "192x128")}}
        self.assertEqual(len(rows(wide)), 1)
        self.assertEqual(len(rows({**wide, "m": 192, "n": 128})), 0)

    def test_the_flag_stands_last(self):
        self.assertEqual(rows(tuned(early=False)), [
            '{64, 256, 512, 1, elem::bf16, elem::bf16, "TN",\n'
            ' {128, 128, 1, 1, 6, false, false}, 0, 0, 7.0, {}, false},'])
        self.assertEqual(rows(tuned(early=True, kernel=GEMV)), [
            '{64, 256, 512, 1, elem::bf16, elem::bf16, "TN",\n'
            ' {}, 0, 0, 7.0, {4, 1, 2, 1, 8, 2}, true},'])


if __name__ == "__main__":
    unittest.main()
