#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package_test.py  The Python package of this build, by the tests in python/tests.

It is compiled in a virtual environment of the build folder, which is made the first time; without
Python 3.10, its headers or a package index the test is skipped. TW_EFFORT=full runs every case,
with JAX. TW_TORCH=1 (`./dev test python --torch`) runs the tests of tilewright.torch instead, with
TW_TORCH_PYTHON or the first Python found that has torch.
"""
import glob
import os
import subprocess
import sys

SOURCE, BINARY = os.environ["TW_SOURCE_DIR"], os.environ["TW_BINARY_DIR"]
LIBRARY = os.path.join(BINARY, "c/libtilewright.so.0")
PYTHON = os.path.join(SOURCE, "python")


NEEDED = ("torch", "numpy", "ml_dtypes", "nanobind_backend", "pytest", "hypothesis")


def python_with_torch(candidates):
    """The first interpreter that has all of NEEDED; else None, after a line for each."""
    check = ("import importlib.util as u; "
             f"print(*[x for x in {NEEDED!r} if u.find_spec(x) is None])")
    for path in candidates:
        done = subprocess.run([path, "-c", check], capture_output=True, text=True, check=False)
        lacks = done.stdout.split()
        if done.returncode == 0 and not lacks:
            return path
        print(f"python: {path} lacks {' '.join(lacks) or 'an interpreter'}")
    print("python: no Python with torch: set TW_TORCH_PYTHON, and pip install the missing packages")
    return None


def main():
    if not os.path.exists(LIBRARY):
        print("python: this build has no C library: skipped")
        return 77
    with open(LIBRARY, "rb") as file:
        if b"libasan.so" in file.read():
            print("python: the C library has a sanitizer, whose runtime must come first: skipped")
            return 77
    if BINARY.endswith("aarch64") and os.uname().machine != "aarch64":
        print("python: the C library is for another machine: skipped")
        return 77
    sys.path.insert(0, PYTHON)
    import environment
    full = os.environ.get("TW_EFFORT") == "full"
    folder = os.path.join(BINARY, "python")
    own = environment.made(os.path.join(folder, "venv"), ["jax"] if full else [])
    built = subprocess.run([own, "-B", os.path.join(PYTHON, "build.py"), LIBRARY, folder],
                           check=False)
    if built.returncode != 0:
        return 1
    environ = dict(os.environ, PYTHONPATH=folder)
    if os.environ.get("TW_TORCH"):
        given = os.environ.get("TW_TORCH_PYTHON")
        found = python_with_torch([given] if given else environment.interpreters())
        if found is None:
            return 1
        tests = sorted(glob.glob(os.path.join(PYTHON, "tests/test_torch*.py")))
        return subprocess.run([found, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
                              env=environ, check=False).returncode
    return subprocess.run([own, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           os.path.join(PYTHON, "tests"), *(["--all"] if full else [])],
                          env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
