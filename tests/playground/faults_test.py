#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults_test.py  The rungs of the page "Find the race", at the sizes that the page takes: each
planted fault gives its diagnosis, and each kernel without a fault is correct. The small kernels are
judged by `check --mutants`.
"""
import json
import os
import subprocess
import unittest

COMMAND = os.environ["TW_COMMAND"]


def answer_of(*words):
    run = subprocess.run([COMMAND, "playground", *words], capture_output=True, text=True,
                         timeout=600)
    return json.loads(run.stdout)


class Faults(unittest.TestCase):
    def test_each_rung_and_each_of_its_faults(self):
        rungs = [s for s in answer_of("list")["specimens"] if "rung" in s]
        faults = [s for s in rungs if s["fault"]]
        # The ladder's 11 rungs for Hopper, 2 for Blackwell and an experiment.
        self.assertGreaterEqual(len(rungs) - len(faults), 14)
        self.assertGreaterEqual(len(faults), 15)
        kernels = {s["kernel"] for s in rungs if not s["fault"]}
        for specimen in rungs:
            with self.subTest(specimen["name"]):
                self.assertIn(specimen["kernel"], kernels)
                record = answer_of("run", specimen["name"], "--no-timeline")
                found = [d["code"] for d in record["report"]["diagnoses"]]
                self.assertEqual(found[:1], specimen["codes"])
                if not specimen["fault"]:
                    self.assertEqual(record["wrong_elements"], 0)

    def test_every_kernel_of_a_fault_is_listed(self):
        specimens = answer_of("list")["specimens"]
        kernels = {s["kernel"] for s in specimens if not s["fault"]}
        self.assertEqual({s["kernel"] for s in specimens} - kernels, set())
        self.assertEqual(len({s["name"] for s in specimens}), len(specimens))


if __name__ == "__main__":
    unittest.main()
