# SPDX-License-Identifier: Apache-2.0
"""test_types.py  The stubs: a program of a user, and the package itself. Skipped without mypy."""
import importlib.util
import os
import subprocess
import sys

import pytest

import tilewright as tw

pytest.importorskip("mypy")

PROGRAM = """
import numpy as np
import tilewright as tw
a = np.ones((4, 8), np.float16)
d = tw.gemm(a, a.T, bias=np.ones(4, np.float16), activation="gelu")
q: tw.Scaled = tw.quantize(a, "nvfp4")
us: float = tw.plan(a, a.T, device="h200").us
L: tw.Layout = tw.layout("(4,8):(8,1)")
same: bool = L.compatible((4, 8))
x: np.ndarray = np.asarray(L @ "4:2")
try:
    tw.gemm(a, a)
except tw.RefusedError as e:
    code: str = e.code
for run in tw.emu.load("own.so").runs(seeds=2):
    ok: bool = bool(run())
tw.set_log(lambda level, line: print(level + 1, line.strip()))
tw.set_interrupt(None)
"""
WRONG = """
import tilewright as tw
tw.gemm(1)
tw.plan(1, 2).uss
tw.explain(3)
tw.no_such_name
tw.set_log(3)
"""


CONFIG = """
[mypy]
[mypy-torch.*]
ignore_missing_imports = True
follow_imports = skip
[mypy-jax.*]
ignore_missing_imports = True
follow_imports = skip
"""


def run(*command, folder):
    environ = dict(os.environ)
    package = os.path.dirname(os.path.dirname(tw.__file__))
    if "site-packages" not in package:
        environ["MYPYPATH"] = package
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True,
                          env=environ, cwd=folder, check=False)


def test_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    done = run("mypy", "--strict", "program.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    done = run("mypy", "--strict", "wrong.py", folder=tmp_path)
    assert "Found 5 errors" in done.stdout, done.stdout


def test_stubs_are_those_of_the_package(tmp_path):
    """Modules for libraries that are not here cannot be imported: they are not compared."""
    absent = "".join(f"|{x}" for x in ("jax", "torch") if importlib.util.find_spec(x) is None)
    (tmp_path / "allowed").write_text(f"tilewright\\.(_.*|pytest_plugin{absent}).*\n")
    (tmp_path / "mypy.ini").write_text(CONFIG)
    done = run("mypy.stubtest", "tilewright", "--ignore-missing-stub", "--ignore-unused-allowlist",
               "--allowlist", "allowed", "--mypy-config-file", "mypy.ini", "--concise",
               folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
