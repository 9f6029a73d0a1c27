# SPDX-License-Identifier: Apache-2.0
"""doc_test.py  Statements of the layout headers about themselves are run.

Every example `operation(arguments) == result` in a comment, its arguments as on the command line,
is evaluated by `tilewright layout`. Every public function has a comment, or the text at the top of
its file names it. docs/laws.md is what gen/laws.py writes and has every operation of the corpus.
"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
COMMAND = os.environ.get("TW_COMMAND", os.path.join(ROOT, "build/bin/tilewright"))
HEADERS = sorted(glob.glob(os.path.join(ROOT, "include/tilewright/layout/*.hpp")) +
                 glob.glob(os.path.join(ROOT, "tests/law/laws*.hpp")))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def operations():
    done = subprocess.run([COMMAND, "layout", "--ops"], capture_output=True, text=True, check=True)
    return set(re.findall(r"\w+", done.stdout))


def closed(text):
    """The text up to the parenthesis that closes its first one, and what follows."""
    level = 0
    for i, c in enumerate(text):
        level += (c == "(") - (c == ")")
        if level == 0 and c == ")":
            return text[:i + 1], text[i + 1:]
    return text, ""


def examples(text, names):
    """(expression, result) of the comments; C++ (with quotes or variables) is for tests/."""
    comments = re.sub(r"==\n\s*///?\s+", "== ", text)
    for found in re.finditer(r"(?<![\w.:])(\w+)\(", comments):
        line = comments[found.start():comments.index("\n", found.start())]
        if found[1] not in names or not comments[:found.start()].rsplit("\n", 1)[-1].lstrip(
                ).startswith("//"):
            continue
        expression, rest = closed(line)
        result = re.match(r"\s*==\s*(Sw<[^>]*> o -?\d+ o \S+|[\d(_][^\s;]*|Sw<[^>]*>)", rest)
        arguments = expression[len(found[1]):]
        if result and not re.search(r'["a-zA-Z]', re.sub(r"Sw<[^>]*>|\bo\b", "", arguments)):
            yield expression, result[1].rstrip(".,;")


def count_arguments(expression):
    level, commas = 0, 0
    for c in expression:
        level += (c == "(") - (c == ")")
        commas += c == "," and level == 1
    return commas + 1


def without_comment(text):
    """Functions at the left margin that no comment mentions. Functions that
    follow each other without an empty line share the comment of the first."""
    head = text[:text.index("#pragma once")]
    public = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", text,
                    flags=re.M | re.S)
    lines = public.splitlines()
    for number, line in enumerate(lines):
        found = re.match(r"(?:TW_HD )?(?:constexpr|consteval) [\w:<>]+ (?:operator)?(\w+)\(", line)
        if not found or re.search(rf"\b{found[1]}\b", head):
            continue
        above = number - 1
        while lines[above].startswith(("template", "requires", "TW_HOST")):
            above -= 1
        if not lines[above].strip() or lines[above].startswith("namespace"):
            yield found[1]


class Documentation(unittest.TestCase):
    def test_examples_are_true(self):
        names = operations()
        found = {(os.path.basename(path), *example) for path in HEADERS
                 for example in examples(read(path), names)}
        self.assertGreater(len(found), 94)
        for name, expression, result in sorted(found):
            # One function in C++, two operations: with and without strides.
            if re.match(r"(idx2crd|crd2idx)\(", expression) and count_arguments(expression) == 3:
                expression = expression.replace("(", "3(", 1)
            done = subprocess.run([COMMAND, "layout", expression], capture_output=True, text=True,
                                  check=False)
            with self.subTest(header=name, expression=expression):
                self.assertEqual(done.returncode, 0, done.stderr)
                # A part is printed with the place where it begins in front.
                shown = re.sub(r"^(-?\d+|\([-\d,()]*\)) o ", "", done.stdout.splitlines()[0])
                self.assertEqual(shown, result)

    def test_public_functions_have_comments(self):
        bare = {f"{os.path.basename(path)}: {name}" for path in HEADERS
                if "/rules.hpp" not in path for name in without_comment(read(path))}
        self.assertEqual(sorted(bare), [])

    def test_titles_state_law_needs_and_example(self):
        for path in HEADERS:
            card = read(path).split("#pragma once")[0]
            with self.subTest(header=os.path.basename(path)):
                self.assertRegex(card, r"Example:|Ensures:|Law:|essay|law")

    def test_laws_page(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "gen/laws.py"), "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = set(re.findall(r"^\| `(\w+)`", read(os.path.join(ROOT, "docs/laws.md")), re.M))
        with gzip.open(os.path.join(ROOT, "tests/conform/layouts.jsonl.gz"), "rt") as file:
            corpus = {json.loads(line)["op"] for line in file}
        self.assertEqual(corpus - page, set(), "operations without a law")


if __name__ == "__main__":
    unittest.main()
