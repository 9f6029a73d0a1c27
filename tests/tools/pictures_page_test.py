#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures_page_test.py  Every command of docs/pictures.md works, what it writes is well-formed,
and the page shows it."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

SOURCE = os.environ["TW_SOURCE_DIR"]
with open(os.path.join(SOURCE, "docs", "pictures.md"), encoding="utf-8") as page:
    text = page.read()
commands = re.findall(r"^tilewright (layout .*)$", text, flags=re.M)
wrong, written = [], set()
with tempfile.TemporaryDirectory(prefix="tilewright-page-") as folder:
    for command in commands:
        arguments = shlex.split(command)
        target = None
        if "-o" in arguments:
            at = arguments.index("-o") + 1
            target, arguments[at] = arguments[at], os.path.join(folder, "picture")
        done = subprocess.run([os.environ["TW_COMMAND"], *arguments], capture_output=True,
                              text=True)
        if done.returncode != 0:
            wrong.append(f"{command}: {done.stderr}")
            continue
        if target:
            with open(os.path.join(folder, "picture"), encoding="utf-8") as file:
                now = file.read()
            written.add(os.path.basename(target))
        else:
            now = done.stdout
        if now.startswith("<svg"):
            xml.fromstring(now)
        elif now.startswith("<!DOCTYPE html>"):
            if re.search(r"""(src|href)=["'](?!data:)""", now):
                wrong.append(f"{command}: the page refers to another file")
            xml.fromstring(re.search(r"<svg class=\"tw\" viewBox.*?</svg>", now, flags=re.S)[0])
        elif arguments[-1] != "table":
            wrong.append(f"{command}: writes neither SVG nor HTML")
shown = set(re.findall(r"\(pictures/([\w.]+)\)", text))
if shown != written:
    wrong.append(f"the page shows {sorted(shown)} and writes {sorted(written)}")
if len(commands) < 10:
    wrong.append(f"only {len(commands)} commands on the page")
print("\n".join(wrong) or f"{len(commands)} commands, {len(written)} files")
sys.exit(bool(wrong))
