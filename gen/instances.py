#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""instances.py  Reads the lists of compiled kernels, and writes the sources that compile them.

A family is a folder src/family/FAMILY with two files for this script:
  instances.txt  tables: one row per kernel without its types; the columns AB:D say for which
                 majors it is compiled, and the column "representative" which of these kernels
                 TW_KERNELS=representative builds; TW_KERNELS=demo builds the kernels of DEMO_TYPES
                 among them. TW_DEVICE_KERNELS=smoke compiles device code of the representative
                 kernels whose majors are followed by an exclamation mark: each path of the code
                 once. Operands of different types are AxB:D. A line of column names begins each
                 table.
  instances.py   COLUMNS before these; CONFIG, PARAMS and KERNEL (names in C++) with the headers
                 that have them; PROFILED, the names of kernels that are also compiled with a
                 record of their stages, from the template PROFILED_KERNEL, and PROFILED_ON_GPU;
                 GATED, if it is there, the names of kernels that are also compiled with a gate
                 before their loads, from the template GATED_KERNEL; and
                 describe(), which turns a row's cells, types and majors into the kernel's name
                 and the configuration in C++, and, if a launch chooses the columns of its tiles,
                 the name before and after them; describe() finds EPILOGUES, the registered
                 epilogues (problem/epilogue_kind.hpp), in its module

    gen/instances.py --out DIR --set SET [--device SET]
        Writes sources to DIR: families.cpp (the list of families), FAMILY/instances.cpp (the table
        of all its kernels), launchers, and kernels, a few in each source: the kernels of --set for
        the emulator, and the kernels of --device for the GPU; and the headers that each family has
        (gen/family_headers.py). Prints the sources.
    gen/instances.py --names [--set representative]
        Prints the names of all kernels, or of those of the set.
