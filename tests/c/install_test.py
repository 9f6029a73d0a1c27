# SPDX-License-Identifier: Apache-2.0
"""install_test.py  A program in C finds the installed C library by pkg-config and by find_package,
without the packages that the C++ library needs."""
import os
import subprocess
import tempfile
import unittest

BUILD, SOURCE = os.environ["TW_BINARY_DIR"], os.environ["TW_SOURCE_DIR"]
EXAMPLE = os.path.join(SOURCE, "examples/c")


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            cache = file.read()
        if "TW_SANITIZE:STRING=\n" not in cache or "TW_INSTALL:BOOL=ON" not in cache:
            raise unittest.SkipTest("a build with a sanitizer, or without an install tree")
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        for component in ("library", "development"):
            run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_pkg_config(self):
        folder = os.path.join(self.prefix, "lib")
        program = os.path.join(self.folder.name, "by_pkg_config")
        pc = [os.path.dirname(os.path.join(where, name)) for where, _, names in os.walk(folder)
              for name in names if name == "tilewright-c.pc"]
        flags = run("pkg-config", "--cflags", "--libs", "tilewright-c",
                    PKG_CONFIG_PATH=pc[0]).split()
        self.assertEqual([f for f in flags if f.startswith("-l")], ["-ltilewright_c"])
        run("gcc", "-std=c99", os.path.join(EXAMPLE, "gemm.c"), *flags, "-o", program)
        said = run(program, LD_LIBRARY_PATH=os.path.dirname(pc[0]), TILEWRIGHT_TUNE="off")
        self.assertIn("d[99][69] = 48", said)
        self.assertIn("TW0616", said)

    def test_find_package_of_a_project_in_c(self):
        build = os.path.join(self.folder.name, "build")
        run("cmake", "-S", EXAMPLE, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertIn("d[99][69] = 48", run(os.path.join(build, "gemm"), TILEWRIGHT_TUNE="off"))
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            self.assertNotRegex(file.read(), "(?i)fmt_DIR|spdlog_DIR|boost_|sqlite|CXX_COMPILER:")


if __name__ == "__main__":
    unittest.main()
