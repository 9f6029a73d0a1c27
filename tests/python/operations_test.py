#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""operations_test.py  python/tilewright/_operations.py is what gen/python_operations.py writes."""
import os
import subprocess
import sys

SCRIPT = os.path.join(os.environ["TW_SOURCE_DIR"], "gen/python_operations.py")
sys.exit(subprocess.run([sys.executable, "-B", SCRIPT, os.environ["TW_COMMAND"], "--check"],
                        check=False).returncode)
