# SPDX-License-Identifier: Apache-2.0
"""ptxas_check_test.py  The compiler launcher refuses what it must, and reports what it reads."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../cmake/ptxas_check.py")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc")
sys.path.insert(0, os.path.dirname(SCRIPT))
import ptxas_check  # noqa: E402

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4finePf' for 'sm_90a'
ptxas info    : Function properties for _Z4finePf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 256 bytes smem
ptxas info    : Function properties for _Z6calleePf
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
"""


def compile_cuda(source, folder, *options, flags=()):
    output = os.path.join(folder, "out.o")
    done = subprocess.run(
        [sys.executable, "-B", SCRIPT, *options, NVCC, "-std=c++20", "-O2", "-gencode",
         "arch=compute_90a,code=sm_90a", *flags, "-c", source, "-o", output],
        capture_output=True, text=True, check=False)
    return done, output


class Reading(unittest.TestCase):
    def test_kernels_and_callees(self):
        functions, notes = ptxas_check.read_report(REPORT)
        fine, callee = functions
        self.assertEqual(notes, [])
        self.assertEqual((fine["registers"], fine["smem_bytes"], fine["spill_store_bytes"]),
                         (168, 256, 0))
        self.assertEqual((callee["kernel"], callee["spill_store_bytes"]), (False, 8))

    def test_a_kernel_for_two_targets_is_reported_twice(self):
        both = REPORT + REPORT.replace("sm_90a", "sm_80").replace("168", "90")
        kernels = [f for f in ptxas_check.read_report(both)[0] if f["kernel"]]
        self.assertEqual([(k["target"], k["registers"]) for k in kernels],
                         [("sm_90a", 168), ("sm_80", 90)])

    def test_each_forbidden_note_is_seen(self):
        for note in ("C7508", "C7510", "C7517", "C7519"):
            self.assertEqual(len(ptxas_check.read_report(f"ptxas info : ({note}) text")[1]), 1)


@unittest.skipUnless(NVCC, "no nvcc")
class Compiling(unittest.TestCase):
    def test_spills_are_refused_and_leave_no_object(self):
        with tempfile.TemporaryDirectory() as folder:
            done, output = compile_cuda(os.path.join(HERE, "spills.cu"), folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("error: ptxas spills registers in spills(float*, int)", done.stderr)
            self.assertFalse(os.path.exists(output))

    def test_spills_of_a_users_kernel_pass_and_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            done, output = compile_cuda(os.path.join(HERE, "spills.cu"), folder, "--spills-pass")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(output + ".ptxas.json", encoding="utf-8") as file:
                (kernel,) = json.load(file)["kernels"]
            self.assertGreater(kernel["spill_store_bytes"], 0)

    def test_with_warn_both_are_reported_and_the_object_stays(self):
        for source, words in (("spills.cu", "warning: ptxas spills registers in spills(float*"),
                              ("serialised.cu", "warning: ptxas could not keep a kernel")):
            with tempfile.TemporaryDirectory() as folder:
                done, output = compile_cuda(os.path.join(HERE, source), folder, "--warn")
                self.assertEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
                self.assertNotIn("error:", done.stderr)
                self.assertTrue(os.path.exists(output))

    def test_a_serialised_wgmma_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done, output = compile_cuda(os.path.join(HERE, "serialised.cu"), folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("C7517", done.stderr)
            self.assertFalse(os.path.exists(output))

    def test_a_good_kernel_passes_in_silence_with_its_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "fine.cu")
            with open(source, "w", encoding="utf-8") as file:
                file.write("__global__ void fine(float* p) { p[threadIdx.x] = 0; }\n")
            done, output = compile_cuda(source, folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            with open(output + ".ptxas.json", encoding="utf-8") as file:
                (kernel,) = json.load(file)["kernels"]
            self.assertEqual((kernel["name"], kernel["spill_store_bytes"]), ("fine(float*)", 0))

    def test_a_host_function_that_calls_a_device_function_is_refused(self):
        hardened = ("-Xcompiler=-fcf-protection,-fstack-clash-protection,"
                    "-fstack-protector-strong")  # defaults of Ubuntu's g++
        for flags in ((), (hardened,), (hardened + ",-fstack-protector-all",)):
            with self.subTest(flags=flags), tempfile.TemporaryDirectory() as folder:
                done, output = compile_cuda(os.path.join(HERE, "host_exits.cu"), folder, "--warn",
                                            flags=flags)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("error:"), 1)
                self.assertIn("error: host function wrong(int) calls a __device__ function",
                              done.stderr)
                self.assertFalse(os.path.exists(output))

    def test_an_error_of_the_compiler_is_passed_on(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "wrong.cu")
            with open(source, "w", encoding="utf-8") as file:
                file.write("__global__ void wrong() { undeclared(); }\n")
            done, _ = compile_cuda(source, folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("undeclared", done.stderr)


if __name__ == "__main__":
    unittest.main()
