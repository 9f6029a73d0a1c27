# SPDX-License-Identifier: Apache-2.0
"""ptxas_test.py  Registers, spills and shared bytes of each kernel are the accepted ones."""
import os
import subprocess
import sys

root, build = os.environ["TW_SOURCE_DIR"], os.environ["TW_BINARY_DIR"]
sys.exit(subprocess.run([sys.executable, "-B", os.path.join(root, "gen/golden.py"),
                         "--build", build], check=False).returncode)
