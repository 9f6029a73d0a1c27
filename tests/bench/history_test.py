#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""history_test.py  bench/results/history.csv says what the results beside it say."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["TW_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "gen/measured"))
import bench_history  # noqa: E402


def provider(name, us=None, same_as=None):
    found = {"provider": name}
    if us is not None:
        found["burst"] = {"us": {"median": us}}
    if same_as is not None:
        found["same_as"] = same_as
    return found


def result(shapes):
    return {"schema": bench_history.SCHEMA, "shapes": shapes, "protocol": {"mode": "burst"},
            "device": {"card": "a GPU"},
            "environment": {"date": "2026-01-02T03:04:05Z", "commit": "abc",
                            "argv": ["tilewright", "bench", "gemm", "--shapes", "a/list.json"]}}


class History(unittest.TestCase):
    def test_table_agrees_with_the_results_that_are_kept(self):
        script = os.path.join(ROOT, "gen/measured/bench_history.py")
        done = subprocess.run([sys.executable, "-B", script, "--check"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_ratio_is_a_geometric_mean_of_contender_over_ours(self):
        shapes = [{"category": "square", "providers": [provider("tilewright", 10.0),
                                                       provider("other", 20.0),
                                                       provider("best", same_as="other")]},
                  {"category": "square", "providers": [provider("tilewright", 10.0),
                                                       provider("other", 5.0)]},
                  {"category": "square", "providers": []}]  # refused: counts nowhere
        rows = bench_history.rows_of("name", result(shapes))
        self.assertEqual([(r["contender"], r["shapes"], r["ratio_mean"], r["ratio_min"],
                           r["ratio_max"]) for r in rows],
                         [("best", "1", "2.000", "2.000", "2.000"),
                          ("other", "2", "1.000", "0.500", "2.000")])
        self.assertEqual((rows[0]["shapes_file"], rows[0]["date"]), ("list.json", "2026-01-02"))

    def test_other_schemas_are_refused(self):
        with self.assertRaisesRegex(ValueError, "got schema x, need tilewright.bench.gemm/1"):
            bench_history.rows_of("name", {"schema": "x"})

    def test_a_changed_figure_is_noticed(self):
        with open(bench_history.TABLE, encoding="utf-8") as file:
            text = file.read()
        kept = next(e.split(".json")[0] for e in
                    sorted(os.listdir(bench_history.RESULTS), reverse=True) if "all-burst" in e)
        line = next(x for x in text.splitlines() if x.startswith(kept))
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
            file.write(text.replace(line, line[:-1] + ("1" if line[-1] != "1" else "2")))
        original, bench_history.TABLE = bench_history.TABLE, file.name
        try:
            self.assertEqual(len(bench_history.check()), 1)
        finally:
            bench_history.TABLE = original
            os.remove(file.name)


if __name__ == "__main__":
    unittest.main()
