# SPDX-License-Identifier: Apache-2.0
"""dev_test.py  Every command of ./dev explains itself; what it does not know it refuses."""
import os
import re
import subprocess
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def dev(*arguments):
    return subprocess.run([os.path.join(ROOT, "dev"), *arguments], capture_output=True, text=True,
                          check=False)


class Dev(unittest.TestCase):
    def test_each_listed_command_has_help(self):
        commands = re.findall(r"^  (\w+)  +\S", dev("help").stdout, re.M)
        self.assertLessEqual({"demo", "test", "build", "gpu", "bench", "fmt"}, set(commands))
        for command in set(commands) - {"help"}:
            done = dev(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout.startswith(f"./dev {command}"), done.stdout)

    def test_unknown_is_refused_with_status_2(self):
        for arguments in (["nonsense"], ["test", "--nonsense"], ["build", "--nonsense"]):
            self.assertEqual(dev(*arguments).returncode, 2)


if __name__ == "__main__":
    unittest.main()
