#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sentences.py  The rule "sentences" of lint.py: five forms of sentences that make a reader search
are counted in the prose of each folder, and no count exceeds that of gen/sentences.txt.

--list PREFIX   prints the places in the files whose paths begin so
--accept        writes the counts of the tree into gen/sentences.txt; a count may only fall
"""
import argparse
import collections
import os
import re

import words  # gen/words.py

TABLE = "gen/sentences.txt"
NOUNS = r"blocks?|rows?|columns?|tensors?|tiles?|kernels?|operands?"
FORMS = {
    # "those of K", "so many rows", "such a launch": repeat the noun
    "pro-form": re.compile(r"\b(those|that) of\b|\bsuch\b(?! as)|\b(so|as) many\b|\bthe others\b|"
                           r"\b(of|with|for|in) the same\b(?! \w)|\bThe same\b"),
    # "where it is none": if; "scales of blocks": block scales; "beside": next to, besides
    "where, of, beside": re.compile(
        r"\bwhere (it|they|there|that|this|one|none|no|nothing|a|an|the|its|their)\b|"
        rf"\bscales of (single )?({NOUNS})\b|\bbeside\b", re.I),
    # "is no operand": is not an operand
    "is no": re.compile(r"\b(is|are|was|were|has|have|had) no\b(?! longer)", re.I),
    # "what its gate multiplies": a noun
    "what": re.compile(r"\bwhat (?!to\b|is wrong\b)\w+(?![^.?!]*\?)"),
    # "Of a combination it composes ...", ", for it has none": subject first; because
    "inverted": re.compile(r"(^\W*|[.;:] )Of (an?|the|each|its|these|which|two|all)\b[^,.]*"
                           r"\b(it|is|are|has|have)\b|"
                           r", for (it|they|the|an?|its|their|there|that|no|each|else) "
                           r"(\w+ )?(is|are|has|have|does|would|must|may|can)\b"),
}
SKIPPED = ("docs/decisions/", "tests/golden/", "gen/sentences", "gen/words", "tests/lint/")


def folder_of(path):
    """The folder whose count a file belongs to: include/tilewright/arch, src/emu, docs, ..."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:3 if parts[:1] == ["include"] else 2]) or "."


def found_in(f):
    """(line, form, text) of one file (lint.SourceFile)."""
    if f.generated or f.path.startswith(SKIPPED):
        return
    for number, line, _ in words.prose(f.path, f.text):
        plain = words.NAME.sub(" ", line)
        for form, pattern in FORMS.items():
            for found in pattern.finditer(plain):
                yield number, form, found[0].strip()


def counts(files):
    return collections.Counter(folder_of(f.path) for f in files for _ in found_in(f))


def accepted(files):
    """{folder: count} of the tree's table; without it every folder has 0."""
    table = [f for f in files if f.path == TABLE]
    rows = [line.split() for line in table[0].lines if not line.startswith("#")] if table else []
    return {folder: int(count) for count, folder in rows}


def check_sentences(files):
    """Complaints about folders with more of the five forms than the table accepts."""
    table, first = accepted(files), {}
    for f in files:
        first.setdefault(folder_of(f.path), f.path)
    for folder, count in sorted(counts(files).items()):
        if count > table.get(folder, 0):
            yield first[folder], 1, (
                f"{count} sentences of the five forms in {folder}, at most "
                f"{table.get(folder, 0)}: see gen/sentences.py --list {folder}")


def main():
    import lint  # pylint: disable=import-outside-toplevel
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", metavar="PREFIX", help="prints the places below a path")
    parser.add_argument("--accept", action="store_true", help="writes gen/sentences.txt")
    options = parser.parse_args()
    root = os.path.dirname(words.HERE)
    files = [lint.SourceFile(root, p) for p in lint.list_files(root) if lint.is_text(root, p)]
    if options.list is not None:
        for f in files:
            if f.path.startswith(options.list):
                for number, form, text in found_in(f):
                    print(f"{f.path}:{number}: {form}: {text}")
        return
    total, table = counts(files), accepted(files)
    for folder in sorted({*total, *table}):
        print(f"{total[folder]:5} of {table.get(folder, 0):5}  {folder}")
    forms = collections.Counter(form for f in files for _, form, _ in found_in(f))
    print(f"{sum(total.values()):5} of {sum(table.values()):5}  in all:",
          ", ".join(f"{form} {count}" for form, count in forms.most_common()))
    if options.accept:
        with open(os.path.join(root, TABLE), "w", encoding="utf-8") as file:
            file.write("# Accepted counts of the five forms of sentences that gen/sentences.py "
                       "finds in each folder.\n# A count may only fall: gen/sentences.py --accept "
                       "writes this table.\n")
            for folder, count in sorted(total.items()):
                file.write(f"{count:5} {folder}\n")


if __name__ == "__main__":
    main()
