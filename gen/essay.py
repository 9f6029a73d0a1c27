#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the essay that opens include/tilewright/layout/layout.hpp into docs/layouts.md.

The header owns the text; the page shows it between its two marks. `gen/essay.py --check` exits 1
if the page differs.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/layouts.md"
BEGIN, END = "<!-- essay: from layout.hpp, by gen/essay.py -->\n", "<!-- end of the essay -->\n"


def essay():
    """The header's comment as Markdown: indented lines are pictures."""
    lines = (ROOT / "include/tilewright/layout/layout.hpp").read_text().splitlines()
    body = [line[3:] for line in lines[3:lines.index("#pragma once")]]
    out, drawing = [], False
    for i, line in enumerate(body):
        inside = line.startswith("    ") or (drawing and not line and any(
            b for b in body[i:]) and next(b for b in body[i:] if b).startswith("    "))
        if inside != drawing:
            out.append("```text" if inside else "```")
            if not inside and line:
                out.append("")
        drawing = inside
        out.append(line)
    if drawing:
        out.append("```")
    text = "\n".join(out)
    return text.replace("\n\n```\n", "\n```\n").strip() + "\n"


def main():
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    new = before + BEGIN + "\n" + essay() + "\n" + END + after
    if "--check" in sys.argv:
        if new != page:
            print("docs/layouts.md: the essay differs from layout.hpp; run gen/essay.py",
                  file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
