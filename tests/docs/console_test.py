# SPDX-License-Identifier: Apache-2.0
# console_test.py  Runs the console blocks of README and docs and compares what they show.
#
# A block is fenced and begins with "$ "; each such line is a command, the lines after it are its
# output. Compared are words, so lines may be wrapped; "..." stands for any words, and times and
# rates for any times and rates. A line that is not wrapped has its blanks compared too, so columns
# stand where the command prints them. A command without output must have known options. Commands
# that are not tilewright, or need a GPU, are not run. The pages of docs/tutorial are written from
# such runs (gen/tutorial.py, tutorial_test.py).
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

SOURCE = os.environ["TW_SOURCE_DIR"]
COMMAND = os.environ["TW_COMMAND"]
sys.path.insert(0, os.path.join(SOURCE, "gen"))
import error_pages  # noqa: E402  pylint: disable=wrong-import-position
NEEDS_MORE = ("tilewright check own/", "tilewright tune", "tilewright bench",
              "tilewright gemm huge")

# Files that a page's commands read: name, shape, NumPy type.
FILES = {
    "docs/ampere.md": [("x.npy", (4, 32), "<f4"), ("w1.npy", (32, 16), "<f4")],
    "docs/block_scaling.md": [("x.npy", (130, 64), "<f4"), ("w.npy", (64, 40), "<f4")],
    "docs/blackwell.md": [("x.npy", (4, 32), "<f4"), ("w1.npy", (32, 16), "<f4")],
    "docs/quantize.md": [("x.npy", (300, 1000), "<f4")],
    "TW0455": [("a.npy", (3, 5), "<f2")],
    "TW0601": [("b.npy", (5, 2), "<f2")],
    "TW0604": [("ints.npy", (3, 5), "<i8"), ("b.npy", (5, 2), "<f2")],
    "TW0605": [("a.npy", (3, 5), "<f2"), ("b.npy", (5, 2), "<f2"),
               ("vector.npy", (2,), "<f4")],
    "TW0611": [("b.npy", (5, 2), "<f2")],
    "TW0612": [("a.npy", (3, 5), "<f2"), ("b.npy", (5, 2), "<f2")],
    "TW0615": [("a.npy", (3, 5), "<f2"), ("b.npy", (5, 2), "<f2")],
    "TW0651": [("kernel.npy", (5, 2), "<f2")],
    "TW0655": [("kernel.npy", (5, 2), "<f2")],
    # As large as a reader's: small ones take other kernels.
    "docs/epilogues.md": [("x.npy", (512, 256), "<f4"), ("w1.npy", (1024, 256), "<f4"),
                          ("b1.npy", (1024,), "<f4"), ("gate_up.npy", (2048, 256), "<f4"),
                          ("w2.npy", (256, 1024), "<f4"), ("b2.npy", (256,), "<f4"),
                          ("q.npy", (512, 256), "<f4"), ("w.npy", (1024, 256), "<f4"),
                          ("sa.npy", (512,), "<f4"), ("sb.npy", (1024,), "<f4")],
}
VOLATILE = re.compile(r"\d[\d.,]*\s+(us|ms|s|GFLOP/s|TFLOP/s|threads?)\b")


def write_npy(path, shape, descr):
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * ((64 - (10 + len(header) + 1) % 64) % 64) + "\n"
    count = 1
    for extent in shape:
        count *= extent
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(bytes(count * int(descr[2])))


def blocks(text):
    """(line number, command, lines of output) of each command of a page."""
    found, command, output, at = [], None, [], 0
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            if command:
                found.append((at, command, output))
            inside, command, output = not inside, None, []
        elif inside and line.startswith("$ "):
            if command:
                found.append((at, command, output))
            at, command, output = number, line[2:], []
        elif command:
            output.append(line)
    return found


def words(text):
    return VOLATILE.sub(r"# \1", text).split()


def matches(want, got):
    """Do the words agree, where "..." stands for any number of words?"""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0] == got[0] and matches(want[1:], got[1:])


def misaligned(output, text):
    """Lines of the page with the words of a printed line, but other blanks between them."""
    printed = {}
    for line in text.split("\n"):
        printed.setdefault(tuple(line.split()), set()).add(line.rstrip())
    return [line for line in output
            if len(line.split()) > 1 and "..." not in line and not VOLATILE.search(line) and
            tuple(line.split()) in printed and
            line.rstrip() not in printed[tuple(line.split())]]


def two_cores():
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[:2]))


def run(command, folder):
    command = re.sub(r"\s+#.*$", "", command).replace("build/bin/tilewright", "tilewright")
    line, environment = shlex.split(command), dict(os.environ)
    while line and re.fullmatch(r"\w+=\S*", line[0]):
        name, value = line.pop(0).split("=", 1)
        environment[name] = value
    if not line or line[0] != "tilewright" or command.startswith(NEEDS_MORE):
        return None
    if "gemm" in line[1:2] and "--device" not in line:
        line += ["--device", "emu"]
    return subprocess.run([COMMAND, *line[1:]], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=1800, env=environment, preexec_fn=two_cores,
                          check=False)


def main():
    sys.setrecursionlimit(100000)
    enough_cores = len(os.sched_getaffinity(0)) >= 2
    names = ["README.md"] + ["docs/" + name for name in sorted(os.listdir(SOURCE + "/docs"))
                             if name.endswith(".md")]
    pages = []
    for name in names:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            pages.append((name, file.read()))
    codes = error_pages.all_pages(SOURCE + "/docs/errors")
    compared, ran, failures, skipped = 0, 0, [], []
    for page, text_of_page in pages + codes:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(SOURCE + "/demo", folder + "/demo")
            for name, shape, descr in FILES.get(page, []):
                write_npy(os.path.join(folder, name), shape, descr)
            for number, command, output in blocks(text_of_page):
                want = words("\n".join(output))
                needs_files = (page, text_of_page) in codes and page not in FILES
                if needs_files and ".npy" in command or ".safetensors:" in command and \
                        "demo/" not in command:
                    continue
                result = run(command, folder)
                if result is None:
                    continue
                if "TW0505:" in result.stderr:  # a build without all kernels
                    skipped.append(f"{page}:{number}: {command}")
                    continue
                ran += 1
                shown = (result.stdout + result.stderr, result.stdout, result.stderr)
                if not want:
                    unknown = "TW0615:" in result.stderr
                    if unknown or page == "docs/epilogues.md" and result.returncode != 0:
                        failures.append(f"{page}:{number}: {command}\n{result.stderr}")
                elif enough_cores or "emulator" not in want:
                    compared += 1
                    odd = [line for text in shown for line in misaligned(output, text)]
                    if odd:
                        failures.append(f"{page}:{number}: {command}\nother blanks than the "
                                        "command prints:\n" + "\n".join(odd))
                    if not any(matches(want, words(text)) for text in shown):
                        failures.append(f"{page}:{number}: {command}\n--- page\n"
                                        + "\n".join(output)
                                        + f"\n--- command\n{result.stdout}{result.stderr}")
    print(f"{ran} commands ran, {compared} compared")
    failures += [f"{command}\nneeds a kernel that this build lacks (TW0505)"
                 for command in skipped]
    print("\n".join(failures))
    if ran < 15 or compared < 8:
        failures.append("too few blocks were found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
