#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build.py  Puts the package together: its Python files, the C library and the compiled module.

    python build.py LIBRARY FOLDER     FOLDER/tilewright, with LIBRARY as libtilewright.so.0

Needs g++, the headers of Python and the package nanobind. The module is of the stable ABI of Python
3.10 (nanobind's split mode), so one file serves every later version.
"""
import glob
import os
import shutil
import subprocess
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
MODULE = os.path.join(HERE, "module")
LIBRARY = "libtilewright.so.0"
CXX = os.environ.get("CXX", "g++")


def newer(output, inputs):
    """Is the output newer than all inputs?"""
    if not os.path.exists(output):
        return False
    made = os.path.getmtime(output)
    return all(os.path.getmtime(x) < made for x in inputs)


def check_interpreter():
    """Ends on free-threaded Python, which loads no module of the stable ABI of 3.10."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("tilewright: free-threaded Python loads no module of the stable ABI of 3.10. "
                 f"Install it with python{sys.version_info[0]}.{sys.version_info[1]} that has the "
                 "GIL.")


def python_headers():
    """The folder of Python.h; the stable ABI is the same in every version."""
    for folder in (sysconfig.get_path("include"), sysconfig.get_path("platinclude"),
                   *sorted(glob.glob("/usr/include/python3.*"))):
        if folder and os.path.exists(os.path.join(folder, "Python.h")):
            return folder
    sys.exit("build.py: no Python.h found (python3-dev)")


def module_command(library, output):
    """The compiler's command for the module _tw."""
    import nanobind
    return [CXX, "-std=c++20", "-Os", "-shared", "-fPIC", "-fvisibility=hidden",
            "-fno-stack-protector", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra",
            "-DNDEBUG", "-DPy_LIMITED_API=0x030A0000", "-DNB_BACKEND_MODULE=nanobind_backend",
            "-DNB_BACKEND_PYPI=nanobind-backend", "-I" + os.path.join(SOURCE, "include"),
            "-isystem", nanobind.include_dir(), "-isystem", python_headers(),
            os.path.join(MODULE, "module.cpp"), library, "-o", output, "-Wl,--gc-sections",
            "-Wl,-s", "-Wl,-rpath,$ORIGIN"]


def jax_command(library, output):
    """The compiler's command for the handlers of tilewright.jax; None without JAX's headers."""
    try:
        import jaxlib
    except ImportError:
        return None
    headers = os.path.join(os.path.dirname(jaxlib.__file__), "include")
    return [CXX, "-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden",
            "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-DNDEBUG",
            "-I" + os.path.join(SOURCE, "include"), "-isystem", headers,
            os.path.join(MODULE, "jax.cpp"), library, "-o", output, "-Wl,--gc-sections", "-Wl,-s",
            "-Wl,-rpath,$ORIGIN"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr or f"{command[0]} failed")
    if "warning:" in done.stderr:
        sys.stderr.write(done.stderr)


def compiled(command, output, inputs):
    """Runs the command if the output is older. TILEWRIGHT_PORTABLE is a folder: the library is
    linked for older systems (portable.py)."""
    if command is None or newer(output, inputs):
        return
    folder = os.environ.get("TILEWRIGHT_PORTABLE")
    if folder:
        import portable
        command = portable.linked(command, folder)
    run(command)


def sources(*names):
    shared = [os.path.join(SOURCE, "include/tilewright.h"), os.path.join(MODULE, "tensors.hpp"),
              *(os.path.join(MODULE, name) for name in ("exchange.hpp", "calls.hpp", "direct.hpp",
                                                        "plan.hpp", "weights.hpp", "groups.hpp")),
              os.path.abspath(__file__)]
    return [os.path.join(MODULE, name) for name in names] + shared


def copy_package(package):
    """Copies the Python files; removes those that the source no longer has."""
    names = [x for x in os.listdir(os.path.join(HERE, "tilewright"))
             if x.endswith((".py", ".pyi", ".typed"))]
    for old in os.listdir(package):
        if old.endswith((".py", ".pyi")) and old not in names:
            os.remove(os.path.join(package, old))
    for name in names:
        shutil.copy2(os.path.join(HERE, "tilewright", name), os.path.join(package, name))


def emulator_parts(library):
    """The archives that an own kernel is linked with, of the library's build folder: the emulator,
    fmt, boost_context and libbacktrace. None where they are missing."""
    folder = os.path.dirname(os.path.dirname(os.path.realpath(library)))
    parts = [os.path.join(folder, name) for name in (
        "libtilewright_emulator.a", "libtilewright_emulator_hooks.a",
        "CMakeFiles/tilewright_c.dir/capi/inside/fmt.cpp.o")]
    for name in ("libboost_context.a", "libbacktrace.a"):
        done = subprocess.run([CXX, "-print-file-name=" + name], capture_output=True, text=True,
                              check=True)
        parts.append(done.stdout.strip())
    return parts if all(os.path.isfile(x) for x in parts) else None


def without_cuda(emulator, folder):
    """Lines for ar that replace CUDA objects in the emulator's archive by objects without CUDA: own
    kernels are linked with g++ alone."""
    done = subprocess.run(["ar", "t", emulator], capture_output=True, text=True, check=True)
    script = []
    for member in done.stdout.split():
        if member.endswith(".cu.o"):
            name = member.removesuffix(".cu.o") + ".nocuda.cpp"
            target = os.path.join(folder, name + ".o")
            subprocess.run([CXX, "-std=c++20", "-O2", "-fPIC", "-c",
                            "-I" + os.path.join(SOURCE, "include"),
                            "-I" + os.path.join(SOURCE, "src"),
                            os.path.join(SOURCE, "src/arch", name), "-o", target], check=True)
            script += [f"delete {member}", f"addmod {target}"]
    return script


def add_emulator(library, package):
    """package/emulator: headers, one archive, and the exports of a kernel's library."""
    parts = emulator_parts(library)
    if parts is None:
        return
    folder = os.path.join(package, "emulator")
    os.makedirs(folder, exist_ok=True)
    headers = os.path.join(folder, "include/tilewright")
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(os.path.join(SOURCE, "include/tilewright"), headers)
    with open(os.path.join(folder, "plugin.map"), "w", encoding="utf-8") as file:
        file.write("{ global: tilewright_plugin; local: *; };\n")
    archive = os.path.join(folder, "libemulator.a")
    if newer(archive, parts):
        return
    script = [f"create {archive}"]
    script += [f"add{'mod' if x.endswith('.o') else 'lib'} {x}" for x in parts]
    script += without_cuda(parts[0], folder) + ["save", "end"]
    done = subprocess.run(["ar", "-M"], input="\n".join(script) + "\n", capture_output=True,
                          text=True, check=False)
    if done.returncode != 0 or not os.path.exists(archive):
        sys.exit(f"ar: {done.stderr or done.stdout}")


def build(library, folder):
    """Makes FOLDER/tilewright, and compiles what is older than its sources."""
    check_interpreter()
    package = os.path.join(folder, "tilewright")
    os.makedirs(package, exist_ok=True)
    copy_package(package)
    own = os.path.join(package, LIBRARY)
    if not newer(own, [library]):
        shutil.copy(library, own)
    module = os.path.join(package, "_tw.abi3.so")
    compiled(module_command(own, module), module, sources("module.cpp"))
    add_emulator(library, package)
    handlers = os.path.join(package, "_jax.so")
    compiled(jax_command(own, handlers), handlers, sources("jax.cpp"))
    return package


if __name__ == "__main__":
    print(build(*sys.argv[1:]))
