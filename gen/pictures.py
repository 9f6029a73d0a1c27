# SPDX-License-Identifier: Apache-2.0
"""pictures.py  The pictures of the docs that a command draws; ./dev site draws them, the tree has
none of them.

A page names a picture and its command:
    <!-- picture NAME: WORDS -->               in docs/tutorial: pictures/NAME; the words hold OUT
    tilewright WORDS -o docs/pictures/NAME     in another page, in a line of a block
"""
import os
import re
import shlex
import subprocess

COMMENT = re.compile(r"<!-- picture (\S+): (.*?) -->\n")
LINE = re.compile(r"^tilewright ((?:layout .*-o|roofline .*-o|(?:ladder|plan) .*--timeline) "
                  r"(docs/pictures/\S+).*)$", re.M)
# A page shows the emulator: commands do not see a GPU of this machine.
WITHOUT_GPU = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}

PAGE_PIXELS, LEAST_PIXELS = 720, 9  # the text column of the site at 1280 pixels


def check_text(path):
    """Throws RuntimeError if a text is lower than 9 pixels on a page of 720."""
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    width = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+)', svg)
    sizes = [float(x) for x in re.findall(r'font-size[=:]\s*"?\s*([\d.]+)', svg)]
    if not width or not sizes:
        return
    pixels = min(sizes) * min(1, PAGE_PIXELS / float(width[1]))
    if pixels < LEAST_PIXELS:
        raise RuntimeError(f"text of {pixels:.1f} pixels if the picture of {width[1]} pixels is "
                           f"{PAGE_PIXELS} wide; at least {LEAST_PIXELS}")


def pictures_of(page, text):
    """(path, words) of each picture that a page has drawn; OUT stands for the path in the words."""
    if page.startswith("docs/tutorial/"):
        return [(f"docs/tutorial/pictures/{name}", shlex.split(words))
                for name, words in COMMENT.findall(text)]
    if not page.startswith("docs/") or page.startswith("docs/decisions/"):
        return []
    return [(path, ["OUT" if word == path else word for word in shlex.split(words)])
            for words, path in LINE.findall(text)]


def draw(command, words, out, root):
    """Writes the picture; throws RuntimeError with the text of a command that refuses."""
    done = subprocess.run([command, *[out if word == "OUT" else word for word in words]],
                          env=WITHOUT_GPU, capture_output=True, text=True, cwd=root, check=False)
    if done.returncode not in (0, 1) or not os.path.exists(out):  # 1: a planted bug was found
        raise RuntimeError(f"tilewright {shlex.join(words)}: {done.stderr or done.stdout}")
    if out.endswith(".svg"):
        check_text(out)
