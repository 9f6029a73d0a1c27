# SPDX-License-Identifier: Apache-2.0
"""consumer_test.py  find_package(tilewright) against an install tree builds and runs programs."""
import os
import subprocess
import tempfile
import unittest

BUILD = os.environ["TW_BINARY_DIR"]
HERE = os.path.dirname(os.path.abspath(__file__))
PICTURE = """\
(2,4):(16,2)
   0   2   4   6
  16  18  20  22
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Consumer(unittest.TestCase):
    def test_installed_tree_is_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = os.path.join(folder, "prefix"), os.path.join(folder, "build")
            run("cmake", "--install", BUILD, "--prefix", prefix)
            run("cmake", "-S", HERE, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
            run("cmake", "--build", build)
            self.assertEqual(run(os.path.join(build, "compose")), PICTURE)
            self.assertEqual(run(os.path.join(build, "product")),
                             "100x70x50: every element is 50\n")
            self.assertIn("gemm", run(os.path.join(prefix, "bin/tilewright"), "--help"))


if __name__ == "__main__":
    unittest.main()
