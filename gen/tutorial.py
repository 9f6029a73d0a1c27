#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial.py  Fills in the generated parts of docs/tutorial, and of pages of docs that have them,
from tested files and real output.

    <!-- code FILE NAME -->        the function or struct NAME of FILE, with its comment
    <!-- diff FILE FILE -->        the lines that differ, without those above #pragma once
    <!-- run WORDS -->             the command and what it prints (both streams)
    <!-- picture NAME: WORDS -->   a picture that ./dev site draws (gen/pictures.py)
    <!-- profile RUNG -->         the shares of the time of its CTA 0 in the timeline's model
    <!-- figures [RUNG] -->        TFLOP/s of the article and of bench/results/ladder-*.json

A fenced block, a picture or a table follows each of them. --check compares, draws the pictures
into a temporary folder, and changes nothing;
tests/docs/tutorial_test.py runs it.
"""
import argparse
import difflib
import functools
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import pictures  # gen/pictures.py

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGES = os.path.join(ROOT, "docs/tutorial")
SIZE = "4096"  # of the article's figures

# TFLOP/s on an H100 SXM at 4096 (a second figure where a rung has two steps), from the article
# "From the Hopper architecture to HGEMM", which follows "Outperforming cuBLAS on H100".
ARTICLE = [(1, "", 32), (2, "", 317), (3, "", 423), (4, "", 498),
           (5, "without setmaxnreg", 610), (5, "", 631), (6, "consecutive tiles", 400),
           (6, "", 660), (7, "", 704), (8, "", 734), (9, "", 747), (10, "", 758), (11, "", 764)]
BLOCK = re.compile(r"<!-- (code|diff|run) (.*?) -->\n```\w*\n.*?\n```\n", re.S)
FIGURES = re.compile(r"<!-- figures ?(\d*) -->\n(?:\|.*\n)*")
PROFILE = re.compile(r"<!-- profile (\d+) -->\n(?:\n?(?:\|.*\n)+)?")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def region(path, name):
    """The declaration of `name` that has a body, with the comment above it."""
    lines = read(path).splitlines()
    declared = re.compile(rf"^(\s*)(?:(?:TW_DEVICE |static |inline |constexpr |template <.*?> )*"
                          rf"(?:auto|void|struct|class|enum class|int|bool|[\w:]+)\s+){name}\b")
    for start, line in enumerate(lines):
        found = declared.match(line)
        if not found or line.rstrip().endswith(";") and "{" not in line:
            continue
        indent = found[1]
        end = next((i for i in range(start, len(lines))
                    if re.match(rf"{indent}\}};?$", lines[i]) or
                    (i == start and re.search(r"\}\s*;?$", line))), None)
        if end is None:
            continue
        while start > 0 and re.match(rf"{indent}(///|template)", lines[start - 1]):
            start -= 1
        return "\n".join(x[len(indent):] if x.startswith(indent) else x
                         for x in lines[start:end + 1])
    sys.exit(f"tutorial.py: {path} has no {name}")


def difference(before, after):
    def body(path):
        return read(path).split("#pragma once\n", 1)[1].splitlines()
    lines = list(difflib.unified_diff(body(before), body(after), lineterm="", n=0))[2:]
    return "\n".join(x for x in lines if not x.startswith("@@"))


@functools.cache
def run(command, words):
    done = subprocess.run([command, *shlex.split(words)], env=pictures.WITHOUT_GPU,
                          capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"tutorial.py: tilewright {words}: {done.stderr}")
    # The library's kernel, and so its counts, depend on the kernels that a build has.
    lines = [re.sub(r"( +)[\d.]+(?= )", lambda m: "...".rjust(len(m[0])), x.rstrip())
             if x.startswith("12_library ") else x.rstrip()
             for x in (done.stdout + done.stderr).splitlines()]
    return f"$ tilewright {words}\n" + "\n".join(lines).rstrip()


def measured():
    """{(rung, step): TFLOP/s at SIZE} of the newest result, and the GPU."""
    files = sorted(glob.glob(os.path.join(ROOT, "bench/results/ladder-*.json")))
    if not files:
        return {}, "measured"
    with open(files[-1], encoding="utf-8") as file:
        record = json.load(file)
    rates = {(r["rung"], r["step"] if r["rung"] else "cublaslt"): r["sizes"][SIZE]["tflops"]
             for r in record["rungs"] if SIZE in r["sizes"]}
    return rates, record["gpu"]["card"]


def figures(rung):
    rates, card = measured()
    rows = [(n, step, rate) for n, step, rate in ARTICLE if not rung or n in (rung - 1, rung)]
    if not rung:
        rows += [(12, "", None), (0, "cublaslt", 714)]  # 764 is 107 % of it
    text = f"| rung | H100, article | {card} |\n|---|---:|---:|\n"
    for number, step, rate in rows:
        name = "cuBLASLt" if number == 0 else f"{number}" + (f", {step}" if step else "")
        mine = rates.get((number, step))
        text += f"| {name} | {rate or ''} | {'' if mine is None else f'{mine:.0f}'} |\n"
    return text


# Of a slice's category (tools/trace/write_chrome.cpp), in words.
SHARES = [("wait", "wait for operands or for a free stage"), ("wait for wgmma", "wait for wgmma"),
          ("barrier", "wait for other threads"), ("store", "store D"),
          ("epilogue", "write D to shared memory"), ("wait for stores", "wait for TMA stores")]
PROFILED_SIZE = "512"


@functools.cache
def profile(command, rung):
    """A table: the tensor cores, and the threads that multiply, of CTA 0."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "trace.json")
        done = subprocess.run([command, "ladder", "--rung", rung, "--size", PROFILED_SIZE,
                               "--trace", out], env=pictures.WITHOUT_GPU,
                              capture_output=True, text=True, cwd=ROOT, check=False)
        if done.returncode != 0:
            sys.exit(f"tutorial.py: rung {rung}: {done.stderr}")
        with open(out, encoding="utf-8") as file:
            events = [e for e in json.load(file) if e.get("pid") == 0]
    rows = {e["tid"]: e["args"]["name"] for e in events
            if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    cycles = max(e["ts"] + e["dur"] for e in slices)
    threads, who = next((tid, "store" if name.startswith("store") else "multiply")
                        for tid, name in rows.items()
                        if name.startswith(("consumer", "warp", "store")))

    def share(of):
        return 100 * sum(e["dur"] for e in slices if of(e)) / cycles

    text = f"| of {cycles:,} cycles of a CTA of rung {rung} in the model | share |\n|---|---:|\n"
    text += f"| the tensor cores multiply | {share(lambda e: e['cat'] == 'multiply'):.0f} % |\n"
    for category, words in SHARES:
        part = share(lambda e, c=category: e["tid"] == threads and e["cat"] == c)
        if who == "store":  # rungs 13 and 14: other threads multiply
            words = {"wait": "wait for the sums", "store": "load them and store D"}.get(
                category, words)
        if part >= 0.5:
            text += f"| the threads that {who} {words} | {part:.0f} % |\n"
    return text


def filled(page, text, command):
    def block(found):
        kind, words = found[1], found[2]
        if kind == "code":
            content, language = region(*words.split()), "cpp"
        elif kind == "diff":
            content, language = difference(*words.split()), "diff"
        else:
            content, language = run(command, words), "console"
        return f"<!-- {kind} {words} -->\n```{language}\n{content}\n```\n"

    text = BLOCK.sub(block, text)
    text = PROFILE.sub(lambda m: m[0].split("\n")[0] + "\n" + profile(command, m[1]), text)
    return FIGURES.sub(lambda m: m[0].split("\n")[0] + "\n" +
                       figures(int(m[1] or 0)), text)


def undrawn(page, text, command):
    """Complaints about the pictures of a page: each command draws well-formed SVG, of a page of
    HTML its drawing."""
    for path, words in pictures.pictures_of(page, text):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, os.path.basename(path))
            try:
                pictures.draw(command, words, out, ROOT)
                with open(out, encoding="utf-8") as file:
                    drawn = file.read()
                if out.endswith(".html"):
                    found = re.search(r'<svg class="tw" viewBox.*?</svg>', drawn, re.S)
                    if not found:
                        raise RuntimeError("a page without a drawing")
                    drawn = found[0]
                xml.fromstring(drawn)
            except (RuntimeError, xml.ParseError) as why:
                yield f"{path}: {why}"


def pages():
    """The pages of the tutorial, and pages of docs with generated parts or pictures."""
    yield from sorted(glob.glob(os.path.join(PAGES, "*.md")))
    for page in sorted(glob.glob(os.path.join(ROOT, "docs/*.md"))):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        if BLOCK.search(text) or pictures.pictures_of(os.path.relpath(page, ROOT), text):
            yield page


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--command", default=os.environ.get("TW_COMMAND", "build/bin/tilewright"))
    options.add_argument("pages", nargs="*", help="names, such as 04_warp_specialised.md")
    o = options.parse_args()
    command = os.path.abspath(o.command)
    stale = []
    for page in pages():
        if o.pages and os.path.basename(page) not in o.pages:
            continue
        with open(page, encoding="utf-8") as file:
            old = file.read()
        new = filled(page, old, command)
        if new != old:
            stale.append(os.path.relpath(page, ROOT))
            if not o.check:
                with open(page, "w", encoding="utf-8") as file:
                    file.write(new)
        if o.check:
            stale += undrawn(os.path.relpath(page, ROOT), old, command)
    for path in stale:
        print(("not up to date: " if o.check else "written: ") + path)
    return 1 if o.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
