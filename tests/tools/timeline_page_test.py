#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""timeline_page_test.py  The picture of docs/timeline.md is what its command draws."""
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from checkpoint_files import write_npy  # noqa: E402

PICTURE = os.path.join(os.environ["TW_SOURCE_DIR"], "docs", "pictures", "timeline.svg")


def write_zeros(path, rows, columns):
    """A bfloat16 .npy file: the picture depends on the shape alone."""
    write_npy(path, "<V2", (rows, columns), bytes(2 * rows * columns))


def main():
    with tempfile.TemporaryDirectory() as folder:
        a, b, d, drawn = (os.path.join(folder, name)
                          for name in ("a.npy", "b.npy", "d.npy", "timeline.svg"))
        write_zeros(a, 512, 256)
        write_zeros(b, 512, 512)
        # In these orders the planner's choice is one of the representative kernels, so every build
        # draws the same picture.
        subprocess.run([os.environ["TW_COMMAND"], "gemm", a, b, "--transpose-a", "--transpose-b",
                        "-o", d, "--device", "emu", "--quiet", "--timeline", drawn], check=True)
        with open(drawn, encoding="utf-8") as file:
            text = file.read()
    xml.etree.ElementTree.fromstring(text)
    if "--accept" in sys.argv:
        with open(PICTURE, "w", encoding="utf-8") as file:
            file.write(text)
    with open(PICTURE, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("docs/pictures/timeline.svg is not what the command draws; look at the new "
                     "one, then run this with --accept")


if __name__ == "__main__":
    main()
