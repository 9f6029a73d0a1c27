# SPDX-License-Identifier: Apache-2.0
"""fail_test.py  Code that must not compile does not, and the compiler's text says why.

Each tests/fail/*.cpp has the cases of a group of headers. A case is a namespace with two halves:
without TW_FAIL it compiles, with TW_FAIL it must not, and the compiler's output must hold every
text named by a comment of the case:
    // case NAME
    // expect-error: TEXT        in both compilers; the first one stands in the first error
    // expect-error(g++): TEXT   in that one only (g++ or nvcc)
    // expect-no: TEXT           nowhere in the output
    // max lines(nvcc): 14       lines of output, empty ones aside, where MAX_LINES do not suffice
    // compilers: nvcc           only there; the default is g++ and, with TW_EFFORT=full, nvcc
    // bad target: 90            nvcc's target of the bad half, instead of 90a
    // bad standard: 17          C++ standard of the bad half, instead of 20
    namespace NAME {
The output must name a line of the case itself: the user's. A list of errors does not help: at most
MAX_LINES lines. Every rule of the headers has a case (test_every_rule_has_a_case).

Without TW_EFFORT=full the headers of all cases are precompiled for g++, whose time is spent in
them: a case then sees them all.

g++ shows each call between the user's line and the rule in one line, nvcc in three: that is where
the longer outputs come from. `fail_test.py --table` prints the lines of each case.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "../../include")
FULL = os.environ.get("TW_EFFORT") == "full" or "--table" in sys.argv
NVCC = FULL and (os.environ.get("TW_NVCC") or shutil.which("nvcc"))
COMMANDS = {"g++": ["g++", "-std=c++20", "-fsyntax-only", "-I" + INCLUDE]}
if NVCC:
    COMMANDS["nvcc"] = [NVCC, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a",
                        "-I" + INCLUDE, "-x", "cu", "--ptx"]
PRECOMPILED = {}  # of a compiler: words that let it read headers that are compiled
MAX_LINES = 10
BATCH = 16  # cases that nvcc compiles as one source; it stops at 100 errors
ERROR = re.compile(r"\berror\b(?: #?\d*)?:|: catastrophic error")


class Case:
    """One case and what it expects of one compiler."""

    def __init__(self, path, text, first, compiler):
        self.path, self.compiler = path, compiler
        self.head = [(i + 1, line) for i, line in enumerate(text)
                     if line.startswith(("#include", "using namespace"))]
        end = next((i for i in range(first + 1, len(text)) if text[i].startswith("// case ")),
                   len(text))
        self.first, self.lines = first, text[first:end]
        self.name = self.lines[0].removeprefix("// case ")
        of_case = "\n".join(self.lines)
        assert f"\nnamespace {self.name} {{" in of_case, f"{path}: no namespace {self.name}"
        which = rf"(?:\({re.escape(compiler)}\))?"
        self.expected = [e.strip() for e in
                         re.findall(rf"^// expect-error{which}: (.*)$", of_case, re.M)]
        self.absent = re.findall(r"^// expect-no: (.*)$", of_case, re.M)
        only = re.search(r"^// compilers: (.*)$", of_case, re.M)
        self.applies = not only or compiler in only[1].split()
        longest = re.search(rf"^// max lines\({re.escape(compiler)}\): (\d+)", of_case, re.M)
        self.max_lines = int(longest[1]) if longest else MAX_LINES
        target = re.search(r"^// bad target: (\w+)$", of_case, re.M)
        self.target = target[1] if target else "90a"
        standard = re.search(r"^// bad standard: (\w+)$", of_case, re.M)
        self.standard = standard[1] if standard else "20"

    def names_a_line(self, output, or_head=False):
        """Does the output name a line of the case, or of the includes of its file?"""
        path = re.escape(self.path)
        lines = [int(a or b) for a, b in
                 re.findall(rf"{path}[:(](\d+)|line (\d+) of \S*{path}", output)]
        head = [line for line, _ in self.head if or_head]
        return any(self.first < line <= self.first + len(self.lines) or line in head
                   for line in lines)

    def is_usual(self):
        """Is its bad half compiled as the good ones are?"""
        return (self.target, self.standard) == ("90a", "20")

    def bad_output(self, precompiled=()):
        """(status, output) of the half that must not compile."""
        command = [re.sub("90a", self.target, word).replace("c++20", "c++" + self.standard)
                   for word in COMMANDS[self.compiler]]
        return compiled(command + ["-DTW_FAIL", *precompiled], [self])

    def check(self):
        """None, or what is wrong. With the headers of all cases an output can be longer: a case
        that fails with them is compiled with its own."""
        words = PRECOMPILED.get(self.compiler)
        if words and self.is_usual() and not self.fault_of(*self.bad_output(words)):
            return None
        return self.fault_of(*self.bad_output())

    def fault_of(self, status, output):
        """None, or what is wrong with the output for the bad half."""
        if not self.expected:
            return "expects no text"
        if status == 0:
            return "the bad half compiles"
        for wanted in self.expected:
            if wanted not in output:
                return f"'{wanted}' is not in:\n{output}"
        for unwanted in self.absent:
            if unwanted in output:
                return f"'{unwanted}' is in:\n{output}"
        errors = [found.start() for found in ERROR.finditer(output)] + [len(output)] * 2
        if self.expected[0] not in output[:errors[1]]:
            return f"the first error is not '{self.expected[0]}':\n{output}"
        if not self.names_a_line(output, or_head=self.target != "90a" or self.standard != "20"):
            return f"no line of {self.name} is named in:\n{output}"
        if (lines := count_lines(output)) > self.max_lines:
            return f"{lines} lines, at most {self.max_lines}:\n{output}"
        return None


def run(command):
    """Status and diagnostics. Outputs go to a temporary folder, never to a device file."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stderr


