# SPDX-License-Identifier: Apache-2.0
# tutorial_test.py  The generated parts of docs/tutorial are up to date, every block of code there
#                   is one of them, and the rungs keep to their size.
import difflib
import glob
import os
import re
import statistics
import subprocess
import sys

SOURCE = os.environ["TW_SOURCE_DIR"]
MAX_LINES, MAX_MEDIAN_DIFF = 150, 60


def rungs():
    return sorted(glob.glob(os.path.join(SOURCE, "ladder/[01][0-9]_*.hpp")))


def sizes():
    """Complaints about the length of the rungs and of the differences between neighbours."""
    texts = []
    for path in rungs():
        with open(path, encoding="utf-8") as file:
            texts.append(file.read().splitlines())
    if len(texts) != 11:
        yield f"{len(texts)} rungs, not 11"
    for path, lines in zip(rungs(), texts):
        if len(lines) > MAX_LINES:
            yield f"{path}: {len(lines)} lines; at most {MAX_LINES}"
    changed = [sum(line[0] in "+-" for line in
                   list(difflib.unified_diff(a, b, lineterm="", n=0))[2:])
               for a, b in zip(texts, texts[1:])]
    if statistics.median(changed) > MAX_MEDIAN_DIFF:
        yield f"lines that differ between neighbours: {changed}; median at most {MAX_MEDIAN_DIFF}"


def unmarked_code():
    """Blocks of code that are not generated from a file or a run."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs/tutorial/*.md"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            if re.match(r"```(cpp|diff|console)", line) and \
                    not lines[number - 2].startswith(("<!-- code", "<!-- diff", "<!-- run")):
                yield f"{path}:{number}: a block that gen/tutorial.py does not write"


def main():
    complaints = [*sizes(), *unmarked_code()]
    done = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "gen/tutorial.py"),
                           "--check", "--command", os.environ["TW_COMMAND"]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaints.append(done.stdout + done.stderr + "run gen/tutorial.py --command COMMAND")
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
