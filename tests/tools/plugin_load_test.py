#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plugin_load_test.py  Whatever a plugin does while it is loaded, check answers with a code and
status 2: constructors and entries that crash, throw, exit or do not return; damaged files."""
import json
import os
import random
import subprocess
import tempfile
import unittest

COMMAND = os.environ["TW_COMMAND"]
ENTRY = 'extern "C" void const* tilewright_plugin()'
FAILURES = {
    "abort": ("std::abort();", "an abort, as of a failed assertion"),
    "null": ("int* p = nullptr; asm(\"\" : \"+r\"(p)); *p = 1;",
             "an access of an address that is not mapped"),
    "divide": ("int zero = 0; asm(\"\" : \"+r\"(zero)); asm volatile(\"\" : : \"r\"(7 / zero));",
               "a division of integers by zero"),
    "throw": ("throw std::runtime_error(\"no table\");", "an exception: no table"),
    "throw-int": ("throw 5;", "an exception that is no std::exception"),
    "exit": ("std::exit(0);", "a call of exit(), which ends the process"),
    "loop": ("for (int i = 0;; ++i) asm volatile(\"\" : \"+r\"(i));",
             "more processor time than the limit"),
}


def build(folder, name, text):
    source, library = os.path.join(folder, name + ".cpp"), os.path.join(folder, name + ".so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <cstdlib>\n#include <stdexcept>\n" + text)
    subprocess.run(["g++", "-std=c++20", "-O1", "-w", "-shared", "-fPIC", source, "-o", library],
                   check=True)
    return library


def check(path):
    return subprocess.run([COMMAND, "check", path, "--json", "--timeout", "1"],
                          capture_output=True, text=True, check=False, timeout=1800)


class PluginLoad(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, path, code, got):
        done = check(path)
        self.assertEqual(done.returncode, 2, (path, done))
        error = json.loads(done.stdout)["error"]
        self.assertEqual((error["code"], error["got"]), (code, got))
        self.assertIn(f"tilewright: {code}: plugin {path}", done.stderr)

    def test_constructors_that_fail(self):
        for name, (body, got) in FAILURES.items():
            if name == "throw-int" or name == "throw":  # std::terminate: nothing is there to catch
                got = FAILURES["abort"][1]
            text = f"static int init() {{ {body} return 1; }}\nint value = init();\n"
            library = build(self.folder.name, "constructor-" + name,
                            text + ENTRY + " { return nullptr; }\n")
            with self.subTest(name):
                self.refused(library, "TW0640", got)

    def test_entries_that_fail(self):
        for name, (body, got) in FAILURES.items():
            library = build(self.folder.name, "entry-" + name,
                            ENTRY + f" {{ {body} return nullptr; }}\n")
            with self.subTest(name):
                self.refused(library, "TW0640", got)

    def test_destructors_that_fail(self):
        # One library is unloaded by dlclose; the other stays until the process ends, because it has
        # a variable that g++ makes unique in the process.
        unique = ("template <class T> struct one { static int x; };\n"
                  "template <class T> int one<T>::x = 3;\nint* y = &one<int>::x;\n")
        for name, extra in (("plain", ""), ("unique", unique)):
            for failure in ("abort", "null"):
                body, got = FAILURES[failure]
                library = build(self.folder.name, f"destructor-{name}-{failure}", extra +
                                f"struct last {{ ~last() {{ {body} }} }} value;\n" + ENTRY +
                                " { static int face[8] = {99}; return face; }\n")
                with self.subTest(name=name, failure=failure):
                    self.refused(library, "TW0640", got + ", when it is unloaded")

    def test_a_list_of_kernels_at_a_wild_address(self):
        library = build(self.folder.name, "wild",
                        ENTRY + " { return reinterpret_cast<void*>(64); }\n")
        self.refused(library, "TW0640", FAILURES["null"][1])

    def test_damaged_files(self):
        library = build(self.folder.name, "whole", "int table[70000] = {1};\n" + ENTRY +
                        " { static int face[8] = {99}; return face; }\n")
        with open(library, "rb") as file:
            whole = file.read()
        self.assertEqual(check(library).returncode, 2)
        seed = 29
        print(f"seed {seed}")
        rng = random.Random(seed)
        for i in range(60):
            data = bytearray(whole)
            if i % 2 == 0:
                data = data[:rng.randrange(len(data))]
            else:
                for _ in range(8):
                    data[rng.randrange(0x400 if i % 4 == 1 else len(data))] ^= 1 << rng.randrange(8)
            path = os.path.join(self.folder.name, f"damaged{i}.so")
            with open(path, "wb") as file:
                file.write(data)
            done = check(path)
            self.assertEqual(done.returncode, 2, (i, done))
            self.assertRegex(done.stderr, "tilewright: TW06(3[123]|40): ")


if __name__ == "__main__":
    unittest.main()
