# SPDX-License-Identifier: Apache-2.0
"""test_notebooks.py  Each notebook of examples/notebooks runs, and its results can be shown."""
import ast
import contextlib
import glob
import io
import json
import os
import shutil

import pytest

import tilewright as tw

FOLDER = os.environ.get("TW_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "../..")
NOTEBOOKS = sorted(glob.glob(os.path.join(FOLDER, "examples/notebooks/*.ipynb")))


def shown(value):
    """The richest form of a value, which a notebook shows."""
    for name in ("_repr_html_", "_repr_svg_"):
        if hasattr(value, name):
            return getattr(value, name)()
    return repr(value)


def run(path):
    """Runs all cells in one namespace; returns the text of each."""
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    space, found = {"__name__": "__main__"}, []
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"] and cell["execution_count"] is None, "a stored output"
        tree = ast.parse("".join(cell["source"]), f"{os.path.basename(path)}[{number}]")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, path, "exec"), space)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), path, "eval"), space)
        found.append(printed.getvalue() + ("" if last is None else shown(value)))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: os.path.splitext(os.path.basename(p))[0])
def test_notebook(path):
    if "find_a_race" in path and (shutil.which("g++") is None or not os.path.exists(os.path.join(
            os.path.dirname(tw.__file__), "emulator/libemulator.a"))):
        pytest.skip("no g++, or no emulator for own kernels")
    found = run(path)
    assert any(len(text) > 10 for text in found)


def test_all_are_there():
    if not os.path.isdir(os.path.join(FOLDER, "examples")):
        pytest.skip("the notebooks are in the source tree")
    assert {os.path.splitext(os.path.basename(p))[0] for p in NOTEBOOKS} == {
        "layouts", "first_gemm", "find_a_race", "plan_a_model"}
