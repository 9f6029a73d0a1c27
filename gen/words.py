# SPDX-License-Identifier: Apache-2.0
"""words.py  The rule "terms" of lint.py: prose uses the terms of the field (gen/words.txt).

Prose is Markdown outside of code, and the comments, docstrings, string literals and names
of tests in sources.
"""
import io
import os
import re
import tokenize

HERE = os.path.dirname(os.path.abspath(__file__))
# The layout algebra and error bounds have products of another kind; `pitch` is the name of a
# member there and of TMA's parameters.
LAYOUT_ALGEBRA = re.compile(
    r"(include/tilewright|src|tests)/(layout|law|fuzz|conform|tensor)/|"
    r"tools/(command/layout|report/layout|picture)|"
    r"(include/tilewright|src)/problem/\w*(bound|outcomes)|tests/problem/|"
    r"docs/(layouts|laws|pictures)\.md|docs/errors/TW01|tests/tools/data/")
CPP_PROSE = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|'
    r'/\*(?:.|\n)*?\*/')
CODE_SPAN = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>\s]+>|\{[^{}]*\}")
ONE_WORD = re.compile(r"[\"']\w+[\"']")  # a key or an option, not prose
# Names in prose: a word with an underscore, ::, a call, a member access or a file suffix.
NAME = re.compile(r"(?<![\w-])--?[a-z][\w-]*|\w*(::|->)\w+|\w+\(\)|\b\w*_\w*\b|"
                  r"\b[\w/-]+\.(hpp|cpp|cu|py|md|json|txt)\b")


class Term:
    def __init__(self, line):
        pattern, self.use, allowed, where = (part.strip() for part in line.split(" | "))
        self.pattern = re.compile(pattern, re.I)
        self.allowed = None if allowed == "-" else re.compile(allowed, re.I)
        self.only_text = where == "text"
        self.names = "_" in pattern  # a term that is part of a name: names are not removed first


def read_list(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


TERMS = [Term(line) for line in read_list("words.txt")]
PENDING = tuple(read_list("words_pending.txt"))  # paths that are not clean yet


def markdown_prose(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, CODE_SPAN.sub(" ", line), True


TEST_NAME = re.compile(r"^(?:TEST\w*|TYPED_TEST\w*)\(\s*\w+,\s*(\w+)\)", re.M)


def test_names(text, names):
    """Names of tests as sentences: names_like_this and NamesLikeThis."""
    for found in names.finditer(text):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", found[1].replace("_", " "))
        yield text.count("\n", 0, found.start(1)) + 1, words, False


def cpp_prose(text):
    yield from test_names(text, TEST_NAME)
    for found in CPP_PROSE.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        is_text = found[0][0] in "R\""
        if ONE_WORD.fullmatch(found[0]):
            continue
        if is_text and text.rfind("#include", text.rfind("\n", 0, found.start()) + 1,
                                  found.start()) >= 0:
            continue
        for offset, line in enumerate(found[0].split("\n")):
            yield first + offset, CODE_SPAN.sub(" ", line), is_text


def python_prose(text):
    yield from test_names(text, re.compile(r"^ *def (test_\w+)\(", re.M))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return
    for token in tokens:
        if token.type in (tokenize.COMMENT, tokenize.STRING) and \
                not ONE_WORD.fullmatch(token.string):
            for offset, line in enumerate(token.string.split("\n")):
                is_text = token.type == tokenize.STRING
                yield token.start[0] + offset, CODE_SPAN.sub(" ", line), is_text


def script_prose(text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(r"(^|\s)#(.*)", line):
            yield number, CODE_SPAN.sub(" ", found[2]), False


def prose(path, text):
    """(line, text, whether a user reads it) of everything in a file that is prose."""
    if path.endswith(".md"):
        return markdown_prose(text)
    if path.endswith((".hpp", ".cpp", ".cu", ".cuh", ".h", ".def")):
        return cpp_prose(text)
    if path.endswith(".py"):
        return python_prose(text)
    if path.endswith((".cmake", ".sh", "CMakeLists.txt")) or path in ("dev", ".ci/run"):
        return script_prose(text)
    return ()


VENDORED = ("include/tilewright/dlpack.h",)  # text of another project


def check_terms(f):
    """Complaints about one file (lint.SourceFile), unless its path is pending."""
    if not f.path.startswith(PENDING) and f.path not in VENDORED:
        yield from terms_of(f)


def terms_of(f):
    if f.generated:
        return
    for number, line, is_text in prose(f.path, f.text):
        plain = NAME.sub(" ", line)
        for term in TERMS:
            if term.only_text and not is_text:
                continue
            if term.pattern.pattern.startswith(r"\bp") and LAYOUT_ALGEBRA.match(f.path):
                continue
            shown = line if term.names else plain
            found = term.pattern.search(shown)
            if found and not (term.allowed and term.allowed.search(shown)):
                yield number, f"'{found[0]}': use {term.use}"


def main():
    """Counts by folder, for those who clean up."""
    import collections  # pylint: disable=import-outside-toplevel
    import sys  # pylint: disable=import-outside-toplevel
    import lint  # pylint: disable=import-outside-toplevel
    root = os.path.dirname(HERE)
    count = collections.Counter()
    for path in lint.list_files(root):
        if not lint.is_text(root, path) or (len(sys.argv) > 1 and not path.startswith(sys.argv[1])):
            continue
        for number, text in terms_of(lint.SourceFile(root, path)):
            if len(sys.argv) > 1:
                print(f"{path}:{number}: {text}")
            parts = path.split("/")
            count["/".join(parts[:3 if parts[0] == "include" else 2])] += 1
    for folder, number in sorted(count.items()):
        print(f"{number:5} {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
