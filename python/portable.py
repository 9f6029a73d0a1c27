#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""portable.py  Links libraries so that they run on glibc 2.28 and later (manylinux_2_28).

    python portable.py BUILD FOLDER     FOLDER/libtilewright.so.0, of the objects of BUILD

The objects of the build are linked once more, with libstdc++ inside, against the
symbols of glibc 2.28, which the package ziglang has. compat.c has the few functions that are newer.
"""
import glob
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CC, CXX = os.environ.get("CC", "gcc"), os.environ.get("CXX", "g++")
GLIBC = "2.28"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"portable: {' '.join(command[:3])} ...: {done.stderr[-3000:] or done.stdout}")
    return done.stdout


def symbols_of_glibc(folder):
    """A folder with libc.so.6, libm.so.6 and more of glibc 2.28, which have symbols alone."""
    folder = os.path.join(folder, "glibc-" + GLIBC)
    pattern = os.path.join(folder, "cache/o/*/libc.so.6")
    if not glob.glob(pattern):
        os.makedirs(folder, exist_ok=True)
        source = os.path.join(folder, "empty.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int nothing(void) { return 0; }\n")
        run([sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{GLIBC}",
             "-shared", "-o", os.path.join(folder, "empty.so"), source, "-lm", "-lpthread", "-ldl",
             "-lrt"], env=dict(os.environ, ZIG_GLOBAL_CACHE_DIR=os.path.join(folder, "cache")))
    return os.path.dirname(glob.glob(pattern)[0])


def libraries(folder):
    """The linker's arguments that replace the libraries of this machine."""
    glibc = symbols_of_glibc(folder)
    compat = os.path.join(folder, "compat.o")
    run([CC, "-O2", "-fPIC", "-c", os.path.join(HERE, "compat.c"), "-o", compat])
    shared = [os.path.join(glibc, name) for name in (
        "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libc.so.6", "libld.so.2")]
    return [compat, "-nodefaultlibs", "-Wl,--start-group", "-l:libstdc++.a", "-lgcc",
            "-Wl,--as-needed", "-lgcc_s", *(x for x in shared if os.path.exists(x)),
            "-Wl,--end-group", "-Wl,--exclude-libs,ALL"]


def linked(command, folder):
    """The compiler's command for a shared library, with portable libraries."""
    kept = [x for x in command if x not in ("-lpthread", "-ldl", "-lrt", "-lm", "-pthread")
            and os.path.basename(x) not in ("librt.a", "libdl.a", "libpthread.a", "libm.so")]
    return [*kept, *libraries(folder)]


def link_of_library(build):
    """The command that links the C library in a build folder, as words."""
    line = run(["ninja", "-C", build, "-t", "commands", "tilewright_c"]).strip().split("\n")
    (link,) = [x for x in line if "-shared" in x and "libtilewright.so.0 " in x]
    words = []
    for word in shlex.split(link):
        if word in ("&&", ":"):
            if words:
                break
            continue
        words.append(word)
    return words


def library(build, folder):
    """FOLDER/libtilewright.so.0, of the objects of a build folder that is up to date."""
    os.makedirs(folder, exist_ok=True)
    output = os.path.join(os.path.abspath(folder), "libtilewright.so.0")
    words = link_of_library(build)
    words[words.index("-o") + 1] = output
    # Kernels for the emulator have many functions that are equal: of all kernels 15 of 36 MB.
    words += ["-fuse-ld=gold", "-Wl,--icf=safe"]
    run(linked(words, os.path.abspath(folder)), cwd=build)
    return output


if __name__ == "__main__":
    print(library(os.path.abspath(sys.argv[1]), sys.argv[2]))
