#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""member_bindings_test.py  member_bindings.hpp is what gen/member_bindings.py writes."""
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

if __name__ == "__main__":
    sys.exit(subprocess.run([sys.executable, "-B", os.path.join(ROOT, "gen/member_bindings.py"),
                             "--check"], check=False).returncode)
