# SPDX-License-Identifier: Apache-2.0
"""backend.py  Builds the wheel and the source distribution (PEP 517): pyproject.toml names it.

`pip install .` compiles the C library with CMake (g++ 12, CMake 3.25, ninja and the packages of
./dev are needed) and the module with g++. Environment:

    TILEWRIGHT_LIBRARY   libtilewright.so.0 of a build folder: it is not compiled
    TILEWRIGHT_KERNELS   full (without), representative, or demo, which has no device code
    TILEWRIGHT_CUDA      OFF: no device code, even where nvcc is found
    TILEWRIGHT_LOCAL     the local part of the version, such as "representative"

Handlers for JAX are compiled where jaxlib can be imported: `pip install --no-build-isolation .`
"""
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
sys.path.insert(0, HERE)


def project():
    """The table [project] of pyproject.toml."""
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    with open(os.path.join(SOURCE, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def version():
    with open(os.path.join(SOURCE, "include/tilewright/base/version.hpp"), encoding="utf-8") as f:
        text = re.search(r'version_text\S* = "([\d.]+)"', f.read())[1]
    local = os.environ.get("TILEWRIGHT_LOCAL", "")
    return f"{text}+{local}" if local else text


def metadata():
    p = project()
    with open(os.path.join(SOURCE, p["readme"]), encoding="utf-8") as file:
        readme = file.read()
    lines = ["Metadata-Version: 2.4", f"Name: {p['name']}", f"Version: {version()}",
             f"Summary: {p['description']}", f"License-Expression: {p['license']}",
             *(f"License-File: {x}" for x in p["license-files"]),
             f"Keywords: {','.join(p['keywords'])}",
             *(f"Classifier: {x}" for x in p["classifiers"]),
             f"Requires-Python: {p['requires-python']}",
             *(f"Requires-Dist: {x}" for x in p["dependencies"])]
    for extra, needs in p["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {x}; extra == "{extra}"' for x in needs]
    lines += ["Description-Content-Type: text/markdown", "", readme]
    return "\n".join(lines)


def entry_points():
    p = project()
    groups = {"console_scripts": p["scripts"], **p["entry-points"]}
    return "\n".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items())
                     for group, rows in groups.items())


def tag():
    machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp310-abi3-{machine}"


def library():
    """libtilewright.so.0: given, or compiled."""
    given = os.environ.get("TILEWRIGHT_LIBRARY")
    if given:
        return os.path.abspath(given)
    folder = os.path.join(SOURCE, "build-python")
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    kernels = os.environ.get("TILEWRIGHT_KERNELS", "full")
    with_cuda = nvcc and kernels != "demo" and os.environ.get("TILEWRIGHT_CUDA") != "OFF"
    cuda = ["-DTW_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={nvcc}"] if with_cuda else ["-DTW_CUDA=OFF"]
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DTW_TESTS=OFF",
                    "-DTW_TOOLS=OFF", "-DTW_C_LIBRARY=ON", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DTW_KERNELS={kernels}", *cuda], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "tilewright_c",
                    "tilewright_emulator_hooks"], check=True)
    return os.path.join(folder, "c/libtilewright.so.0")


def files_of(folder):
    """(path in the wheel, path here) of all files, sorted."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(x for x in folders if x != "__pycache__")
        for name in sorted(names):
            path = os.path.join(where, name)
            yield os.path.relpath(path, folder), path


def stripped(path):
    """The bytes of a library without its symbol table; of other files as they are."""
    if path.endswith((".so", ".so.0")):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(path, os.path.join(folder, "x"))
            subprocess.run(["strip", "--strip-unneeded", copy], check=True)
            path = copy
            with open(path, "rb") as file:
                return file.read()
    with open(path, "rb") as file:
        return file.read()


def info_files():
    """The files of the .dist-info folder but RECORD: text by path."""
    wheel = "\n".join(["Wheel-Version: 1.0", "Generator: tilewright", "Root-Is-Purelib: false",
                       f"Tag: {tag()}", ""])
    with open(os.path.join(SOURCE, "LICENSE"), encoding="utf-8") as file:
        license_text = file.read()
    return {"METADATA": metadata(), "WHEEL": wheel, "entry_points.txt": entry_points(),
            "licenses/LICENSE": license_text}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    import build
    build.check_interpreter()  # before the minutes of the compiler
    info = f"tilewright-{version()}.dist-info"
    for path, text in info_files().items():
        whole = os.path.join(metadata_directory, info, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    import build
    build.check_interpreter()
    info = f"tilewright-{version()}.dist-info"
    name = f"tilewright-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(
            os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        build.build(library(), folder)
        records = []

        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same bytes each time
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")

        for path, here in files_of(folder):
            add(path, stripped(here), 0o755 if ".so" in path else 0o644)
        for path, text in info_files().items():
            add(f"{info}/{path}", text.encode())
        records.append(f"{info}/RECORD,,")
        add(f"{info}/RECORD", ("\n".join(records) + "\n").encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The files that git has, without tests, measurements and the site."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True,
                            check=False)
    if listed.returncode == 0:
        paths = [p for p in listed.stdout.decode().split("\0") if p]
    else:
        paths = [p for p, _ in files_of(SOURCE) if not p.startswith(("build", "."))]
    left_out = re.compile(r"(tests|bench/results|demo|docs/(?!errors/)|\.ci|\.github)(/|$)|\.git")
    name = f"tilewright-{version()}"
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as tar:
        for path in sorted(paths):
            if not left_out.match(path) and os.path.isfile(os.path.join(SOURCE, path)):
                tar.add(os.path.join(SOURCE, path), f"{name}/{path}")
        text = metadata().encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    return name + ".tar.gz"
