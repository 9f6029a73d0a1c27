# SPDX-License-Identifier: Apache-2.0
"""layouts.py  The operations of the layout algebra as functions: layouts.composition(A, B).

Arguments are layouts, texts in their notation, integers, tuples, and None or : for the `_` of
coordinates and tilers. `help(layouts.composition)` prints the law and an example.
"""
from ._layout import Layout, apply, evaluate, layout
from ._operations import OPERATIONS

__all__ = ["Layout", "apply", "evaluate", "layout",
           *(name for name in OPERATIONS if name != "layout")]


def _function(name, text):
    def function(*arguments):
        return apply(name, *arguments)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


for _name, _help in OPERATIONS.items():
    if _name != "layout":
        globals()[_name] = _function(_name, _help)
