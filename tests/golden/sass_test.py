# SPDX-License-Identifier: Apache-2.0
"""sass_test.py  The machine code of the Blackwell kernels keeps the rules of gen/sass_check.py, and
its instructions are the accepted ones. Skipped without a disassembler: ./dev sass installs one, and
checks the kernels of all families."""
import os
import subprocess
import sys

root, build = os.environ["TW_SOURCE_DIR"], os.environ["TW_BINARY_DIR"]
sys.exit(subprocess.run([sys.executable, "-B", os.path.join(root, "gen/sass_check.py"),
                         "--build", build, "--only", "^sm100"], check=False).returncode)
