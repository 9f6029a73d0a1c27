# SPDX-License-Identifier: Apache-2.0
"""names_test.py  Both backends of arch declare the names of arch/names.def, and nothing else."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def compare(root):
    return subprocess.run([sys.executable, "-B", os.path.join(root, "gen/check_names.py")],
                          capture_output=True, text=True, check=False)


class Names(unittest.TestCase):
    def test_backends_agree_with_the_table(self):
        done = compare(ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_name_that_one_backend_lacks_is_seen(self):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("gen", "include/tilewright/arch"):
                shutil.copytree(os.path.join(ROOT, folder), os.path.join(root, folder))
            path = os.path.join(root, "include/tilewright/arch/emu/sync.hpp")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("cta_sync", "cta_sink"))
            done = compare(root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cta_sync", done.stderr)


if __name__ == "__main__":
    unittest.main()
