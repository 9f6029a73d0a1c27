# SPDX-License-Identifier: Apache-2.0
"""banks_page_test.py  The table of docs/banks.md is what gen/measured/banks.py makes of
bench/results."""
import os
import subprocess
import sys

root = os.environ["TW_SOURCE_DIR"]
sys.exit(subprocess.run([sys.executable, "-B", root + "/gen/measured/banks.py", "--check"],
                        check=False).returncode)
