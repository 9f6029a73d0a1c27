# SPDX-License-Identifier: Apache-2.0
"""consumer_test.py  find_package(tilewright) against an install tree builds and runs programs.

Each method is one CTest (cmake/tests.cmake). Those that compile the library once more run with
TW_EFFORT=full alone."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["TW_BINARY_DIR"]
NVCC = os.environ.get("TW_NVCC")  # of a build with device code
FULL = os.environ.get("TW_EFFORT") == "full"  # ./dev test --full
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../.."))
EXAMPLE = os.path.join(HERE, "../../examples/own_kernel")
PICTURE = """\
(2,4):(16,2)
   0   2   4   6
  16  18  20  22
"""

REVERSED = "reversed 512 values without a finding\n"
PRODUCT = "100x70x48: every element is 48\n"
FP8 = "100x256x512 in e4m3: every element is 64\n"

# The environment chooses the kernel and the behaviour of its test function.
ODD_PLUGIN = """
#include <cstdlib>
#include <string>
#include "tilewright/arch/emu/plugin.hpp"
using namespace tw::emu;
static std::string const is = std::getenv("ODD");
static volatile int zero = 0;
static void test(plugin_request const*, plugin_answer const*) {
  if (is == "wild") *reinterpret_cast<volatile int*>(16) = 1;
  if (is == "abort") std::abort();
  if (is == "divide") zero = 7 / zero;
}
static plugin_shape const shape{{8}};
static plugin_kernel const kernel{"odd", is == "five-extents" ? "A,B,C,D,E" : "N",
                                  is != "no-shapes", 0, &shape, nullptr,
                                  is == "no-test" ? nullptr : test};
