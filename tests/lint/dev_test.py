# SPDX-License-Identifier: Apache-2.0
"""dev_test.py  Every command of ./dev explains itself; what it does not know it refuses."""
import os
import re
import subprocess
import tempfile
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
        for arguments in (["nonsense"], ["test", "--nonsense"], ["build", "--nonsense"],
                          ["sass", "--nonsense"]):
            self.assertEqual(dev(*arguments).returncode, 2)


def with_functions(names, script):
    """Runs bash code that may call these functions of ./dev, in a separate folder."""
    with open(os.path.join(ROOT, "dev"), encoding="utf-8") as file:
        text = file.read()
    found = [re.search(rf"^{name}\(\) \{{(?:[^\n]*|.*?\n)\}}$", text, re.M | re.S)[0]
             for name in names]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(["bash", "-c", "set -euo pipefail\n" + "\n".join(found) + script],
                              capture_output=True, text=True, check=False, cwd=folder)


class Functions(unittest.TestCase):
    def test_a_long_command_says_how_far_it_is(self):
        done = with_functions(["say", "watched"], """
            progress_s=0.2
            busy() { echo '[1/2] compiling'; sleep 1; return 3; }
            watched log busy || echo "status $?"
            cat log""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(done.stdout.count("dev: [1/2] compiling\n"), 2)
        self.assertTrue(done.stdout.endswith("status 3\n[1/2] compiling\n"), done.stdout)

    def test_a_folder_with_more_kernels_serves_where_fewer_are_wanted(self):
        done = with_functions(["configure"], """
            say() { :; }
            watched() { shift; }
            die() { exit 1; }
            for have in demo smoke representative full; do
              for want in demo smoke representative full; do
                mkdir -p "$have-$want"
                touch "$have-$want/build.ninja"
                printf '%s' "host $PWD  $have" >"$have-$want/dev-stamp"
                configure host "$have-$want" "$want"
                echo "$have-$want $(sed 's/.* //' "$have-$want/dev-stamp")"
              done
            done""")
        sets = ["demo", "smoke", "representative", "full"]  # each contains the one before it
        self.assertEqual(done.stdout.splitlines(), [
            f"{have}-{want} {max(have, want, key=sets.index)}" for have in sets for want in sets],
            done.stderr)

    def test_a_package_that_the_distribution_lacks_is_no_error(self):
        done = with_functions(["say", "missing_of", "want"], """
            dpkg-query() { return 1; }
            apt-cache() { return 100; }
            install_packages() { echo "installs $*"; }
            want chromium
            apt-cache() { return 0; }
            want chromium""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "dev: no package chromium here: the tests that need it are "
                                      "skipped\ninstalls chromium\n")


if __name__ == "__main__":
    unittest.main()
