#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""live.py  Live pictures and runs in the HTML site: the playground shows the layouts and faults of
a page too, and the page leads to it below each command.

A layout or a table of banks becomes a closed frame, which loads the playground when a reader opens
it; a planted fault of the ladder becomes a link. Both are HTML alone: a page without JavaScript is
as before, and its links lead to the playground.
"""
import html
import json
import re
import shlex
import subprocess
import urllib.parse

import pictures  # gen/pictures.py

COMMAND = re.compile(r"^\$ tilewright (.*)$")
PICTURE = re.compile(r"^<!-- picture \S+: (.*) -->$")
DRAWN = re.compile(r"^tilewright (layout .*)$")
# Options of `tilewright layout` and `banks`, as keys of the fragment (playground/site/layouts.js).
VALUES = {"--tv": ("tv", "tile"), "--tma": ("tma", "tile"), "--banks": ("banks", "access"),
          "--access": ("banks", "access"), "--descriptor": ("descriptor", "unit"),
          "--bits": (None, "bits"), "--at": (None, "at"), "--step": (None, "step")}
IGNORED = {"--print": 1, "-o": 1, "--json": 0}


def fragment_of_layout(words):
    """The fragment that shows `layout WORDS...` or `banks WORDS...`; None if the page has not all
    of its options."""
    state = {"view": "banks"} if words[0] == "banks" else {}
    words = list(words[1:])
    while words:
        word = words.pop(0)
        if word in IGNORED:
            del words[:IGNORED[word]]
        elif word == "--steps":
            state["view"] = "steps"
        elif word == "--mn-major":
            state["major"] = "MN"
        elif word in VALUES and words:
            view, key = VALUES[word]
            if view:
                state["view"] = view
            state[key] = words.pop(0)
        elif word.startswith("-") or "e" in state:
            return None
        else:
            state["e"] = word
    return urllib.parse.urlencode(state, quote_via=urllib.parse.quote) if "e" in state else None


def faults(command):
    """{name of a planted fault of the ladder: its kernel in the playground}."""
    listed = subprocess.run([command, "playground", "list"], capture_output=True, text=True,
                            check=True, env=pictures.WITHOUT_GPU).stdout
    return {s["fault"]: s["kernel"] for s in json.loads(listed)["specimens"]
            if s["fault"] and "rung" in s}


class Live:
    """The additions to pages of a site with a folder `playground`."""

    def __init__(self, command):
        self.kernels = faults(command)
        self.count = 0

    def block(self, words, playground):
        """The HTML below a command, or ''. playground: its folder, seen from the page."""
        try:
            words = shlex.split(words)
        except ValueError:
            return ""
        if words[:1] in (["layout"], ["banks"]) and (found := fragment_of_layout(words)):
            self.count += 1
            link = html.escape(f"{playground}/index.html#{found}")
            return ('<details class="live"><summary>Change this layout</summary>'
                    f'<iframe loading="lazy" title="The layout in the playground" src="{link}">'
                    f'</iframe><a href="{link}">The layout in the playground</a></details>')
        if words[:2] == ["ladder", "--bug"] and len(words) > 2 and words[2] in self.kernels:
            self.count += 1
            found = urllib.parse.urlencode({"kernel": self.kernels[words[2]], "fault": words[2]})
            link = html.escape(f"{playground}/race.html#{found}")
            return f'<p class="live"><a href="{link}">Run this kernel in the browser</a></p>'
        return ""

    def added_to(self, lines, playground):
        """The lines of a page, with the blocks below commands and pictures."""
        fence, wanted = None, ""
        for line in lines:
            yield line
            marker = re.match(r" *(```|~~~)", line)
            if marker and fence is None:
                fence = marker[1]
            elif marker and line.strip() == fence:
                fence = None
                if wanted:
                    yield from ("", wanted, "")
                wanted = ""
            elif fence and (found := COMMAND.match(line) or DRAWN.match(line)):
                wanted = wanted or self.block(found[1], playground)
            elif not fence and (found := PICTURE.match(line)):
                wanted = self.block(found[1], playground)
            elif not fence and wanted and line.startswith("!["):
                yield from ("", wanted, "")
                wanted = ""
