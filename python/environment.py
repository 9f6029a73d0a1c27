#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""environment.py  A virtual environment with what the package's tests need, made once.

    python environment.py FOLDER [PACKAGE...]

Prints the path of its interpreter. Exit status 77: it cannot be made here, and the reason is
printed on stderr: no Python 3.10 with venv and headers, or no package index.
"""
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
# Exit status 0: an interpreter that can compile and make environments.
FIT = """
import os, sys, sysconfig
import ensurepip, venv
sys.exit(sys.version_info < (3, 10) or sysconfig.get_config_var("Py_GIL_DISABLED") == 1 or
         not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
"""


def interpreters():
    """Interpreters of Python 3.10 or later with venv and Python.h, the running one first."""
    names = [sys.executable] + [f"python3.{minor}" for minor in range(20, 9, -1)] + ["python3"]
    seen = set()
    for name in names:
        path = shutil.which(name)
        if path is None or os.path.realpath(path) in seen:
            continue
        seen.add(os.path.realpath(path))
        if subprocess.run([path, "-c", FIT], capture_output=True, check=False).returncode == 0:
            yield path


def give_up(why):
    print(f"python: {why}: skipped", file=sys.stderr)
    sys.exit(SKIPPED)


def made(folder, packages=()):
    """The interpreter of the environment in the folder."""
    with open(os.path.join(HERE, "requirements.txt"), encoding="utf-8") as file:
        needs = [line for line in file.read().split("\n") if line and not line.startswith("#")]
    needs += packages
    stamp = hashlib.sha256("\n".join(needs).encode()).hexdigest()
    own, mark = os.path.join(folder, "bin/python"), os.path.join(folder, "stamp")
    if os.path.exists(mark) and os.path.exists(own):
        with open(mark, encoding="utf-8") as file:
            if file.read() == stamp:
                return own
    base = next(interpreters(), None)
    if base is None:
        give_up("no Python 3.10 or later with venv and headers (python3-venv, python3-dev)")
    subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
    done = subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           "--retries", "1", *needs], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().split("\n") or [""])[-1]
        give_up(f"pip could not install {' '.join(needs)} ({last})")
    with open(mark, "w", encoding="utf-8") as file:
        file.write(stamp)
    return own


if __name__ == "__main__":
    print(made(sys.argv[1], sys.argv[2:]))
