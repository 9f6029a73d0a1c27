#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass_check.py  Checks the machine code of the GEMM kernels, and counts their instructions.

For each kernel of the families sm90_gemm, sm100_gemm and sm100_scaled that the build has, rules()
states what must hold whatever compiler made it; tests/golden/sass.json has the accepted counts of
the representative kernels and the nvcc that they belong to. Among them are the instructions that
cost time in the loops over K of Hopper kernels (gen/sass_loops.py): a kernel that is not accepted
has none of them, and one that has more is shown with the places. Without a disassembler
(gen/sass.py) the exit status is 77.

    --build FOLDER  a build with device code
    --only REGEX    kernels of the sources whose names match, such as sm100_gemm/gpu_bf16; without
                    it, all kernels that the build's set lists must be there
    --accept        write tests/golden/sass.json
    --target NAME   compile the kernels of sm_100f for this target, such as sm_103a, and check those
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

import golden
import instances
import sass
import sass_loops

GOLDEN = os.path.join(sass.ROOT, "tests/golden/sass.json")
STEPS = 4  # tcgen05.mma or wgmma of a tile's K: rows of 128 bytes, 32 bytes an instruction
FAMILY = re.compile(r"tw::(gemm_config|sm100_config|block_scaled_config)\{")
BLACKWELL = ("sm100_config", "block_scaled_config")
MMA = re.compile(r"UTC\w*MMA|\w*GMMA")
# Instructions that every Blackwell kernel has.
NEEDED = {"UTMALDG": "TMA loads", "UTCBAR": "commits to mbarriers", "LDTM": "tensor-memory loads",
          "UTCATOMSWS": "the allocation of tensor memory",
          "ELECT": "the choice of one thread"}
PER_CTA_GROUP = re.compile(r"UTC\w*MMA|UTCBAR|UTCCP|UTMALDG")  # .2CTA in a kernel for CTA pairs
COUNTED = re.compile(r"UTC|LDTM|STTM|UTMALDG|UTMASTG|UTMAREDG|\w*GMMA|WARPGROUP|USETMAXREG|ELECT"
                     r"|MEMBAR\.ALL\.GPU|BRA\.U\.ANY|LDL|STL")
BUILT_FOR = ("sm_90a", "sm_100f")
MAX_LINES = 20  # of complaints shown


def config_of(name):
    """The type of a kernel's configuration, or None where it is no kernel of these families."""
    found = FAMILY.search(name)
    return found and found[1]


def loop_rules(code):
    """Complaints about the loops over K, of multiplies and of loads."""
    for what in (MMA, re.compile("UTMALDG")):
        for loop in sass.loops_around(code, what):
            yield from (f"{code[m].opcode} at {code[m].address:#x} is in a loop over K"
                        for m in loop if code[m].opcode == "MEMBAR.ALL.GPU")
    for n, i in enumerate(code):
        if i.opcode.startswith("BRA.U.ANY"):
            for j in code[:n]:
                if j.address >= i.target and (MMA.fullmatch(j.name) or j.name == "UTCBAR"):
                    yield f"BRA.U.ANY at {i.address:#x} repeats {j.opcode} for each thread"


def blackwell_rules(code, scaled):
    names = collections.Counter(i.name for i in code)
    for name, what in NEEDED.items():
        if not names[name]:
            yield f"no {name}: the code lacks {what}"
    if not names["UTMASTG"] and not names["STG"]:  # a block-scaled D is stored from registers
        yield "no UTMASTG and no STG: D is not stored"
    if scaled and not names["UTCCP"]:
        yield "no UTCCP: scales do not reach tensor memory"
    found = [i for i in code if MMA.fullmatch(i.name)]
    if len(found) != STEPS:
        yield f"{len(found)} tcgen05.mma, needed: {STEPS}, one for each step of a tile's K"
    group = [i for i in code if PER_CTA_GROUP.fullmatch(i.name)]
    of_pairs = [i for i in group if ".2CTA" in i.opcode]
    if of_pairs and len(of_pairs) != len(group):
        single = next(i for i in group if i not in of_pairs)
        yield f"{single.opcode} at {single.address:#x} is for one CTA, {of_pairs[0].opcode} for two"


