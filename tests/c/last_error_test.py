# SPDX-License-Identifier: Apache-2.0
"""last_error_test.py  A call of the C library leaves the caller's last CUDA error as it was: the
library is linked with the CUDA runtime of python/tests/no_gpu, which needs no GPU."""
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = os.environ["TW_BINARY_DIR"], os.environ["TW_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "python"))
import portable  # noqa: E402  pylint: disable=wrong-import-position


class LastError(unittest.TestCase):
    maxDiff = None

    def test_the_callers_error_stays(self):
        link = portable.link_of_library(BUILD)
        runtime = [x for x in link if x.endswith("libcudart_static.a")]
        if not runtime:
            self.skipTest("a build without CUDA")
        cuda = os.path.join(os.path.dirname(os.environ["TW_NVCC"]), "../include")
        compile_c = ["gcc", "-O1", "-fPIC", f"-I{cuda}", f"-I{SOURCE}/include"]
        with tempfile.TemporaryDirectory() as folder:
            stand_in, library, program = (os.path.join(folder, x) for x in
                                          ("runtime.o", "libtilewright.so.0", "last_error"))
            words = [stand_in if x in runtime else x for x in link if x != "-Wl,-z,defs"]
            words[words.index("-o") + 1] = library
            # The program and the library share the runtime's functions.
            words = [x for x in words if not x.startswith("-Wl,--version-script=")]
            words = [x for x in words if x != "-Wl,--exclude-libs,ALL"]
            for command in (
                    [*compile_c, "-fvisibility=hidden", "-c",
                     f"{SOURCE}/python/tests/no_gpu/cuda_runtime.c", "-o", stand_in],
                    words,
                    [*compile_c, f"{SOURCE}/tests/c/last_error.c", library,
                     "-Wl,-z,lazy,--unresolved-symbols=ignore-all", f"-Wl,-rpath,{folder}",
                     "-o", program]):
                subprocess.run(command, cwd=BUILD, check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=False,
                                  env={**os.environ, "TILEWRIGHT_TUNE": "off"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0 failures\n", ""))


if __name__ == "__main__":
    unittest.main()
