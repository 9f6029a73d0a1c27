#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""places.py  Compiles a source whose loads and stores are seen for WebAssembly.

-fsanitize=thread makes the compiler call __tsan_read4(address) and its like before each load and
store. Natively the emulator takes the place in the source from the return address; a module has
none. This launcher compiles to LLVM's text first and gives each of these calls a second argument:
the address of a text with "file:line" of the access, from the debug information of the call
(wasm/source_lines.cpp). The line is chosen as a report chooses it among the functions that the
access was inlined into: is_vocabulary() of src/emu/report/report.cpp has the same folders.

A structure of 16 bytes is copied by llvm.memcpy. The compiler would make __tsan_memcpy of it, which
loses the alignment that the source promises, and with it the diagnosis E0047 of a misaligned
vector. So these calls are left to this script (-tsan-instrument-memintrinsics=0): an aligned copy
of 16 bytes or less becomes a write and a read before it, in g++'s order; others become
__tsan_memcpy, __tsan_memmove or __tsan_memset.

    places.py COMPILER ARGUMENTS... -o OBJECT -c SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"(call \S+ @__tsan_(?!atomic|init|func|vptr)\w+\()(.*)(\).*?, !dbg !(\d+).*)$")
HOOK = re.compile(r"declare \S+ @(__tsan_(?!atomic|init|func|vptr)\w+)\((.*?)\)")
MEMORY = re.compile(r"( *)(?:tail )?call void @llvm\.(memcpy|memmove|memset)\.[\w.]+\((.*)\)"
                    r"(?: #\d+)?, !dbg !(\d+).*$")
POINTER = re.compile(r"ptr((?: (?:noundef|nonnull|noalias|readonly|writeonly|align \d+"
                     r"|dereferenceable(?:_or_null)?\(\d+\)))*) (.*)$")
VOCABULARY = ("/tilewright/base/", "/tilewright/layout/", "/tilewright/tensor/",
              "/tilewright/atom/", "/tilewright/arch/", "/include/c++/")
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

    def lines_of(self, number):
        """(file, line) of a location and of its callers, innermost first."""
        _, values = self.nodes[number]
        yield self.file_of(values["scope"]), values.get("line", "0")
        if "inlinedAt" in values:
            yield from self.lines_of(values["inlinedAt"].lstrip("!"))

    def text_of(self, number):
        """"file:line" of the innermost line that is not of the vocabulary, else of the first."""
        if number not in self.texts:
            lines = list(self.lines_of(number))
            file, line = next((x for x in lines if x[1] != "0"
                               and not any(folder in x[0] for folder in VOCABULARY)), lines[0])
            self.texts[number] = f"{file}:{line}\n"
        return self.texts[number]


class Places:
    """The texts of the places of a source, each once."""

    def __init__(self, information):
        self.information = information
        self.names, self.made = {}, []

    def of(self, number):
        """The second argument for a call at debug location !number."""
        text = self.information.text_of(number)
        if text not in self.names:
            self.names[text] = f"@.tw_place.{len(self.names)}"
            escaped = text.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
            self.made.append(f"{self.names[text]} = private unnamed_addr constant "
                             f"[{len(text) + 1} x i8] c\"{escaped}\\00\"")
        return "ptr " + self.names[text]


def split_arguments(text):
    """Arguments of a call; a constant expression may have commas in its parentheses."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return parts + [text[begin:].strip()]


class MemoryCalls:
    """llvm.memcpy, llvm.memmove and llvm.memset, with calls that report their accesses."""

    def __init__(self, places):
        self.places = places
        self.used = set()
        self.temporaries = 0

    def call(self, name, arguments):
        self.used.add((name, arguments))
        return f"@__tsan_{name}"

    def as_i32(self, argument, lines, indent):
        kind, value = argument.removeprefix("i").replace("noundef ", "").split(" ", 1)
        if kind == "32" or not value.startswith("%"):
            return "i32 " + value
        self.temporaries += 1
        name = f"%tw.int.{self.temporaries}"
        how = "zext" if int(kind) < 32 else "trunc"
        lines.append(f"{indent}{name} = {how} i{kind} {value} to i32")
        return "i32 " + name

    def seen(self, found):
        """The lines for a call that MEMORY has found, and whether the call itself stays."""
        indent, kind, arguments, location = found.groups()
        to, second, size, _ = split_arguments(arguments)
        place, at = self.places.of(location), f", !dbg !{location}"
        to_attributes, to = POINTER.match(to).groups()
        lines, width = [], size.split(" ", 1)[1]
        widths = [width in ("1", "2", "4", "8", "16")]
        if kind == "memset":
            value = self.as_i32(second, lines, indent)
            pointers = [("write", to_attributes, to)]
        else:
            attributes, source = POINTER.match(second).groups()
            value = "ptr " + source
            pointers = [("write", to_attributes, to), ("read", attributes, source)]
        for _, attributes, _ in pointers:
            aligned = re.search(r"align (\d+)", attributes)
            widths.append(aligned is not None and widths[0] and int(aligned[1]) >= int(width))
        if all(widths):
            for access, _, pointer in pointers:
                hook = self.call(f"{access}{width}", "ptr, ptr")
                lines.append(f"{indent}call void {hook}(ptr {pointer}, {place}){at}")
            return lines, True
        hook = self.call(kind, "ptr, i32, i32, ptr" if kind == "memset" else "ptr, ptr, i32, ptr")
        count = self.as_i32(size, lines, indent)
        self.temporaries += 1  # a result without a name would need the next number of the function
        lines.append(f"{indent}%tw.to.{self.temporaries} = call ptr {hook}"
                     f"(ptr {to}, {value}, {count}, {place}){at}")
        return lines, False

    def declarations(self, text):
        return [f"declare {'ptr' if name.startswith('mem') else 'void'} @__tsan_{name}({arguments})"
                for name, arguments in sorted(self.used) if f"@__tsan_{name}(" not in text]


def with_places(source):
    lines = source.split("\n")
    places = Places(DebugInformation(lines))
    memory, out = MemoryCalls(places), []
    seen_attributes = {found[1] for line in lines
                       if (found := re.match(r"attributes (#\d+) = {.*\bsanitize_thread\b", line))}
    seen = False
    for line in lines:
        if line.startswith("define"):
            seen = any(word in seen_attributes for word in re.findall(r"#\d+", line))
        hook = HOOK.match(line)
        call = CALL.search(line)
        copied = MEMORY.match(line) if seen else None
        if hook:
            line = line.replace(f"({hook[2]})", f"({hook[2]}, ptr)" if hook[2] else "(ptr)", 1)
        elif call:
            at = call.start()
            line = f"{line[:at]}{call[1]}{call[2]}, {places.of(call[4])}{call[3]}"
        elif copied:
            made, stays = memory.seen(copied)
            out += made
            if not stays:
                continue
        elif re.search(r" call .*@__tsan_(?!atomic|init|func|vptr)", line) or (
                seen and re.search(r"(?:call|invoke) .*@llvm\.mem(?:cpy|move|set)\.", line)):
            sys.exit(f"places.py: a call without a place: {line.strip()}")
        out.append(line)
    first = next(i for i, line in enumerate(out) if line.startswith("target triple"))
    return "\n".join(out[:first + 1] + places.made + memory.declarations(source)
                     + out[first + 1:])


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
