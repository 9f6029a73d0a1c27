# SPDX-License-Identifier: Apache-2.0
"""tcgen05_assembly_test.py  The words of tcgen05_words.cu are the PTX instructions that they name,
and ptxas assembles them for the family of sm_100 and for sm_103a. Status 77 without nvcc."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
TARGETS = ("100f", "103a", "110a")
SCALED = ("mxf8f6f4.block_scale.block32", "mxf4.block_scale.block32",
          "mxf4nvf4.block_scale.block32", "mxf4nvf4.block_scale.block16")
LOAD = ("cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster.cta_group::2")
EXPECTED = sorted(
    [f"tcgen05.mma.cta_group::{ctas}.kind::{kind} tensor" for ctas in (1, 2) for kind in SCALED] +
    [f"tcgen05.cp.cta_group::{ctas}.4x256b{form}" for ctas in (1, 2)
     for form in ("", ".b8x16.b4x16_p64", ".b8x16.b6x16_p32")] +
    [LOAD.format(rank) for rank in range(1, 6)] +
    [f"mbarrier.{what}.relaxed.{scope}.shared::cta.b64"
     for what in ("arrive", "try_wait.parity") for scope in ("cta", "cluster")])


class Assembly(unittest.TestCase):
    def compiled(self, form, target, folder):
        done = subprocess.run(
            [NVCC, "-std=c++20", f"-arch=sm_{target}", form, "-I" + os.path.join(ROOT, "include"),
             os.path.join(HERE, "tcgen05_words.cu"), "-o", "out"],
            cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_target_assembles_them(self):
        for target in TARGETS:
            with self.subTest(target), tempfile.TemporaryDirectory() as folder:
                self.compiled("-cubin", target, folder)

    def test_they_are_the_instructions_that_they_name(self):
        with tempfile.TemporaryDirectory() as folder:
            self.compiled("-ptx", "100f", folder)
            with open(os.path.join(folder, "out"), encoding="utf-8") as file:
                found = re.findall(r"^\s*((?:tcgen05\.(?:mma|cp)|mbarrier|cp\.async\.bulk)\S*)"
                                   r"(?: \[[^]]*\], (\[)?)?", file.read(), re.M)
        self.assertEqual(sorted(name + (" tensor" if a and "mma" in name else "")
                                for name, a in found), EXPECTED)


if __name__ == "__main__":
    if not os.path.exists(NVCC):
        sys.exit(77)
    unittest.main()
