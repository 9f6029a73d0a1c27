# SPDX-License-Identifier: Apache-2.0
"""instances_test.py  gen/instances.py refuses faulty lists of kernels with their line."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "gen"))
import instances  # noqa: E402

HEAD = "tile  min_n  stages  cluster  schedule  form  epilogue  sums  bf16:bf16  representative\n"
PREFIXES = ("// sm100_", "// sm80_", "// sm90_", "// gemv_")
GOOD = "128x128  -  6  1x1  cooperative  -  -  -  tn,nn  bf16:bf16=tn\n"


class Lists(unittest.TestCase):
    def read(self, text):
        """The instances of a family sm90_gemm whose list is `text`."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "sm90_gemm"
            folder.mkdir()
            shutil.copy(ROOT / "src/family/sm90_gemm/instances.py", folder)
            (folder / "instances.txt").write_text(text, encoding="utf-8")
            return instances.read_family(folder)[1]

    def test_a_row_is_a_kernel_for_each_pair_of_majors(self):
        found = self.read(HEAD + GOOD)
        self.assertEqual([i.name for i in found], ["sm90_bf16_bf16_tn_128x128x64_1x1_s6",
                                                   "sm90_bf16_bf16_nn_128x128x64_1x1_s6"])
        self.assertEqual([i.representative for i in found], [True, False])
        self.assertEqual([i.smoke for i in found], [False, False])
        self.assertTrue(self.read(HEAD + GOOD.replace("=tn", "=tn!"))[0].smoke)

    def test_wrong_rows_are_refused_with_their_line(self):
        for wrong, words in [
                (GOOD.replace("tn,nn", "tn,tn"), "'tn,tn' is not"),
                (GOOD.replace("tn,nn", "xy"), "'xy' is not"),
                (GOOD.replace("=tn", "=tt"), "representative, but not compiled"),
                (GOOD.replace("=tn", "=zz"), "'zz' is not"),
                (GOOD.replace("cooperative", "fast"), "schedule 'fast' is not one of"),
                (GOOD.replace("128x128", "128"), "tile '128' is not"),
                (GOOD.replace("1x1", "1x1x1x1"), "cluster '1x1x1x1' is not"),
                (GOOD.replace("  6  ", "  "), "9 cells for 10 columns"),
                (GOOD + GOOD, "listed twice")]:
            with self.subTest(wrong), self.assertRaises(instances.Problem) as refused:
                self.read(HEAD + wrong)
            self.assertIn(words, str(refused.exception))
            self.assertRegex(str(refused.exception), r"instances\.txt:[23]: ")

    def test_wrong_columns_are_refused(self):
        for head in (HEAD.replace("stages", "phases"), HEAD.replace("bf16:bf16", "bf16:b16")):
            with self.subTest(head), self.assertRaises(instances.Problem):
                self.read(head + GOOD)

    def test_sources_hold_each_kernel_once(self):
        for which in instances.SETS:
            wanted = sorted(i.name for _, all_of_it in instances.read_all().values()
                            for i in all_of_it if i.in_set(which))
            for backend, suffix in (("emu", ".cpp"), ("gpu", ".cu")):
                held = [line[3:] for path, text in instances.outputs({backend: which})
                        if os.path.basename(path).startswith(backend + "_")
                        and path.endswith(suffix) and "launchers" not in path
                        for line in text.splitlines() if line.startswith(PREFIXES)]
                self.assertEqual(sorted(held), wanted)

    def test_kernels_with_a_record_are_compiled_for_tests_and_releases(self):
        recorded = {i.name for description, all_of_it in instances.read_all().values()
                    for i in all_of_it if i.name in description.PROFILED}
        for which in instances.SETS:
            for backend in ("emu", "gpu"):
                held = {line[3:] for path, text in instances.outputs({backend: which})
                        if os.path.basename(path).startswith("profiled_")
                        for line in text.splitlines() if line.startswith(PREFIXES)}
                wanted = recorded if which in ("representative", "full") else set()
                if backend == "gpu":
                    wanted = {name for name in wanted if name.startswith("sm90_")}
                with self.subTest(which, backend=backend):
                    self.assertEqual(held, wanted)

    def test_a_kernel_with_a_second_form_is_one_of_the_list(self):
        absent = "sm90_bf16_bf16_tn_1x1x64_1x1_s6"
        description, listed = instances.read_family(instances.FAMILIES / "sm90_gemm")
        for form in instances.SECOND_FORMS:
            setattr(description, form.upper(), [absent])
            with self.subTest(form), self.assertRaises(instances.Problem) as refused:
                instances.also_compiled(description, form, listed, "sm90_gemm")
            self.assertIn(absent, str(refused.exception))

    def test_sets_contain_each_other_and_the_demo_has_what_it_runs(self):
        named = {which: {i.name for _, family in instances.read_all().values() for i in family
                         if i.in_set(which)} for which in instances.SETS}
        self.assertTrue(named["demo"] < named["representative"] < named["full"])
        self.assertLess(named["smoke"], named["representative"])
        for majors in instances.MAJORS:  # demo/run.py: bf16 operands, f32 results
            self.assertIn(f"sm90_bf16_f32_{majors}_128x128x64_1x1_s6", named["demo"])

    def test_the_smoke_set_has_each_form_of_kernel(self):
        """Each family, epilogue and form of sums, A in registers, swap-AB, ping-pong, clusters."""
        families = {name: [i for i in family if i.smoke]
                    for name, (_, family) in instances.read_all().items()}
        self.assertTrue(all(families.values()), "each family has a kernel")
        texts = " ".join(i.name for family in families.values() for i in family)
        for form in ("_ops", "_gate", "_gate_aux", "_quantize", "_gate_quantize", "_p128",
                     "_scaled", "_scaled64", "_f16 ", "_pp", "_dm_", "_1x2_", "_2x1_", "_1x1x2_",
                     "sm90_s8_s32_nn", "sm90_tf32_f32_nn", "_nn_dm_", "_2cta_", "_clc", "nvfp4",
                     "mxfp8"):
            self.assertIn(form, texts + " ")

    def test_every_kernel_of_the_full_set_fits_in_shared_memory(self):
        """The sets of kernels that developers build lack most rows of the Hopper kernel. Its class
        is compiled for every row: more than 227 KiB are refused there (TW0206)."""
        _, kernels = instances.read_all()["sm90_gemm"]
        self.assertGreater(len(kernels), 1000)
        with tempfile.TemporaryDirectory() as temporary:
            source = pathlib.Path(temporary) / "fit.cpp"
            source.write_text('#include "tilewright/kernel/sm90/gemm.hpp"\nusing namespace tw;\n'
                              + "".join(f"constexpr int bytes_{n} = gemm_sm90<{i.config}>::"
                                        f"smem_bytes;  // {i.name}\n"
                                        for n, i in enumerate(kernels)), encoding="utf-8")
            compiled = subprocess.run(
                [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only",
                 f"-I{ROOT / 'include'}", source], capture_output=True, text=True, check=False)
        self.assertEqual(compiled.returncode, 0, compiled.stderr[:4000])

    def test_epilogues_come_from_their_list_and_are_documented(self):
        found = instances.read_epilogues()
        self.assertEqual(next(iter(found)), "-")  # index 0, the default of gemm_config
        page = (ROOT / "docs/epilogues.md").read_text(encoding="utf-8")
        for word, (_, suffix) in found.items():
            row = f"| `{word}` | {f'`{suffix}` ' if suffix else ''}|"
            self.assertIn(row, page)
        self.assertEqual(len(set(found.values())), len(found))

    def test_an_epilogue_that_is_not_registered_is_refused(self):
        good = (ROOT / "include/tilewright/problem/epilogue_kind.hpp").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as temporary:
            path = pathlib.Path(temporary) / "epilogue_kind.hpp"
            path.write_text(good.replace("epilogues::ops_aux,", ""), encoding="utf-8")
            with self.assertRaises(instances.Problem):
                instances.read_epilogues(path)
        with self.assertRaises(instances.Problem) as refused:
            self.read(HEAD + GOOD.replace("cooperative  -  -", "cooperative  -  toy"))
        self.assertIn("epilogue 'toy' is not one of -, ops,", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
