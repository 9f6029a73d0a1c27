# SPDX-License-Identifier: Apache-2.0
"""The element types as elem.hpp and elem_traits.hpp state them, for the generators."""
import pathlib
import re

BASE = pathlib.Path(__file__).resolve().parent.parent / "include/tilewright/base"


def bits():
    """name -> bits of each element type."""
    rows = re.findall(r'case elem::(\w+): return \{"\1", (\d+),',
                      (BASE / "elem.hpp").read_text(encoding="utf-8"))
    return {name: int(count) for name, count in rows}


def operands():
    """name -> how sums are kept, of each operand of wgmma."""
    rows = re.findall(r"case elem::(\w+):\s+return \{bits, true, \w+, (\w+),",
                      (BASE / "elem_traits.hpp").read_text(encoding="utf-8"))
    return dict(rows)
