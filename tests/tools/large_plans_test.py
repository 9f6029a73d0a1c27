# SPDX-License-Identifier: Apache-2.0
"""large_plans_test.py  The model against data/trials/h200.csv.gz, for GEMMs of 512 rows and more
with 8-bit operands: the kernel with the least predicted time takes little more than the fastest
measured one. Tuning tables, which name the fastest kernel for some of them, do not count."""
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["TW_SOURCE_DIR"])
COMMAND = os.environ["TW_COMMAND"]
KEY = re.compile(r"(\d+)x(\d+)x(\d+)x1 a=(e4m3|s8),T,\d+,0 b=\4,N,\d+,0 d=(\w+),T,\d+,0(.*)")
SCALES = re.compile(r" s[ab]=f32,(\d+),(\d+),")
# Their plan, a cluster of two (decision 0080), has not been measured. It is predicted to gain 12 %
# at 5008x3008x2000, whose lines begin inside of sectors, and 0.2 % at the other.
NOT_MEASURED = {f"{size} --dtype e4m3 --d bf16 --scale-a 1x128 --scale-b 128x128"
                for size in ("4096 28672 4096", "5008 3008 2000")}
WORDS = {("1", "0"): "row", ("1", "128"): "1x128", ("128", "128"): "128x128"}
SMALL_M = 512


def large_problems():
    """{words of the problem: {(kernel, shared tiles, sharers): us}}"""
    found = collections.defaultdict(dict)
    with gzip.open(ROOT / "data/trials/h200.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = KEY.fullmatch(row["problem"])
            if not key or int(key[1]) < SMALL_M:
                continue
            words = [*key.group(1, 2, 3), "--dtype", key[4], "--d", key[5]]
            for option, scale in zip(("--scale-a", "--scale-b"), SCALES.findall(key[6])):
                words += [option, WORDS[scale]]
            plan = row["kernel"], int(row["shared_tiles"]), int(row["sharers"])
            found[tuple(words)][plan] = float(row["us"])
    return found


class LargePlans(unittest.TestCase):
    def test_the_planned_kernel_is_near_the_fastest(self):
        problems, shares = large_problems(), {}
        self.assertGreaterEqual(len(problems), 50)
        for words, us in problems.items():
            run = subprocess.run(
                [COMMAND, "plan", *words, "--device", "h200", "--all-kernels", "--json", "--top",
                 "100"], capture_output=True, text=True, check=True,
                env={**os.environ, "TILEWRIGHT_TUNE": "off"})
            first = min(json.loads(run.stdout)["plans"], key=lambda plan: plan["predicted"]["us"])
            plan = first["kernel"], first["shared_tiles"], first["sharers"]
            self.assertEqual(plan not in us, " ".join(words) in NOT_MEASURED, " ".join(words))
            if plan in us:
                shares[words] = us[plan] / min(us.values())
        slow = {" ".join(w): round(s, 3) for w, s in shares.items() if s > 1.09}
        self.assertEqual(slow, {})
        mean = math.exp(sum(map(math.log, shares.values())) / len(shares))
        self.assertLess(mean, 1.011)


if __name__ == "__main__":
    unittest.main()