def count_lines(output):
    return sum(1 for line in output.splitlines() if line.strip())


def cases_of(path, compiler):
    with open(path, encoding="utf-8") as file:
        text = file.read().splitlines()
    return [Case(path, text, first, compiler) for first, line in enumerate(text)
            if line.startswith("// case ")]


def cases():
    return [case for path in sorted(glob.glob(os.path.join(HERE, "*.cpp")))
            for compiler in COMMANDS for case in cases_of(path, compiler) if case.applies]


def precompile(folder):
    """Lets g++ read the headers of all cases from a file of the folder."""
    headers = os.path.join(folder, "headers.hpp")
    with open(headers, "w", encoding="utf-8") as file:
        file.write("#pragma once\n" + "\n".join(sorted(
            {line for case in cases() for _, line in case.head if line.startswith("#include")})))
    command = [word for word in COMMANDS["g++"] if word != "-fsyntax-only"]
    status, output = run(command + ["-x", "c++-header", headers, "-o", headers + ".gch"])
    if status:
        raise RuntimeError(output)
    PRECOMPILED["g++"] = ["-include", headers]


def compiled(command, of_one_compiler):
    """Status and output of one source of these cases."""
    head = {line: f'#line {number} "{case.path}"\n{line}' for case in of_one_compiler
            for number, line in case.head}
    text = "\n".join([head[line] for line in sorted(head, key=lambda h: h.startswith("using"))] +
                     [line for case in of_one_compiler
                      for line in (f'#line {case.first + 1} "{case.path}"', *case.lines)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return run(command + [path])


def check_good_halves(compiler, of_one_compiler):
    status, output = compiled(COMMANDS[compiler] + PRECOMPILED.get(compiler, []), of_one_compiler)
    return None if status == 0 else f"a good half does not compile:\n{output}"


def check_together(batch):
    """The faults of bad halves for nvcc, as [(name, None or text)]. They are one source, for nvcc
    spends its time in headers; a case whose errors are not as expected there, as if two cases need
    the same instance of a template, is compiled alone."""
    _, output = compiled(COMMANDS["nvcc"] + ["-DTW_FAIL"], batch)
    said = [""] * len(batch)
    for block in re.split(r"^(?=\S[^\n]*\(\d+\): (?:error|warning))", output, flags=re.M):
        for number, case in enumerate(batch):
            if case.names_a_line(block):
                said[number] += re.sub(r"^\d+ errors? detected.*\n", "", block, flags=re.M)
                break
    summary = "1 error detected in the compilation of one file.\n"  # the line that each has alone
    return [(case.name, case.fault_of(bool(ERROR.search(text)), text + summary) and case.check())
            for case, text in zip(batch, said)]


class MustNotCompile(unittest.TestCase):
    def test_every_case(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        if not FULL:
            precompile(folder.name)
        found = cases()
        self.assertNotEqual(found, [])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            good = {compiler: pool.submit(check_good_halves, compiler,
                                          [c for c in found if c.compiler == compiler])
                    for compiler in COMMANDS}
            together = [c for c in found if c.compiler == "nvcc" and c.is_usual()]
            batches = [pool.submit(check_together, together[first:first + BATCH])
                       for first in range(0, len(together), BATCH)]
            jobs = [(case, pool.submit(case.check)) for case in found if case not in together]
        for compiler, job in good.items():
            with self.subTest(case="good halves", compiler=compiler):
                if job.result():
                    self.fail(job.result())
        faults = [(case.name, case.compiler, job.result()) for case, job in jobs]
        faults += [(name, "nvcc", fault) for batch in batches
                   for name, fault in batch.result()]
        self.assertEqual(len(faults), len(found))
        for name, compiler, fault in faults:
            with self.subTest(case=name, compiler=compiler):
                if fault:
                    self.fail(fault)

    def test_every_rule_has_a_case(self):
        """The rules of the headers: an array type named after the rule, or a static assertion."""
        rules = {}
        for path in glob.glob(os.path.join(INCLUDE, "tilewright/**/*.hpp"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"//[^\n]*", "", file.read())
            for code in re.findall(r"\b(TW\d{4})_\w+\[|\[(TW\d{4})\]", text):
                rules.setdefault(code[0] or code[1], os.path.relpath(path, INCLUDE))
        self.assertGreater(len(rules), 30)
        expected = " ".join(text for case in cases() for text in case.expected)
        if not NVCC:  # cases that only nvcc can fail, and texts of nvcc
            for path in glob.glob(os.path.join(HERE, "*.cpp")):
                expected += " ".join(t for case in cases_of(path, "nvcc") for t in case.expected)
        missing = sorted(f"{code} ({path})" for code, path in rules.items() if code not in expected)
        self.assertEqual(missing, [], "rules without a case in tests/fail")


def print_table():
    for case in cases():
        status, output = case.bad_output()
        print(f"{case.name:32} {case.compiler:5} {count_lines(output):3} lines, "
              f"at most {case.max_lines}, status {status}")


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_table()
    else:
        unittest.main()
