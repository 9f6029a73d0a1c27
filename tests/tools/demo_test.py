# SPDX-License-Identifier: Apache-2.0
"""demo_test.py  The demo, in the emulator: the accuracy of the shipped network, and its picture."""
import os
import re
import subprocess
import sys

done = subprocess.run([sys.executable, "-B", os.environ["TW_SOURCE_DIR"] + "/demo/run.py",
                       "--command", os.environ["TW_COMMAND"], "--device", "emu"],
                      capture_output=True, text=True, check=False)
print(done.stdout, done.stderr)
accuracy = re.search(r"Accuracy +([\d.]+) %: (\d+) of 600", done.stdout)
problems = [text for text, wrong in {
    "status": done.returncode != 0,
    "messages on stderr": done.stderr != "",
    "accuracy below 94.5 %": accuracy is None or float(accuracy[1]) < 94.5,
    "which device ran": "the emulator" not in done.stdout,
    "layout picture": re.search(r"7 +63 +62 +61 +60 +59 +58 +57 +56", done.stdout) is None,
}.items() if wrong]
sys.exit("wrong: " + ", ".join(problems) if problems else 0)
