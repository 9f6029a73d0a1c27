#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plot and tables of docs/accuracy.md are those of data/accuracy, and measuring some points again
finds the same errors, which are those of the rule that the page states."""
import os
import pathlib
import subprocess
import sys

source = pathlib.Path(os.environ["TW_SOURCE_DIR"])
sys.exit(subprocess.run([sys.executable, source / "gen/measured/accuracy.py", "--check",
                         os.environ["TW_COMMAND"]], check=False).returncode)