static plugin const odd{plugin_abi, sizeof(statistics), 0, is != "none", &kernel};
extern "C" plugin const* tilewright_plugin() { return &odd; }
"""


def run(*command, status=0, folder=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}, not {status}:\n"
                             f"{done.stdout}\n{done.stderr}")
    return done.stdout if status != 2 else done.stderr


def states(text):
    """The checklist as {line: state}."""
    rows = re.findall(r"^  (passed|failed|not applicable) +(\S.*?)(?:  +.*)?$", text, re.M)
    return {line: state for state, line in rows}


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        cls.command = os.path.join(cls.prefix, "bin/tilewright")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build(self, source, name, *options, targets=("all",)):
        """Configures and builds a separate project; returns its build folder."""
        build = os.path.join(self.folder.name, name)
        run("cmake", "-S", source, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", *options)
        run("cmake", "--build", build, "--target", *targets)
        return build

    def test_installed_tree_is_enough(self):
        build = self.build(HERE, "consumer",
                           targets=("compose", "emulated", "fp8", "layout_alone", "product"))
        self.assertEqual(run(os.path.join(build, "compose")), PICTURE)
        self.assertEqual(run(os.path.join(build, "emulated")), REVERSED)
        self.assertEqual(run(os.path.join(build, "product")), PRODUCT)
        self.assertEqual(run(os.path.join(build, "fp8")), FP8)
        self.assertIn("TW0105", run(os.path.join(build, "layout_alone")))
        self.assertIn("gemm", run(self.command, "--help"))
        with open(os.path.join(self.prefix, "share/doc/tilewright/LICENSE"),
                  encoding="utf-8") as file:
            self.assertIn("Apache License", file.read())

    def test_layout_component_needs_no_other_package(self):
        build = self.build(HERE, "layout", "-DCONSUMES=layout",
                           targets=("compose", "layout_alone"))
        self.assertEqual(run(os.path.join(build, "compose")), PICTURE)
        self.assertIn("TW0105", run(os.path.join(build, "layout_alone")))
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            self.assertNotRegex(file.read(), "(?i)fmt_DIR|spdlog_DIR|boost_|sqlite")

    def test_pkg_config_is_enough(self):
        folder = subprocess.run(["find", self.prefix, "-name", "tilewright.pc"], text=True,
                                capture_output=True, check=True).stdout.strip()
        os.environ["PKG_CONFIG_PATH"] = os.path.dirname(folder)
        flags = run("pkg-config", "--cflags", "--libs", "tilewright").split()
        program = os.path.join(self.folder.name, "by_pkg_config")
        run("g++", "-std=c++20", os.path.join(HERE, "product.cpp"), "-o", program, *flags)
        self.assertEqual(run(program), PRODUCT)

    def test_components_are_installed_by_themselves(self):
        prefix = os.path.join(self.folder.name, "development")
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "development")
        self.assertTrue(os.path.exists(os.path.join(prefix, "include/tilewright")))
        self.assertFalse(os.path.exists(os.path.join(prefix, "bin")))

    def test_exported_targets_name_no_empty_library(self):
        for folder, _, files in os.walk(os.path.join(self.prefix, "lib/cmake")):
            for name in files:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    self.assertNotIn("$<LINK_ONLY:>", file.read(), name)

    def test_shared_libraries_export_the_names_of_headers(self):
        """cmake/exports.txt lists the names that headers declare and the archives define. Shared
        libraries of these objects export no others, and programs run with them."""
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            if re.search(r"^TW_SANITIZE:STRING=.+$", file.read(), re.M):
                self.skipTest("the program has the sanitizer's symbols")
        archives = [os.path.join(BUILD, f"libtilewright{x}.a") for x in ("_emulator", "")]
        run("python3", os.path.join(ROOT, "gen/exports.py"), "--check", *archives)
        symbols = os.path.join(self.folder.name, "exports.map")
        run("cmake", f"-DLIST={ROOT}/cmake/exports.txt", f"-DMAP={symbols}", "-P",
            os.path.join(ROOT, "cmake/exports.cmake"))
        with open(os.path.join(ROOT, "cmake/exports.txt"), encoding="utf-8") as file:
            listed = [line.split()[-1] for line in file if not line.startswith("#")]
        found = subprocess.run(["find", self.prefix, "-name", "tilewright.pc"], text=True,
                               capture_output=True, check=True).stdout.strip()
        os.environ["PKG_CONFIG_PATH"] = os.path.dirname(found)
        flags = [f for f in run("pkg-config", "--libs", "--static", "tilewright").split()
                 if not f.startswith("-ltilewright")]
        folder = os.path.join(self.folder.name, "shared")
        os.mkdir(folder)
        libraries = []
        for archive in archives:
            library = os.path.join(folder, os.path.basename(archive)[:-1] + "so")
            run("g++", "-shared", "-o", library, "-Wl,--whole-archive", archive,
                "-Wl,--no-whole-archive", "-Wl,-z,defs", f"-Wl,--version-script={symbols}",
                *libraries, *flags)
            libraries.append(library)
            names = re.findall(r"^\S+ [A-Z] (?:typeinfo for |typeinfo name for |vtable for )?"
                               r"(\S+?)(?=[(\[]|$)", run("nm", "-DC", "--defined-only", library),
                               re.M)
            self.assertGreater(len(names), 100)
            self.assertEqual([n for n in names if n not in listed], [])
        for name, output in (("product", PRODUCT), ("emulated", REVERSED), ("fp8", FP8)):
            program = os.path.join(folder, name)
            run("g++", "-std=c++20", "-I", os.path.join(self.prefix, "include"),
                os.path.join(HERE, name + ".cpp"), "-o", program, *libraries)
            self.assertEqual(run(program), output)

    @unittest.skipUnless(FULL, "compiles the library: ./dev test --full")
    def test_fetched_source_tree_is_enough(self):
        build = self.build(HERE, "fetch", "-DCONSUMES=fetch", f"-DTILEWRIGHT_SOURCE={ROOT}",
                           "-DTW_CUDA=OFF", targets=("compose",))
        self.assertEqual(run(os.path.join(build, "compose")), PICTURE)

    @unittest.skipUnless(FULL, "compiles the library: ./dev test --full")
    def test_subdirectory_as_shared_libraries_with_link_time_optimisation(self):
        build = self.build(HERE, "subdirectory", "-DCONSUMES=subdirectory",
                           f"-DTILEWRIGHT_SOURCE={ROOT}", "-DTW_CUDA=OFF",
                           "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON",
                           "-DCMAKE_POLICY_DEFAULT_CMP0069=NEW", targets=("emulated",))
        self.assertEqual(run(os.path.join(build, "emulated")), REVERSED)
        library = os.path.join(build, "tilewright/libtilewright_emulator.so")
        self.assertRegex(run("readelf", "-d", library),
                         r"soname: \[libtilewright_emulator\.so\.0\.")
        names = re.findall(r" [A-Z] (\S+)$", run("nm", "-D", "--defined-only", library), re.M)
        self.assertGreater(len(names), 100)
        self.assertEqual([n for n in names if not re.match(r"_ZT?[A-Z]*N?K?2tw", n)], [])

    def test_own_kernels_are_checked(self):
        source = os.path.join(self.folder.name, "own_kernel")
        shutil.copytree(EXAMPLE, source)
        build = self.build(source, "own", *(
            [f"-DCMAKE_CUDA_COMPILER={NVCC}"] if NVCC else ["-DOWN_KERNEL_GPU=OFF"]))
        check = lambda *words, status=0: run(self.command, "check", *words, status=status,
                                             folder=build)

        self.assertIn("tensor_gemm", check("own_tensor_gemm.so"))
        clean = check("own_gemm.so")
        self.assertIn("gemm: 36 runs, 294912 elements compared\n", clean)
        self.assertEqual(states(clean)["swizzle and major-ness of MMA operands"], "passed")
        self.assertEqual(states(clean)["cluster barriers"], "not applicable")
        self.assertNotIn("failed", states(clean).values())
        clean = check("own_transpose.so")
        self.assertEqual(states(clean)["order of accesses"], "passed")
        self.assertEqual(states(clean)["TMA coordinates"], "not applicable")

        # The page shows the printed output.
        with open(os.path.join(EXAMPLE, "README.md"), encoding="utf-8") as file:
            shown = re.findall(r"```sh\n\$PREFIX/bin/tilewright check ([^\n]*)\n```\n\n"
                               r"```\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(shown), 2)
        for words, output in shown:
            printed = run(self.command, "check", *words.split(), folder=self.folder.name,
                          status=1 if "--bug" in words else 0)
            self.assertEqual(printed, output)

        # So does the README of the project; "..." stands for lines that it leaves out.
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            (words, output), = re.findall(r"^\$ tilewright check (own/[^\n]*)\n(.*?)```",
                                          file.read(), re.S | re.M)
        printed = run(self.command, "check", *words.split(), folder=self.folder.name, status=1)
        self.assertRegex(printed, "(?s)^" + ".*".join(
            re.escape(part) for part in re.split(r"^\.\.\.\n", output, flags=re.M)))

        # Each bug by its code, its line of the checklist and the file of both accesses.
        for plugin, bug, codes, line, file in (
                ("own_gemm.so", "refill-early", ("E0027",), "order of accesses", "gemm.cpp:"),
                ("own_gemm.so", "no-fence", ("E0025",), "fence placement", "gemm.cpp:"),
                ("own_transpose.so", "no-barrier", ("E0024", "E0029"), "order of accesses",
                 "transpose.hpp:")):
            text = check(plugin, "--bug", bug, status=1)
            self.assertEqual(states(text)[line], "failed", text)
            self.assertIn(file, text)
            record = json.loads(check(plugin, "--bug", bug, "--json", status=1))
            kernel = record["kernels"][0]
            self.assertEqual(kernel["bad_runs"], kernel["runs"], "seen in every schedule")
            found = kernel["findings"]
            self.assertTrue({f["code"] for f in found} <= set(codes), found)
            self.assertEqual({l["line"] for l in kernel["checklist"] if l["state"] == "failed"},
                             {line})
            # The printed words repeat the run.
            words = re.search(r"again: tilewright check \S+ (.*)", text)[1].split()
            self.assertIn(found[0]["code"], check(plugin, *words, status=1))

        self.assertIn("2 tests", run(os.path.join(build, "own_tests")))
        if NVCC:  # the same sources for the GPU: one entry, and what ptxas made
            for plugin in ("own_gemm_gpu.so", "own_transpose_gpu.so"):
                names = run("nm", "-D", "--defined-only", os.path.join(build, plugin))
                self.assertRegex(names, r"^\S+ T tilewright_plugin\n$")
            record = os.path.join(build, "CMakeFiles/own_gemm_gpu.dir/own_gemm_gemm.cu.o")
            with open(record + ".ptxas.json", encoding="utf-8") as file:
                (kernel,) = json.load(file)["kernels"]
            self.assertEqual((kernel["target"], kernel["spill_store_bytes"]), ("sm_90a", 0))

        self.assertIn("TW0634", check("own_gemm.so", "--bug", "no-such", status=2))
        self.assertIn("M,N,K", check("own_gemm.so", "--shape", "64,64", status=2))
        self.assertIn("TW0637", check("own_gemm.so", "--shape", "64,64,63", status=2))
        self.assertIn("gemm: 4 runs", check("own_gemm.so", "--shape", "64,128,192", "--seeds", "1"))

    def test_plugins_of_other_interfaces_are_refused(self):
        for code, text in (("TW0632", "int something_else() { return 0; }"),
                           ("TW0633", 'extern "C" int* tilewright_plugin() {'
                                      " static int face[8] = {99}; return face; }")):
            source = os.path.join(self.folder.name, f"{code}.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            run("g++", "-shared", "-fPIC", source, "-o", source + ".so")
            self.assertIn(code, run(self.command, "check", source + ".so", status=2))

    def test_plugins_that_cannot_be_run_are_refused(self):
        source = os.path.join(self.folder.name, "odd.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ODD_PLUGIN)
        run("g++", "-std=c++20", "-shared", "-fPIC", "-I", os.path.join(self.prefix, "include"),
            source, "-o", source + ".so")
        hints = {}
        for case, code, words in (
                ("none", "TW0638", "no kernels"),
                ("no-shapes", "TW0638", "kernel odd has no shapes"),
                ("five-extents", "TW0638", "kernel odd has 5 extents"),
                ("no-test", "TW0638", "kernel odd has no test function"),
                ("wild", "TW0639", "an access of an address that is not mapped"),
                ("abort", "TW0639", "an abort, as of a failed assertion"),
                ("divide", "TW0639", "a division of integers by zero"),
                ("silent", "TW0637", "no element compared and no finding")):
            done = subprocess.run([self.command, "check", source + ".so", "--json"], text=True,
                                  capture_output=True, check=False, env={**os.environ, "ODD": case})
            self.assertEqual(done.returncode, 2, done)
            error = json.loads(done.stdout)["error"]
            self.assertEqual((error["code"], error["got"]), (code, words))
            self.assertIn(f"tilewright: {code}: plugin {source}.so", done.stderr)
            hints[case] = error["hint"]
        self.assertIn("--kernel odd --shape 8 --schedule eager --first-seed 1", hints["divide"])


if __name__ == "__main__":
    unittest.main()
