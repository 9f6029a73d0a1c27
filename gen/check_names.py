#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names that arch/cuda and arch/emu declare with include/tilewright/arch/names.def.

Exits 1 and lists the differences if a backend lacks a name or has one that is not in the table.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ARCH = os.path.join(HERE, "../include/tilewright/arch")
# In emu/ some headers speak to the engine, not to kernels.
NOT_VOCABULARY = {"engine.hpp", "options.hpp", "site.hpp", "tensor_map_emu.hpp", "launch.hpp",
                  "member_bindings.hpp", "tensor_engine.hpp"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def table(arch):
    with open(os.path.join(arch, "names.def"), encoding="utf-8") as file:
        return re.findall(r"\bX\(([\w:]+),", without_comments(file.read()))


def members(text, name):
    """Public member functions of struct `name`, as name::member, and the text without it."""
    found = re.search(rf"^struct (?:alignas\(\d+\) )?{name} \{{\n(.*?)^\}};", text, re.S | re.M)
    if not found:
        return set(), text
    public = found[1].split(" private:")[0]
    names = re.findall(r"^  (?:TW_DEVICE )?(?:static )?(?:void|bool|int|mbarrier_token) (\w+)\(",
                       public, re.M)
    return {f"{name}::{n}" for n in names}, text[:found.start()] + text[found.end():]


def declared(folder):
    """Names at the level of namespace tw in the headers of a backend."""
    names = set()
    for path in sorted(glob.glob(os.path.join(folder, "*.hpp"))):
        if os.path.basename(path) in NOT_VOCABULARY:
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^namespace (tw::)?(detail|emu) \{.*?^\}  // namespace", "", text,
                      flags=re.S | re.M)
        text = without_comments(text)
        own, text = members(text, "mbarrier")
        names |= own
        names |= set(re.findall(r"^TW_DEVICE [\w:<>&*, ]*?[ *&](\w+)\(", text, re.M))
        names |= set(re.findall(r"^struct (?:alignas\(\d+\) )?(\w+)", text, re.M))
    return names


def differences(arch):
    rows = table(arch)
    wanted = set(rows)
    found = [f"{name} is in names.def twice" for name in wanted if rows.count(name) > 1]
    for backend in ("cuda", "emu"):
        has = declared(os.path.join(arch, backend))
        found += [f"arch/{backend} lacks {name}" for name in wanted - has]
        found += [f"names.def lacks {name} of arch/{backend}" for name in has - wanted]
    return sorted(found)


def main():
    found = differences(sys.argv[1] if len(sys.argv) > 1 else ARCH)
    for line in found:
        print(f"check_names: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
