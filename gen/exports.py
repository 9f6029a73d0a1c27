# SPDX-License-Identifier: Apache-2.0
"""exports.py  cmake/exports.txt: names that the shared C++ libraries export.

    python3 gen/exports.py ARCHIVE...           writes the list from the archives of a build
    python3 gen/exports.py --check ARCHIVE...   exits with 1 if the list has other names

Exported are the functions and objects that a header of include/tilewright declares and the archives
define, by their qualified names. An internal name (src/) is exported if one library has it and the
other one uses it.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = os.path.join(ROOT, "include/tilewright")
# Variables that a header defines and the library sets.
INLINE = ["tw::detail::library_throws"]
LIST = os.path.join(ROOT, "cmake/exports.txt")
TOKEN = re.compile(r"\b(?:namespace|class|struct|enum|union|using|template|requires|operator)\b|"
                   r"[A-Za-z_]\w*|::|[{}();=<>~]|[^\s\w]")


def declared_in(text):
    """Qualified names of functions and objects that the text declares in namespaces and classes.
    Reads C++ as clang-format writes it: no macros that open braces."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', "0", text)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    scopes, statement, depth, names = [], [], 0, set()
    for token in TOKEN.findall(text):
        if token == "{":
            head = " ".join(statement)
            opened = re.search(r"\bnamespace ((?:\w+(?: :: )?)+)$", head)
            if not opened and "(" not in head and not re.search(r"\b(?:enum|=)", head):
                opened = re.search(r"\b(?:class|struct) (?:TW_\w+ )?(\w+)", head)
            scopes.append(opened[1].replace(" ", "").split("::") if opened else
                          [] if head == "namespace" else None)
            statement = [] if opened else statement
        elif token == "}":
            if scopes:
                scopes.pop()
            statement = []
        elif None in scopes:
            continue
        elif token in "()":
            if token == "(" and depth == 0 and statement and re.match(r"[A-Za-z_]", statement[-1]):
                destructor = len(statement) > 1 and statement[-2] == "~"
                names.add(qualified(scopes, "~" * destructor + statement[-1]))
            depth += 1 if token == "(" else -1
            statement.append(token)
        elif token == ";" and depth == 0:
            if "extern" in statement or "thread_local" in statement or "static" in statement:
                names.add(qualified(scopes, statement[-1]))
            statement = []
        else:
            statement.append(token)
    return names


def qualified(scopes, name):
    return "::".join([part for scope in scopes for part in scope] + [name])


def public_names():
    names = set()
    for folder, _, files in os.walk(HEADERS):
        for name in sorted(files):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                names |= declared_in(file.read())
    return names


def symbols_of(archive, kind):
    """(type, name with parameters) of the symbols of namespace tw."""
    text = subprocess.run(["nm", "-C", kind, archive], capture_output=True, text=True,
                          check=True).stdout
    return re.findall(r"^[0-9a-f ]+ ([TDBRVU]) ((?:typeinfo for )?tw::"
                      r"(?!.*\(anonymous namespace\)|.*\{lambda).*)", text, re.M)


def list_text(archives):
    declared, names, classes, by_archive = public_names(), set(INLINE), set(), {}
    for archive in archives:
        defined = symbols_of(archive, "--defined-only")
        by_archive[archive] = {text for _, text in defined if text.startswith("tw::")}
        classes |= {text[13:] for _, text in defined if text.startswith("typeinfo for ")}
    for archive, texts in by_archive.items():
        others = {text for other in archives if other != archive
                  for _, text in symbols_of(other, "--undefined-only")}
        names |= {name for text in texts for name in [re.match(r"(?:\w+|::|~)+", text)[0]]
                  if name in declared or text in others}
    classes = {c for c in classes if re.fullmatch(r"[\w:]+", c) and
               any(name.startswith(c + "::") for name in declared)}
    return "".join(line + "\n" for line in [
        "# The shared C++ libraries export the names that headers of include/tilewright declare,",
        "# and names of src/ if one library has them and the other one uses them. Overloads share",
        "# a line. Written by gen/exports.py; tests/consumer holds it.",
        *(f"class {c}" for c in sorted(classes)), *sorted(names)])


def main():
    archives = [a for a in sys.argv[1:] if a != "--check"]
    text = list_text(archives)
    if "--check" not in sys.argv:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(LIST, encoding="utf-8") as file:
        old, new = set(file.read().splitlines()), set(text.splitlines())
    if old != new:
        sys.exit("\n".join(["cmake/exports.txt is stale: python3 gen/exports.py "
                           + " ".join(archives), *(f"- {line}" for line in sorted(old - new)),
                           *(f"+ {line}" for line in sorted(new - old))]))


if __name__ == "__main__":
    main()
