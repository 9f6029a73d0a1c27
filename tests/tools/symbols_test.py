#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols_test.py  The command needs no function of the C library whose version is newer than the
others: with one such function the program does not start on an older system. hypot has a new
version in glibc 2.35."""
import os
import unittest

COMMAND = os.environ["TW_COMMAND"]
TOO_NEW = [b"hypot", b"hypotf"]


class Symbols(unittest.TestCase):
    def test_no_function_has_a_separate_version(self):
        with open(COMMAND, "rb") as file:
            names = set(file.read().split(b"\0"))
        self.assertIn(b"malloc", names)  # names of functions are there
        for name in TOO_NEW:
            self.assertNotIn(name, names)


if __name__ == "__main__":
    unittest.main()
