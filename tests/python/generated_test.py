#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated_test.py  The files of the Python package that gen/python/python_operations.py,
gen/python/python_stubs.py and gen/python/python_page.py write are current."""
import os
import subprocess
import sys

GEN = os.path.join(os.environ["TW_SOURCE_DIR"], "gen/python")
STATUS = 0
for script, *arguments in (["python_operations.py", os.environ["TW_COMMAND"]], ["python_stubs.py"],
                           ["python_page.py"]):
    done = subprocess.run([sys.executable, "-B", os.path.join(GEN, script), *arguments, "--check"],
                          check=False)
    STATUS = STATUS or done.returncode
sys.exit(STATUS)
