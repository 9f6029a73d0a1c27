#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assemble.py  Puts the playground's site together: one folder of static files that needs no server
and no network.

    assemble.py --modules DIR --out DIR
        DIR of the modules: layout.js, layout.wasm and so on, as playground/CMakeLists.txt builds
        them. The folder --out is written anew.

A module's file sets tilewrightModules[NAME] = {code, wasm}: the code of its worker, and the module,
compressed, in base64. A page that is opened from a file may not fetch other files, but it may load
scripts.
"""
import argparse
import base64
import gzip
import json
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SITE = HERE / "site"
# The module of each page; a page without its module is left out.
PAGES = {"index.html": "layout", "plan.html": "plan", "race.html": "race"}
# No network at all: nothing may be connected to, and nothing comes from elsewhere. A module is
# compiled ('wasm-unsafe-eval') in a worker whose code is a blob; pictures contain their styles.
POLICY = ("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; "
          "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'none'; "
          "form-action 'none'; base-uri 'none'")
NOT_SHIPPED = {"header.html", "model.html", "worker.js"}


def module_script(folder, name):
    glue = (folder / f"{name}.js").read_text(encoding="utf-8")
    worker = (SITE / "worker.js").read_text(encoding="utf-8")
    packed = gzip.compress((folder / f"{name}.wasm").read_bytes(), 9, mtime=0)
    module = {"code": glue + "\n" + worker, "wasm": base64.b64encode(packed).decode()}
    return (f"(globalThis.tilewrightModules ??= {{}}).{name} = "
            f"{json.dumps(module, separators=(',', ':'))};\n")


def styles_of_pictures(folder):
    """The rules of pictures for light and for dark pages, as the command writes them."""
    page = run_words(folder, "layout", ["layout", "(2,2):(2,1)", "--print", "html"])
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    light, dark = style.split("@media (prefers-color-scheme: dark) {")
    rules = re.compile(r"\.tw[^{}]*\{[^{}]*\}")
    return ("/* Written by playground/assemble.py: the colours and shapes of pictures. */\n"
            + "\n".join(rules.findall(light)) + "\n@media (prefers-color-scheme: dark) {\n"
            + "\n".join(rules.findall(dark.split("\n}\n")[0])) + "\n}\n")


def run_words(folder, module, words):
    """The standard output of a command line in a module."""
    return subprocess.run(["node", HERE / "run_module.cjs", folder, module, *words], check=True,
                          capture_output=True, text=True, encoding="utf-8").stdout


def sources_of_kernels(modules):
    """The sources that the page of races shows, and which of them has each kernel."""
    folders = ["ladder", "ladder/blackwell", "ladder/side", "tools/check/mutants"]
    files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
             for folder in folders for path in sorted((ROOT / folder).glob("*.hpp"))}
    listed = json.loads(run_words(modules, "race", ["playground", "list"]))["specimens"]
    kernels, missing = {}, []
    for kernel in sorted({s["kernel"] for s in listed}):
        kernels[kernel] = file_of_kernel(kernel, files)
        if kernels[kernel] is None:
            missing.append(kernel)
    if missing:
        raise SystemExit(f"assemble.py: no source has the kernels {', '.join(missing)}: "
                         "say in OTHER_NAMES which file has each")
    shown = {path: files[path] for path in sorted(with_includes(kernels.values(), files))}
    return ("globalThis.tilewrightSources = "
            + json.dumps({"files": shown, "kernels": kernels}, separators=(",", ":")) + ";\n")


# Kernels that are not named like a struct of their source.
OTHER_NAMES = {
    "a_from_registers": "tools/check/mutants/ladder_kernels.hpp",
    "device_maps": "tools/check/mutants/map_kernels.hpp",
    "ladder/13_tcgen05": "ladder/blackwell/one_cta.hpp",
    "ladder/14_cta_pair": "ladder/blackwell/cta_pair.hpp",
    "ladder/side_prefetch_first": "ladder/side/prefetch_first.hpp",
    "pdl": "tools/check/mutants/global_kernels.hpp",
    "tensor_gemm_pair": "tools/check/mutants/tensor_kernels.hpp",
}


def with_includes(paths, files):
    """These files and their includes among `files`: a report may name a line of each."""
    found, ahead = set(), list(paths)
    while ahead:
        path = ahead.pop()
        if path in found or path not in files:
            continue
        found.add(path)
        ahead += re.findall(r'#include "([^"]+)"', files[path])
    return found


def file_of_kernel(kernel, files):
    if kernel in OTHER_NAMES:
        return OTHER_NAMES[kernel]
    if kernel.startswith("ladder/"):
        name = kernel.removeprefix("ladder/")
        return f"ladder/{name}.hpp" if f"ladder/{name}.hpp" in files else None
    declared = re.compile(rf"\bstruct {re.escape(kernel)}\b")
    return next((path for path, text in files.items() if declared.search(text)), None)


def assemble(modules, out):
    if out.exists():
        shutil.rmtree(out)
    (out / "modules").mkdir(parents=True)
    built = [name for name in PAGES.values()
             if all((modules / f"{name}.{kind}").exists() for kind in ("js", "wasm"))]
    header = "".join(
        line for line in (SITE / "header.html").read_text(encoding="utf-8").splitlines(True)
        if (page := re.search(r'href="(\w+\.html)"', line)) is None or PAGES[page[1]] in built)
    for source in sorted(SITE.iterdir()):
        if source.name in NOT_SHIPPED or PAGES.get(source.name, built[0]) not in built:
            continue
        text = source.read_text(encoding="utf-8")
        if source.suffix == ".html":
            current = header.rstrip().replace(f'href="{source.name}" data-page',
                                              f'href="{source.name}" aria-current="page" data-page')
            text = text.replace("{{policy}}", POLICY).replace("{{header}}", current)
            text = text.replace("{{model}}", (SITE / "model.html").read_text(encoding="utf-8"))
        (out / source.name).write_text(text, encoding="utf-8")
    for name in built:
        (out / f"modules/{name}.js").write_text(module_script(modules, name), encoding="utf-8")
    if "race" in built:
        (out / "sources.js").write_text(sources_of_kernels(modules), encoding="utf-8")
    (out / "pictures.css").write_text(styles_of_pictures(modules), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    assemble(arguments.modules, arguments.out)


if __name__ == "__main__":
    main()
