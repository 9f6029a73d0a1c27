#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""places.py  Compiles a source whose loads and stores are seen for WebAssembly.

-fsanitize=thread makes the compiler call __tsan_read4(address) and its like before each load and
store. Natively the emulator takes the place in the source from the return address; a module has
none. This launcher compiles to LLVM's text first and gives each of these calls a second argument:
the address of a text with "file:line" of the access and of the functions that it was inlined into
(wasm/source_lines.cpp), from the debug information of the call.

    places.py COMPILER ARGUMENTS... -o OBJECT -c SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"(call \S+ @__tsan_(?!atomic|init|func|vptr)\w+\()(.*)(\).*?, !dbg !(\d+).*)$")
HOOK = re.compile(r"declare \S+ @(__tsan_(?!atomic|init|func|vptr)\w+)\((.*?)\)")
NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")


def fields(text):
    """The named fields of a metadata node."""
    return dict(re.findall(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,()]+)', text))


class DebugInformation:
    """Metadata nodes by number."""

    def __init__(self, lines):
        self.nodes = {}
        for line in lines:
            found = NODE.match(line)
            if found:
                self.nodes[found[1]] = (found[2], fields(found[3]))
        self.texts = {}

    def file_of(self, scope):
        kind, values = self.nodes[scope.lstrip("!")]
        file = values.get("file")
        if kind != "DIFile" and file is None:
            return self.file_of(values["scope"])
        if kind != "DIFile":
            return self.file_of(file)
        name = values["filename"].strip('"')
        folder = values.get("directory", '""').strip('"')
        return name if os.path.isabs(name) or not os.path.isabs(folder) else f"{folder}/{name}"

    def text_of(self, number):
        """"file:line" of a location and of its callers, innermost first."""
        if number not in self.texts:
            _, values = self.nodes[number]
            text = f"{self.file_of(values['scope'])}:{values.get('line', '0')}\n"
            if "inlinedAt" in values:
                text += self.text_of(values["inlinedAt"].lstrip("!"))
            self.texts[number] = text
        return self.texts[number]


def with_places(source):
    lines = source.split("\n")
    information = DebugInformation(lines)
    names, made, out = {}, [], []
    for line in lines:
        hook = HOOK.match(line)
        call = CALL.search(line)
        if hook:
            line = line.replace(f"({hook[2]})", f"({hook[2]}, ptr)" if hook[2] else "(ptr)", 1)
        elif call:
            text = information.text_of(call[4])
            if text not in names:
                names[text] = f"@.tw_place.{len(names)}"
                escaped = text.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
                made.append(f"{names[text]} = private unnamed_addr constant "
                            f"[{len(text) + 1} x i8] c\"{escaped}\\00\"")
            at = call.start()
            line = f"{line[:at]}{call[1]}{call[2]}, ptr {names[text]}{call[3]}"
        elif re.search(r" call .*@__tsan_(?!atomic|init|func|vptr)", line):
            sys.exit(f"places.py: a call without a place: {line.strip()}")
        out.append(line)
    first = next(i for i, line in enumerate(out) if line.startswith("target triple"))
    return "\n".join(out[:first + 1] + made + out[first + 1:])


def main():
    command = sys.argv[1:]
    target = pathlib.Path(command[command.index("-o") + 1])
    listing = target.with_suffix(".ll")
    first = list(command)
    first[first.index("-o") + 1] = str(listing)
    first[first.index("-c")] = "-S"
    subprocess.run(first + ["-emit-llvm"], check=True)
    listing.write_text(with_places(listing.read_text()))
    # The optimisations have been made: this run only writes the code.
    keep = [word for i, word in enumerate(command) if word.startswith(("--target", "-O"))]
    subprocess.run([command[0], *keep, "-fexceptions",
                    "-mllvm", "-enable-emscripten-cxx-exceptions", "-mllvm", "-disable-lsr",
                    "-Xclang", "-disable-llvm-passes", "-Wno-everything",
                    "-c", str(listing), "-o", str(target)], check=True)
    listing.unlink()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
