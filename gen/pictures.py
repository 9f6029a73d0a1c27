# SPDX-License-Identifier: Apache-2.0
"""pictures.py  The pictures of the docs that a command draws; ./dev site draws them, the tree has
none of them.

A page names a picture and its command:
    <!-- picture NAME: WORDS -->               in docs/tutorial: pictures/NAME; the words hold OUT
    tilewright WORDS -o docs/pictures/NAME     in another page, in a line of a block
    tilewright gemm A B -o D WORDS --timeline docs/pictures/NAME
A page that draws a GEMM prints how its operands are made: matrices of ones of float16, each by
'FILE.npy': (ROWS, COLUMNS).
"""
import os
import re
import shlex
import subprocess
import tempfile

COMMENT = re.compile(r"<!-- picture (\S+): (.*?) -->\n")
LINE = re.compile(r"^tilewright ((?:layout .*-o|roofline .*-o|(?:ladder|plan|gemm) .*--timeline) "
                  r"(docs/pictures/\S+).*)$", re.M)
OPERAND = re.compile(r"'(\w+\.npy)': \((\d+), (\d+)\)")
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
    ones = {name: f"ONES {rows} {columns}" for name, rows, columns in OPERAND.findall(text)}
    return [(path, ["OUT" if word == path else ones.get(word, word) for word in shlex.split(words)])
            for words, path in LINE.findall(text)]


def write_ones(path, rows, columns):
    """A matrix of ones in float16, as NumPy saves it."""
    header = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.write(b"\x00\x3c" * (rows * columns))


def draw(command, words, out, root):
    """Writes the picture; throws RuntimeError with the text of a command that refuses."""
    with tempfile.TemporaryDirectory() as folder:
        words = [out if word == "OUT" else word for word in words]
        for at, word in enumerate(words):
            if word.startswith("ONES "):
                words[at] = os.path.join(folder, f"{at}.npy")
                write_ones(words[at], *map(int, word.split()[1:]))
            elif words[0] == "gemm" and words[at - 1] == "-o":
                words[at] = os.path.join(folder, word)
        done = subprocess.run([command, *words], env=WITHOUT_GPU, capture_output=True, text=True,
                              cwd=root, check=False)
    if done.returncode not in (0, 1) or not os.path.exists(out):  # 1: a planted bug was found
        raise RuntimeError(f"tilewright {shlex.join(words)}: {done.stderr or done.stdout}")
    if out.endswith(".svg"):
        check_text(out)