def hopper_rules(code):
    names = collections.Counter(i.name for i in code)
    opcodes = collections.Counter(i.opcode for i in code)
    products = sum(n for name, n in names.items() if MMA.fullmatch(name))
    groups = opcodes["WARPGROUP.ARRIVE"]
    waits, copies = opcodes["WARPGROUP.DEPBAR.LE"], len(sass.loops_around(code, MMA))
    # A fragment of 4-bit weights is decoded between two wgmmas, each after a fence.
    apart = products == groups and waits * STEPS <= products
    # Sums of 8-bit floats are promoted after 64 elements of K, two steps.
    if (not groups or products % groups or products % STEPS
            or (products // groups < 2 and not apart)):
        yield (f"{products} wgmma in {groups} groups, needed: a multiple of {STEPS}, the steps of "
               "a tile's K, and at least two in a group, or a wait for every four")
    if waits > groups + max(copies, 1):  # each copy of the main loop waits once at its end
        yield f"{waits} waits for {groups} groups of wgmma: they are serialised"
    released = [i for i in code if i.opcode.startswith("USETMAXREG.DEALLOC")]
    taken = [i for i in code if i.opcode.startswith("USETMAXREG.TRY_ALLOC")]
    if bool(released) != bool(taken):
        yield f"{len(released)} setmaxnreg.dec, {len(taken)} setmaxnreg.inc; needed: both or none"


def rules(name, code):
    """Complaints about a kernel."""
    for i in code:
        if i.name in ("LDL", "STL"):
            yield f"{i.opcode} at {i.address:#x}: local memory is used"
    yield from loop_rules(code)
    config = config_of(name)
    yield from (blackwell_rules(code, config == "block_scaled_config") if config in BLACKWELL
                else hopper_rules(code))


def counts(code):
    """Instructions by opcode, and the numbers of registers in setmaxnreg."""
    found = collections.Counter()
    for i in code:
        if i.name == "USETMAXREG":
            found[f"{i.opcode} {int(i.operands.split(',')[-1].strip(), 16)}"] += 1
        elif COUNTED.match(i.opcode):
            found[i.opcode] += 1
    return dict(sorted(found.items()))


def extra(code, accepted):
    """Complaints about instructions in the loops over K beyond the accepted counts."""
    more = {kind for kind, n in sass_loops.counts(code).items() if n > accepted.get(kind, 0)}
    for kind, i in sass_loops.findings(code):
        if sass_loops.key(kind) in more:
            yield f"{kind} in a loop over K: {i.opcode} {i.operands} at {i.address:#x}"


def look_at(tools, path, accepted):
    """(complaints, {name: counts}) of the kernels of one object. accepted: None accepts the counts
    that are found."""
    kernels = {k: c for k, c in sass.disassemble(tools, path).items() if c}
    names = golden.names_of([symbol for symbol, _ in kernels]) if kernels else []
    wrong, found = [], {}
    for name, ((_, target), code) in zip(names, kernels.items()):
        if not config_of(name):
            continue
        shown = f"{name} ({target})"
        found[shown] = counts(code)
        wrong += [f"{shown}: {line}" for line in rules(name, code)]
        if config_of(name) not in BLACKWELL:
            found[shown] |= sass_loops.counts(code)
            if accepted is not None:
                wrong += [f"{source_of(path)}: {shown}: {line}"
                          for line in extra(code, accepted.get(shown, {}))]
    return wrong, found


def source_of(path):
    """FAMILY/NAME of an object or a source of a family's kernels, or None."""
    found = re.search(r"/family/(\w+/\w+)\.cu(\.o)?$", path)
    return found and found[1]


def is_chosen(only, path):
    source = source_of(path)
    return source is not None and re.search(only, source) is not None


def objects_of(build, only):
    """Objects of the library with kernels of the sources that match."""
    for path, kernels in golden.objects_of(build):
        if is_chosen(only, path) and any(config_of(k["name"]) for k in kernels):
            yield path


def missing_kernels(which, found, target):
    """A complaint if there are not as many kernels as the build's set lists."""
    listed = sum(i.in_set(which) for description, all_of_it in instances.read_all().values()
                 for i in all_of_it if description.CONFIG in
                 (BLACKWELL if target else (*BLACKWELL, "gemm_config")))
    if listed != len(found):
        yield f"the {which} set lists {listed} kernels, and {len(found)} are there"


def compile_for(build, target, only):
    """(complaints, objects) of the Blackwell kernels, compiled for another target without
    spills."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = [c for c in json.load(file) if "/tilewright_sm100.dir/" in c["command"] and
                    is_chosen(only, c["file"])]
    checked = [sys.executable, "-B", os.path.join(sass.ROOT, "cmake/ptxas_check.py"), "--strict"]

    def compile_one(entry):
        words = shlex.split(entry["command"])
        words = words[next(n for n, w in enumerate(words) if w.endswith("nvcc")):]
        words = [w.replace("compute_100f", target.replace("sm_", "compute_"))
                 .replace("sm_100f", target) for w in words]
        at = words.index("-o") + 1
        family, name = words[at].split("/")[-2:]
        words[at] = os.path.join(os.path.abspath(build), "sass", target, family, name)
        os.makedirs(os.path.dirname(words[at]), exist_ok=True)
        done = subprocess.run(checked + words, cwd=entry["directory"], check=False)
        return source_of(entry["file"]), words[at], done.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compile_one, commands))
    return ([f"{source} does not compile for {target}, or spills"
             for source, _, compiled in results if not compiled],
            [path for _, path, compiled in results if compiled])


def differences(accepted, found, all_accepted):
    """One line for each count that is not the accepted one."""
    for name in sorted(found):
        if name not in accepted:
            if all_accepted:
                yield f"{name}: new, not accepted yet"
            continue
        for op in sorted(set(accepted[name]) | set(found[name])):
            was, now = accepted[name].get(op, 0), found[name].get(op, 0)
            if was != now:
                yield f"{name}: {op} {was} -> {now}"


def main():
    parser = argparse.ArgumentParser(description="Checks the machine code of the GEMM kernels.")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--accept", action="store_true", help="write tests/golden/sass.json")
    parser.add_argument("--only", default="", help="kernels of the sources whose names match")
    parser.add_argument("--target", help="compile the kernels of sm_100f for it, and check those")
    options = parser.parse_args()
    version = golden.nvcc_version(options.build)
    if version is None:
        print("sass: this build has no device code")
        return 77
    tools = sass.find_tools(os.environ.get("TW_NVCC"))
    if tools is None:
        print(f"sass: SKIPPED, {' and '.join(sass.TOOLS)} not found; ./dev sass installs them")
        return 77
    wrong, paths, found = [], list(objects_of(options.build, options.only)), {}
    if options.target:
        wrong, paths = compile_for(options.build, options.target, options.only)
        if options.only and not wrong and not paths:
            print(f"sass: no Blackwell kernel matches: nothing to check for {options.target}")
            return 0
    with open(GOLDEN, encoding="utf-8") as file:
        accepted = json.load(file)
    versions = {"nvcc": version, "nvdisasm": sass.release(tools)}
    same = all(accepted[tool] == versions[tool] for tool in versions)
    known = accepted["kernels"] if same and not options.accept else None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for complaints, kernels in pool.map(lambda path: look_at(tools, path, known), paths):
            wrong += complaints
            found.update(kernels)
    which = golden.kernel_set(options.build)
    if options.accept:
        if which != "representative" or options.only:
            print("sass: --accept needs a build with TW_KERNELS=representative and no --only")
            return 1
        targets = BUILT_FOR if options.target is None else (options.target,)
        ends = tuple(f"({t})" for t in targets)
        kept = {n: c for n, c in accepted["kernels"].items() if not n.endswith(ends)}
        with open(GOLDEN, "w", encoding="utf-8") as file:
            write(file, versions, {**kept, **found})
    elif not same:
        print(f"sass: accepted with nvcc {accepted['nvcc']} and nvdisasm {accepted['nvdisasm']}, "
              f"these are {version} and {versions['nvdisasm']}: counts not compared")
    else:
        wrong += differences(accepted["kernels"], found, which == "representative")
    if not options.only:
        wrong += missing_kernels(which, found, options.target)
    for line in wrong[:MAX_LINES]:
        print(f"sass: {line}")
    if wrong[MAX_LINES:]:
        print(f"sass: and {len(wrong) - MAX_LINES} more")
    if not found:
        wrong.append("no kernel")
        print("sass: the build has no kernel of these families; build the target tilewright first")
    print(f"sass: {len(found)} kernels, {len(wrong)} complaints")
    return 1 if wrong else 0


def write(file, versions, kernels):
    """One line for each kernel."""
    heads = "".join(f' "{tool}": "{version}",\n' for tool, version in versions.items())
    lines = [f"  {json.dumps(name)}: {json.dumps(c)}" for name, c in sorted(kernels.items())]
    file.write("{\n" + heads + ' "kernels": {\n' + ",\n".join(lines) + "\n }\n}\n")


if __name__ == "__main__":
    sys.exit(main())
