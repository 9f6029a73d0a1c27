# SPDX-License-Identifier: Apache-2.0
"""headers_alone.py  Each header of include/ compiles alone: a part of lint.py."""
import concurrent.futures
import hashlib
import os
import re
import subprocess
import tempfile

def included(root, headers, skipped):
    """The headers that each header includes, directly or not, without paths that hold `skipped`."""
    direct = {}
    for header in headers:
        with open(os.path.join(root, "include", header), encoding="utf-8") as file:
            direct[header] = [h for h in re.findall(r'^#include "([^"]+)"', file.read(), re.M)
                              if skipped not in h]
    found = {}
    for header in headers:
        seen, left = set(), [header]
        while left:
            new = [h for h in direct.get(left.pop(), []) if h not in seen]
            seen.update(new)
            left += new
        found[header] = seen
    return found


def chains_of(below):
    """The headers in as few lists as there can be in which each includes all before it: a maximum
    matching of headers with the next ones, by augmenting paths."""
    following = {}

    def place(header, tried):
        for lower in sorted(below[header]):
            if lower not in below or lower in tried:
                continue
            tried.add(lower)
            if lower not in following or place(following[lower], tried):
                following[lower] = header
                return True
        return False

    for header in sorted(below):
        place(header, set())
    chains = [[header] for header in sorted(set(below) - set(following.values()))]
    for chain in chains:
        while chain[-1] in following:
            chain.append(following[chain[-1]])
    return chains


# Most other headers include it; reading its text takes most of their time.
COMMON = "tilewright/arch/select.hpp"
HOST = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror"]


def precompiled(root, folder):
    """Words of g++ that let a source read COMMON from a file of the folder; none if it does not
    compile."""
    path = os.path.join(folder, "common.hpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#include "{COMMON}"\n')
    include = "-I" + os.path.join(os.path.abspath(root), "include")
    done = subprocess.run([*HOST, include, "-x", "c++-header", path, "-o", path + ".gch"],
                          capture_output=True, check=False)
    return [] if done.returncode else ["-include", path]


def compile_headers(root, headers, nvcc, words=()):
    """The compiler's complaint about these headers in one source, or None. nvcc for arch/cuda."""
    include = "-I" + os.path.join(os.path.abspath(root), "include")
    if "/arch/cuda/" in headers[0]:
        command = [nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-x", "cu",
                   "--ptx"]
    else:
        command = [*HOST, *words, "-fsyntax-only", "-x", "c++"]
    if command[0] is None:
        return None
    # Outputs go to a temporary folder, never to a device file.
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "alone"), "w", encoding="utf-8") as file:
            file.writelines(f'#include "{header}"\n' for header in headers)
        done = subprocess.run(command + [include, "alone"], cwd=folder, capture_output=True,
                              text=True, check=False)
    return done.stderr if done.returncode else None


def complaints(root, files, nvcc, cache):
    """(path, line, rule, text) of each header among the files that does not compile alone; skipped
    if the headers did not change since the last success.

    A source includes several headers, each of which includes those before it: a header compiles
    there if it compiles alone, and otherwise not. Headers that include COMMON follow it in their
    sources. If a source does not compile, each of its headers is tried."""
    headers = [p.removeprefix("include/") for p in files
               if p.startswith("include/tilewright/") and p.endswith(".hpp")]
    digest = hashlib.sha256(repr(nvcc).encode())
    for p in files:
        if p.startswith("include/"):
            with open(os.path.join(root, p), "rb") as file:
                digest.update(p.encode() + file.read())
    stamp = digest.hexdigest()
    if cache and os.path.exists(cache):
        with open(cache, encoding="utf-8") as file:
            if file.read() == stamp:
                return []
    on_device = {h for h in headers if "/arch/cuda/" in h}
    below = included(root, sorted(set(headers) - on_device), "/arch/cuda/")
    after_common = {h: below[h] for h in below if COMMON in below[h]}
    chains = chains_of(included(root, sorted(on_device), "/arch/emu/"))
    chains += chains_of({h: below[h] for h in below if h not in after_common})
    first = len(chains)
    chains += chains_of(after_common)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = precompiled(root, folder) if after_common else []
        results = pool.map(lambda i: compile_headers(root, chains[i], nvcc,
                                                     words if i >= first else []),
                           range(len(chains)))
        wrong = [chain for chain, text in zip(chains, results) if text]
        results = list(pool.map(lambda h: compile_headers(root, [h], nvcc), sum(wrong, [])))
    found = [(f"include/{header}", 1, "alone",
              "does not compile alone:\n" + "\n".join(text.splitlines()[:12]))
             for header, text in zip(sum(wrong, []), results) if text]
    if wrong and not found:
        found = [(f"include/{chain[-1]}", 1, "alone", "does not compile after " +
                  ", ".join(chain[:-1])) for chain in wrong]
    if cache and not found:
        os.makedirs(os.path.dirname(cache) or ".", exist_ok=True)
        with open(cache, "w", encoding="utf-8") as file:
            file.write(stamp)
    return found
