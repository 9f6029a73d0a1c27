# SPDX-License-Identifier: Apache-2.0
"""headers_test.py  Each header of include/ compiles alone; those of arch/cuda with nvcc, if there
is one. If the headers are those of the last success, by their hash in the build folder, no compiler
runs."""
import os
import sys

ROOT = os.environ["TW_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "gen"))
import lint  # noqa: E402

if __name__ == "__main__":
    complaints = lint.lint_headers(ROOT, os.environ.get("TW_NVCC") or None,
                                   os.path.join(os.environ["TW_BINARY_DIR"], "lint-headers"))
    for path, number, rule, text in complaints:
        print(f"{path}:{number}: {rule}: {text}")
    sys.exit(1 if complaints else 0)
