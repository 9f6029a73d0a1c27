#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_options_test.py  Each option of `tilewright check PLUGIN` changes the verdict that its page
names, and no other: the kernels of tests/tools/plugin/options.cpp are correct but for one."""
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

COMMAND = os.environ["TW_COMMAND"]
PLUGIN = os.path.join(os.environ["TW_BINARY_DIR"], "plugins", "check_options.so")
# kernel: what it is reported for, with which options, and with which it is clean
KERNELS = {
    "packed": ("E0039", [], ["--no-provenance"]),
    "reader_fence": ("E0044", [], ["--proxy-on-path"]),
    "columns": ("E0041", ["--bank-conflicts"], []),
    "needs_two": ("E0001", ["--live-clusters", "1"], []),
    "no_fences": ("E0101", [], ["--tensor-fences", "acquire"]),
}


def check(*words, plugin=PLUGIN):
    return subprocess.run([COMMAND, "check", plugin, *words], capture_output=True, text=True,
                          check=False, timeout=1800)


def codes(kernel, options):
    done = check("--kernel", kernel, "--json", *options)
    found = json.loads(done.stdout)["kernels"][0]["findings"]
    return done.returncode, sorted({f["code"] for f in found})


@unittest.skipUnless(os.path.exists(PLUGIN), "built by a compiler without -fsanitize=thread")
class CheckOptions(unittest.TestCase):
    def test_an_option_changes_the_verdict_on_its_kernel(self):
        for kernel, (code, reported, clean) in KERNELS.items():
            with self.subTest(kernel):
                self.assertEqual(codes(kernel, reported), (1, [code]))
                self.assertEqual(codes(kernel, clean), (0, []))

    def test_an_option_changes_no_other_verdict(self):
        for kernel, (code, reported, clean) in KERNELS.items():
            others = [o for k, (_, r, c) in KERNELS.items() if k != kernel for o in r + c]
            with self.subTest(kernel):
                self.assertEqual(codes(kernel, reported + others), (1, [code]))

    def test_one_sm_holds_both_ctas_of_a_small_kernel(self):
        self.assertEqual(codes("needs_two", ["--sms", "1"]), (0, []))
        self.assertEqual(codes("whole_sm", ["--sms", "2"]), (0, []))
        self.assertEqual(codes("whole_sm", ["--sms", "1"]), (1, ["E0001"]))

    def test_a_run_that_starts_early_follows_the_run_before_it(self):
        self.assertEqual(codes("second_of_two", []), (0, []))
        self.assertEqual(codes("second_of_two", ["--bug", "no-wait"]), (1, ["E0046"]))

    def test_a_shape_of_zero_is_one_that_again_may_print(self):
        done = check("--kernel", "columns", "--shape", "0")
        self.assertEqual(done.returncode, 0, done)

    def test_wrong_elements_are_reported_with_their_values(self):
        text = check("--kernel", "values", "--bug", "other-bits", "--runs", "1").stdout
        for part in ("wrong elements: 300 of 9600 in this run, the first is element 7: got 6.75, "
                     "needs 7, difference 0.25", "(bits 0x40d8 and 0x40e0)", "equal bits",
                     "compare_near() allows a distance", "the largest difference is 0.25"):
            self.assertIn(part, " ".join(text.split()))
        text = check("--kernel", "values", "--bug", "too-far", "--runs", "1").stdout
        self.assertIn("got 8, needs 7, difference 1, allowed 0.6875", " ".join(text.split()))
        self.assertEqual(check("--kernel", "values", "--bug", "near", "--runs", "1").returncode, 0)

    def test_again_repeats_the_run_with_every_option(self):
        options = ["--proxy-on-path", "--no-provenance", "--bank-conflicts", "--tensor-fences",
                   "acquire", "--sms", "1", "--live-clusters", "3", "--timeout", "50"]
        for bug in ("hangs", "other-bits"):
            first = check("--kernel", "values", "--bug", bug, "--schedule", "random",
                          "--first-seed", "9", "--seeds", "1", *options)
            again = re.search(r"again: tilewright check (.*)", first.stdout)[1]
            words = shlex.split(again)
            self.assertEqual(words[0], PLUGIN)
            for option in options:
                self.assertIn(option, words)
            self.assertEqual(check(*words[1:]).stdout, first.stdout)

    def test_again_quotes_a_path_for_the_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("own kernels.so", "it's.so", "$HOME;`.so"):
                plugin = os.path.join(folder, name)
                os.symlink(PLUGIN, plugin)
                words = ["--kernel", "reader_fence", "--runs", "1"]
                first = check(*words, plugin=plugin)
                again = re.search(r"again: tilewright check (.*)", first.stdout)[1]
                with self.subTest(again):
                    self.assertEqual(shlex.split(again)[0], plugin)
                    done = subprocess.run(["sh", "-c", f'"$0" check {again}', COMMAND],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stdout), (1, first.stdout))

    def test_a_hang_of_more_ctas_than_fit_is_not_laid_on_those(self):
        for sms in ("1", "132"):
            text = check("--kernel", "values", "--bug", "hangs", "--runs", "1", "--sms", sms).stdout
            self.assertIn("barrier: ready of CTA", text)
            self.assertIn("phase 0: 1 of 1 arrivals never came", " ".join(text.split()))
            self.assertNotIn("have not started", text)

    def test_a_loop_without_end_costs_its_limit_once(self):
        done = check("--kernel", "values", "--bug", "never-ends", "--timeout", "0.3")
        self.assertIn("E0058 in 1 of 1 runs", done.stdout)
        self.assertIn("11 more runs were left out: one has reached the time limit of 0.3 s",
                      done.stdout)
        found = json.loads(check("--kernel", "values", "--bug", "never-ends", "--timeout", "0.3",
                                 "--json").stdout)["kernels"][0]
        self.assertEqual((found["runs"], found["left_out_runs"]), (1, 11))

    def test_reports_say_which_came_first(self):
        """The missing fence is reported when the copy reads, bank conflicts at the end."""
        for options, want in (
                (["--bank-conflicts"], {"E0044": (12, 12), "E0041": (12, 0)}),
                (["--bank-conflicts", "--proxy-on-path"], {"E0041": (12, 12)}),
                ([], {"E0044": (12, 12)})):
            with self.subTest(options):
                words = ("--kernel", "two_faults", *options)
                kernel = json.loads(check(*words, "--json").stdout)["kernels"][0]
                self.assertEqual((kernel["runs"], kernel["bad_runs"]), (12, 12))
                found = {f["code"]: (f["runs"], f["first_in"]) for f in kernel["findings"]}
                self.assertEqual(found, want)
                text = check(*words).stdout
                for code, (runs, first) in want.items():
                    first_in = f", the first report in {first}" if len(want) > 1 else ""
                    self.assertIn(f"{code} in {runs} of 12 runs{first_in}; again: ", text)

    def test_json_says_whether_ordinary_accesses_were_seen(self):
        kernel = json.loads(check("--kernel", "columns", "--json").stdout)["kernels"][0]
        self.assertIs(kernel["plain_accesses_seen"], True)
        self.assertNotIn("were not seen", check("--kernel", "columns").stdout)

    def test_a_timeline_of_the_first_run(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, picture = os.path.join(folder, "t.json"), os.path.join(folder, "t.svg")
            words = ("--kernel", "reader_fence", "--proxy-on-path", "--trace", trace, "--timeline",
                     picture)
            done = check(*words)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("reader_fence: 1 run", done.stdout)
            self.assertIn(f"trace    {trace}: ", done.stdout)
            self.assertIn("seed 1, eager completion", done.stdout)
            with open(trace, encoding="utf-8") as file:
                events = json.load(file)
            names = {e.get("name", "") for e in events}
            self.assertTrue(any("landed" in n for n in names), names)
            with open(picture, encoding="utf-8") as file:
                self.assertTrue(file.read().startswith("<svg"))
            done = check(*words, "--schedule", "lazy", "--first-seed", "7")  # replaced
            self.assertIn("seed 7, lazy completion", done.stdout)

    def test_a_run_with_findings_has_a_timeline_too(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "t.svg")
            done = check("--kernel", "needs_two", "--live-clusters", "1", "--timeline", picture)
            self.assertEqual(done.returncode, 1, done)
            self.assertTrue(os.path.exists(picture))

    def test_what_has_no_timeline_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "t.svg")
            for words, code in (((PLUGIN, "--timeline", picture), "TW0634"),
                                (("gemm", "--timeline", picture), "TW0630"),
                                (("--mutants", "--trace", picture), "TW0630"),
                                ((PLUGIN, "--kernel", "columns", "--timeline", picture, "--trace",
                                  picture), "TW0612"),
                                ((PLUGIN, "--kernel", "columns", "--timeline",
                                  "/no/such/folder/t.svg"), "TW0612")):
                done = subprocess.run([COMMAND, "check", *words], capture_output=True, text=True,
                                      check=False, timeout=1800)
                self.assertEqual(done.returncode, 2, (words, done))
                self.assertIn(f"tilewright: {code}: ", done.stderr)
            self.assertFalse(os.path.exists(picture))


if __name__ == "__main__":
    unittest.main()
