# SPDX-License-Identifier: Apache-2.0
"""banks_page_test.py  The table of docs/banks.md is what gen/banks.py makes of bench/results."""
import os
import subprocess
import sys

root = os.environ["TW_SOURCE_DIR"]
sys.exit(subprocess.run([sys.executable, "-B", root + "/gen/banks.py", "--check"],
                        check=False).returncode)