"""
import argparse
import importlib.util
import itertools
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import elements  # noqa: E402
import family_headers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = ROOT / "src/family"
MAJORS = ["tn", "tt", "nn", "nt"]
ELEMENTS = elements.bits()
# g++ takes about 1 s for each, nvcc 2 to 4 s; the headers of a source take nvcc 3 s more. The first
# launch from each object of device code takes time (docs/builds.md): it has few kernels where all
# are built.
KERNELS_PER_SOURCE = {"emu": 24, "gpu": 12}
KERNELS_PER_SOURCE_OF_ALL = {"emu": 24, "gpu": 8}
GATED_PER_SOURCE = {"emu": 24, "gpu": 5}
# Beside 18 others ptxas gives a kernel of this family 236 registers instead of 234, which it has in
# the full set and in tests/golden/ptxas.json.
IN_SMALL_SOURCES = ["sm100_scaled"]
SETS = ["none", "smoke", "demo", "representative", "full"]
DEMO_TYPES = ("bf16", "f32")  # of the kernels that demo/run.py runs


class Problem(Exception):
    """A fault in a list of kernels, with its place."""


class Instance:
    """A compiled kernel."""

    def __init__(self, family, index, ab, d, majors, described, representative, smoke):
        self.family, self.index = family, index
        self.ab, self.d, self.majors = ab, d, majors
        self.name, self.config, *self.around_columns = described
        self.representative, self.smoke = representative, smoke

    def in_set(self, which):
        if which in ("none", "planned"):
            return False
        if which == "smoke":
            return self.smoke
        if which == "demo":
            return self.representative and (self.ab, self.d) == DEMO_TYPES
        return which == "full" or self.representative


def read_epilogues(path=ROOT / "include/tilewright/problem/epilogue_kind.hpp"):
    """word -> (type, suffix of kernel names) of the registered epilogues, in their order."""
    text = path.read_text(encoding="utf-8")
    stated = {name: (word, suffix) for name, word, suffix in re.findall(
        r'struct (\w+) \{\s+static constexpr char const \*word = "(.+?)", \*suffix = "(.*?)";',
        text)}
    listed = re.search(r"using epilogue_list =\s+type_list<(.*?)>;", text, re.DOTALL)
    order = re.findall(r"epilogues::(\w+)", listed[1] if listed else "")
    if sorted(order) != sorted(stated):
        raise Problem(f"{path}: epilogue_list does not have each epilogue once, with its word and "
                      "suffix in its first line")
    return {stated[name][0]: (name, stated[name][1]) for name in order}


def load_description(folder):
    spec = importlib.util.spec_from_file_location(f"{folder.name}_instances",
                                                  folder / "instances.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.EPILOGUES = read_epilogues()
    return module


def majors_of(cell, where):
    """The majors that a cell names, in their usual order."""
    if cell == "-":
        return []
    named = MAJORS if cell == "all" else cell.split(",")
    if len(set(named)) != len(named) or not set(named) <= set(MAJORS):
        raise Problem(f"{where}: '{cell}' is not 'all', '-' or a list of {', '.join(MAJORS)}")
    return [m for m in MAJORS if m in named]


def representatives_of(cell, compiled, where):
    """{(AB:D, majors): is it in the smoke set?} of the representative kernels of a row that is
    compiled for `compiled`."""
    chosen = {}
    for part in cell.split(";") if cell != "-" else []:
        types, _, majors = part.partition("=")
        smoke = {m.rstrip("!") for m in majors.split(",") if m.endswith("!")}
        for m in majors_of(majors.replace("!", ""), where):
            if (types, m) not in compiled:
                raise Problem(f"{where}: {types}={m} is representative, but not compiled")
            chosen[types, m] = m in smoke
    return chosen


def read_family(folder):
    """All instances of a family, in the order of its table."""
    path, description = folder / "instances.txt", load_description(folder)
    columns, instances, names = None, [], {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where, cells = f"{os.path.relpath(path, ROOT)}:{number}", line.split()
        if not cells or line.startswith("#"):
            continue
        if columns is None or cells[0] == description.COLUMNS[0]:
            columns = cells
            pairs = [c for c in columns if ":" in c]
            if columns != [*description.COLUMNS, *pairs, "representative"]:
                raise Problem(f"{where}: columns are not {', '.join(description.COLUMNS)}, "
                              "then pairs AB:D, then representative")
            for ab, d in (p.split(":") for p in pairs):
                if not set(ab.split("x")) <= set(ELEMENTS) or d not in ELEMENTS:
                    raise Problem(f"{where}: {ab}:{d} names an unknown element type")
            continue
        if len(cells) != len(columns):
            raise Problem(f"{where}: {len(cells)} cells for {len(columns)} columns")
        row = dict(zip(columns, cells))
        compiled = [(p, m) for p in pairs for m in majors_of(row[p], where)]
        chosen = representatives_of(row["representative"], compiled, where)
        for types, majors in compiled:
            ab, d = types.split(":")
            try:
                described = description.describe(row, ab, d, majors,
                                                 ELEMENTS[ab.split("x")[0]])
            except ValueError as e:
                raise Problem(f"{where}: {e}") from e
            i = Instance(folder.name, len(instances), ab, d, majors, described,
                         (types, majors) in chosen, chosen.get((types, majors), False))
            if i.name in names:
                raise Problem(f"{where}: {i.name} is listed twice, first in {names[i.name]}")
            names[i.name] = where
            instances.append(i)
    return description, instances


def read_all():
    """family -> (its description, its instances)."""
    folders = sorted(p.parent for p in FAMILIES.glob("*/instances.txt"))
    return {f.name: read_family(f) for f in folders}


def file_text(family, name, sentence, includes, body):
    lines = "".join(f'#include "family/{family}/{i}"\n' for i in includes)
    return ("// SPDX-License-Identifier: Apache-2.0\n// Generated by gen/instances.py\n"
            f"// {name}  {sentence}\n{lines}\nnamespace tw::{family}_family {{\n\n{body}\n"
            f"}}  // namespace tw::{family}_family\n")


def table_text(family, description, instances):
    """All kernels, and where a configuration is among them."""
    rows = "".join(f'    {{{i.config}, "{i.name}", {str(i.representative).lower()}'
                   + "".join(f', "{text}"' for text in i.around_columns) + "},\n"
                   for i in instances)
    return file_text(
        family, "instances.cpp", f"All kernels of {family}.", ["instances.hpp"],
        f"static constexpr instance table[] = {{\n{rows}}};\n\n"
        "std::span<instance const> instances() { return table; }\n\n"
        f"int index_of({description.CONFIG} const& c) {{\n"
        "  for (instance const& i : table)\n"
        "    if (i.config == c) return static_cast<int>(&i - table);\n  return -1;\n}\n")


def launchers_text(family, name, backend, instances, built, profiled, planned=""):
    """planned: parameters of a function that stands for each kernel in a build that plans alone."""
    other = "&planned_alone" if planned else "nullptr"
    rows = "".join(f"    &launch_{backend}<{i.config}>,\n" if i in built else
                   f"    {other},  // {i.name}\n" for i in instances)
    alone = f"static void planned_alone({planned}) {{ __builtin_trap(); }}\n\n" if planned else ""
    body = (f"{alone}static constexpr {backend}_launcher table[] = {{\n{rows}}};\n\n"
            f"std::span<{backend}_launcher const> {backend}_launchers() {{ return table; }}\n")
    return file_text(family, name, f"The kernels of {family} that are built.", ["launchers.hpp"],
                     body + profiled)


def source_text(description, family, backend, name, chunk):
    result, parameters = {
        "emu": ("void", f"int, {description.PARAMS} const&, emu::options const&"),
        "gpu": ("int", f"int, {description.PARAMS} const&, cudaStream_t, bool")}[backend]
    kernels = "".join(f"// {i.name}\ntemplate {result} launch_{backend}<{i.config}>(\n"
                      f"    {parameters});\n" for i in chunk)
    suffix = "hpp" if backend == "emu" else "cuh"
    return file_text(family, name, f"{len(chunk)} kernels of {family}.",
                     [f"launch_{backend}.{suffix}"], kernels)


# Forms in which kernels are compiled a second time: a title of the sources, the parameter after
# the kernel's parameters, and the last parameters of a launch on a GPU.
SECOND_FORMS = {
    "profiled": ("Kernels with a record of their stages.", "stage_log", "cudaStream_t"),
    "gated": ("Kernels with a gate before their loads.", "gate_params", "cudaStream_t, bool")}


def also_compiled(description, form, instances, family):
    """The kernels that are also compiled in this form of SECOND_FORMS."""
    by_name = {i.name: i for i in instances}
    listed = getattr(description, form.upper())
    if missing := [name for name in listed if name not in by_name]:
        raise Problem(f"{family}/instances.py: {form.upper()} has {missing[0]}, which "
                      "instances.txt does not list")
    return [by_name[name] for name in listed]


def second_form_text(description, chunk, family, backend, name, form):
    """A source that compiles kernels in this form for a backend."""
    what, parameter, on_gpu = SECOND_FORMS[form]
    result, last, header = {"emu": ("void", "emu::options const&", "launch_emu.hpp"),
                            "gpu": ("int", on_gpu, "launch_gpu.cuh")}[backend]
    kernels = "".join(f"// {i.name}\ntemplate {result} launch_{backend}_{form}<{i.config}>(\n"
                      f"    int, {description.PARAMS} const&, {parameter} const&, {last});\n"
                      for i in chunk)
    return file_text(family, name, what, [header], kernels)


def builds_profiled(description, backend, which):
    """Are the kernels with a record of their stages in the set `which` of this backend? They are in
    the sets for tests and releases, with device code not in the smoke set."""
    return which in ("representative", "full") and (backend == "emu" or description.PROFILED_ON_GPU)


def profiled_table(description, instances, family, sets):
    rows = ""
    for i in also_compiled(description, "profiled", instances, family):
        launchers = [f"&launch_{b}_profiled<{i.config}>"
                     if builds_profiled(description, b, sets.get(b)) else "nullptr"
                     for b in ("emu", "gpu")]
        on_gpu = str(description.PROFILED_ON_GPU).lower()
        rows += f"    {{{i.index}, {on_gpu}, {', '.join(launchers)}}},  // {i.name}\n"
    table = f"static constexpr profiled with_record[] = {{\n{rows}}};\n\n" if rows else ""
    result = "with_record" if rows else "{}"
    return f"\n{table}std::span<profiled const> profiled_kernels() {{ return {result}; }}\n"


def builds_gated(which):
    """Are the kernels with a gate in the set `which` of a backend? As those with a record."""
    return which in ("representative", "full")


def gated_table(description, instances, family, sets):
    rows = ""
    for i in also_compiled(description, "gated", instances, family):
        launchers = [f"&launch_{b}_gated<{i.config}>" if builds_gated(sets.get(b)) else "nullptr"
                     for b in ("emu", "gpu")]
        rows += f"    {{{i.index}, {', '.join(launchers)}}},  // {i.name}\n"
    return (f"\nstatic constexpr gated with_gate[] = {{\n{rows}}};\n\n"
            "std::span<gated const> gated_kernels() { return with_gate; }\n")


def chunks_of(instances, most):
    """(name, instances) for each source: one pair of types and majors, or several small ones."""
    groups = itertools.groupby(sorted(instances, key=lambda i: (i.ab, i.d, i.majors, i.index)),
                               key=lambda i: f"{i.ab}_{i.d}_{i.majors}")
    small, names = [], []
    for key, group in groups:
        group = list(group)
        if len(group) >= most // 2:
            for n, first in enumerate(range(0, len(group), most)):
                yield f"{key}_{n}", group[first:first + most]
            continue
        if small and len(small) + len(group) > most:
            yield "_to_".join(dict.fromkeys([names[0], names[-1]])), small
            small, names = [], []
        small, names = small + group, names + [key]
    if small:
        yield "_to_".join(dict.fromkeys([names[0], names[-1]])), small


def families_text(families):
    declared = "".join(f"namespace {f}_family {{\ngemm_family const& the_family();\n}}\n"
                       for f in families)
    listed = "".join(f"      &{f}_family::the_family(),\n" for f in families)
    return ("// SPDX-License-Identifier: Apache-2.0\n// Generated by gen/instances.py\n"
            "// families.cpp  All kernel families.\n"
            '#include "tilewright/family/family.hpp"\n\n'
            f"namespace tw {{\n\n{declared}\n"
            "std::span<gemm_family const* const> families() {\n"
            f"  static gemm_family const* const all[] = {{\n{listed}  }};\n  return all;\n}}\n\n"
            "}  // namespace tw\n")


def outputs(sets):
    """(path below the output folder, text) of each source. sets: backend -> set of its kernels, or
    None."""
    families = read_all()
    yield "families.cpp", families_text(families)
    for family, (description, instances) in families.items():
        most = KERNELS_PER_SOURCE
        if "full" in sets.values() or family in IN_SMALL_SOURCES:
            most = KERNELS_PER_SOURCE_OF_ALL
        for name, text in family_headers.headers(family, description):
            yield f"{family}/{name}", text
        yield f"{family}/instances.cpp", table_text(family, description, instances)
        for backend, which in sets.items():
            built = [i for i in instances if which and i.in_set(which)]
            suffix = "cpp" if backend == "emu" else "cu"
            name = f"{backend}_launchers.cpp"  # a table alone: no work for nvcc
            profiled = ""
            if backend == "emu":
                profiled = profiled_table(description, instances, family, sets)
                if hasattr(description, "GATED"):
                    profiled += gated_table(description, instances, family, sets)
            planned = ""
            if backend == "emu" and which == "planned":
                planned = f"int, {description.PARAMS} const&, emu::options const&"
            yield f"{family}/{name}", launchers_text(family, name, backend, instances, built,
                                                     profiled, planned)
            if description.PROFILED and builds_profiled(description, backend, which):
                kernels = also_compiled(description, "profiled", instances, family)
                name = f"profiled_{backend}.{suffix}"
                yield f"{family}/{name}", second_form_text(description, kernels, family, backend,
                                                           name, "profiled")
            if hasattr(description, "GATED") and builds_gated(which):
                kernels = also_compiled(description, "gated", instances, family)
                step = GATED_PER_SOURCE[backend]
                for n, first in enumerate(range(0, len(kernels), step)):
                    name = f"gated_{backend}_{n}.{suffix}"
                    yield f"{family}/{name}", second_form_text(
                        description, kernels[first:first + step], family, backend, name, "gated")
            for key, chunk in chunks_of(built, most[backend]):
                name = f"{backend}_{key}.{suffix}"
                yield f"{family}/{name}", source_text(description, family, backend, name, chunk)


def write(out, sets):
    """Writes what is not there yet and removes what is no longer listed. Returns the sources."""
    wanted = {out / path: text for path, text in outputs(sets)}
    for path in [p for p in [*out.glob("*.*"), *out.glob("*/*")] if p not in wanted]:
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return [path for path in wanted if path.suffix in (".cpp", ".cu")]


def main():
    parser = argparse.ArgumentParser(description="Kernels that are compiled in, from their lists.")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the generated files")
    parser.add_argument("--set", choices=[*SETS, "planned"], default="full",
                        help="kernels for the emulator; planned: plans of all, and no kernel")
    parser.add_argument("--device", choices=SETS, help="kernels for the GPU; default: none")
    parser.add_argument("--names", action="store_true", help="print the names of the set")
    options = parser.parse_args()
    try:
        if options.names:
            for _, instances in read_all().values():
                for i in instances:
                    if i.in_set(options.set):
                        print(i.name)
        elif options.out:
            sets = {"emu": options.set, "gpu": options.device}
            print(*write(options.out, sets), sep=";", end="")
        else:
            parser.error("give --out or --names")
    except Problem as problem:
        print(f"instances: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
