#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interpreter_test.py  Free-threaded Python is refused before anything is compiled.

The tests do not use it either. A variable of sysconfig stands for it."""
import os
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.path.join(os.environ["TW_SOURCE_DIR"], "python")
FREE_THREADED = """
import sysconfig, sys
of_here = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else of_here(name)
"""


def run(code, here=""):
    return subprocess.run([sys.executable, "-B", "-c", here + code], capture_output=True, text=True,
                          cwd=PYTHON, check=False)


class Interpreters(unittest.TestCase):
    def test_the_backend_refuses(self):
        with tempfile.TemporaryDirectory() as folder:
            for call in (f"prepare_metadata_for_build_wheel({folder!r})",
                         f"build_wheel({folder!r})"):
                done = run(f"import backend; backend.{call}", FREE_THREADED)
                self.assertEqual(done.returncode, 1)
                self.assertIn("free-threaded Python", done.stderr)
                self.assertNotIn("Traceback", done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_no_environment_of_it(self):
        self.assertEqual(run("import environment; exec(environment.FIT)", FREE_THREADED).returncode,
                         1)

    def test_this_one_is_taken(self):
        self.assertEqual(run("import build; build.check_interpreter()").returncode, 0)


if __name__ == "__main__":
    unittest.main()
