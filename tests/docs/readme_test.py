# SPDX-License-Identifier: Apache-2.0
# readme_test.py  README is short, its picture is what the command draws of the recorded run, its
#                 measured rows are those of docs/measured.md, and its kernel is that of
#                 examples/own_kernel without one line. console_test.py runs its console blocks,
#                 tests/consumer compiles its C++ and runs the check of the kernel.
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["TW_SOURCE_DIR"]
MAX_LINES = 130
FAULT = "if (!p.refill_early) "  # the condition of the line that README strikes out


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def words(line):
    """The words of a line of C++; a comment may stand further to the left or right."""
    return line.replace(FAULT, "").split()


def main():
    page, complaints = read("README.md"), []
    if len(page.splitlines()) > MAX_LINES:
        complaints.append(f"README.md has {len(page.splitlines())} lines; at most {MAX_LINES}")

    (record,) = re.findall(r"\((bench/results/ladder-[^)]*\.json)\)", page)
    with tempfile.TemporaryDirectory() as folder:
        drawn = os.path.join(folder, "ladder.svg")
        done = subprocess.run([os.environ["TW_COMMAND"], "ladder", "--from", record, "--plot",
                               drawn], cwd=SOURCE, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            complaints.append(done.stderr)
        else:
            with open(drawn, encoding="utf-8") as file:
                if file.read() != read("docs/pictures/ladder.svg"):
                    complaints.append(f"docs/pictures/ladder.svg is not: tilewright ladder "
                                      f"--from {record} --plot docs/pictures/ladder.svg")

    (block,) = re.findall(r"```diff\n(.*?)```", page, re.S)
    lines = block.splitlines()
    kernel = [words(line) for line in read("examples/own_kernel/gemm.cpp").splitlines()]
    shown = [words(line[1:]) for line in lines]
    if not any(kernel[i:i + len(shown)] == shown for i in range(len(kernel))):
        complaints.append("the kernel of README.md is not that of examples/own_kernel/gemm.cpp")
    struck = [line[1:].split("//")[0].strip() for line in lines if line.startswith("-")]
    if len(struck) != 1 or FAULT + struck[0] not in read("examples/own_kernel/gemm.cpp"):
        complaints.append(f"{struck}: the line that --bug refill-early leaves out is another one")

    # | name | 1.041 | 1.029 | 1.016 |: each row of README has its figures in docs/measured.md
    rows = re.findall(r"^\| [^|]* (\|(?: \d\.\d{3} \|){3})$", page, re.M)
    complaints += [f"the row {row} is not in docs/measured.md" for row in rows
                   if row not in read("docs/measured.md")]
    if len(rows) < 5:
        complaints.append("README.md has too few measured rows")
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
