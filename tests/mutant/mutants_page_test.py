# SPDX-License-Identifier: Apache-2.0
"""mutants_page_test.py  docs/mutants.md has the mutants and codes of today's command, and
docs/diagnoses.md what it prints, but for line numbers."""
import os
import subprocess
import sys

root = os.environ["TW_SOURCE_DIR"]
sys.exit(subprocess.run([sys.executable, "-B", root + "/gen/measured/mutants.py", "--check",
                         os.environ["TW_COMMAND"]], check=False).returncode)
