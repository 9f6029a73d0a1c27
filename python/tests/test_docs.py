# SPDX-License-Identifier: Apache-2.0
"""test_docs.py  The first program of docs/python.md runs."""
import os
import re

import pytest

FOLDER = os.environ.get("TW_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "../..")


def test_the_first_program(capsys):
    path = os.path.join(FOLDER, "docs/python.md")
    if not os.path.exists(path):
        pytest.skip("the page is in the source tree")
    with open(path, encoding="utf-8") as file:
        program = re.search(r"```python\n(.*?)```", file.read(), re.S)[1]
    space = {}
    exec(program, space)
    assert space["d"].shape == (64, 128) and space["z"].shape == (64, 128)
    assert "10 2 o (4):(8) ((2,4),(2,2)):((8,1),(16,4))" in capsys.readouterr().out
