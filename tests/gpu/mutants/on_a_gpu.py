#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on_a_gpu.py  Builds the mutants for a GPU, and runs them there with compute-sanitizer.

    on_a_gpu.py build FOLDER               with nvcc: FOLDER/gpu_mutants and FOLDER/build.json
    on_a_gpu.py run FOLDER -o raw.json     on a machine with a Hopper GPU; also raw.json.log
    on_a_gpu.py judge -o raw.json          reads raw.json.log again

Rows that may wait for ever come last: a process that is killed inside a kernel keeps the GPU
busy for a while. gen/measured/mutants_gpu.py makes the committed record of raw.json, and the page
of that.
"""
import argparse
import concurrent.futures
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
UNITS = ["tests/gpu/mutants/gemm_rows.cu", "tests/gpu/mutants/ladder_rows.cu",
         "tests/gpu/mutants/global_rows.cu", "tests/gpu/mutants/plain_rows.cu",
         "tests/gpu/mutants/mutants.cu", "src/arch/tensor_map.cpp", "src/arch/tensor_map_emu.cpp",
         "src/arch/tensor_map_gpu.cu", "src/base/check.cpp"]
HOST_FLAGS = ["-std=c++20", "-O2", f"-I{ROOT}", f"-I{ROOT}/include", f"-I{ROOT}/src"]
FLAGS = ["-lineinfo", "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas=-v"]
NOTE = re.compile(r"\((C75(?:08|10|17|19))\).*'(\w+)'")
KERNEL = re.compile(r"mutants::(\w+)<(?:\(?(?:bool\))?(\w+), ?)?\(tw::mutants::(\w+)\)(\d+)>")
TOOLS = {"racecheck": ["--tool", "racecheck", "--racecheck-deadlock-timeout", "3000"],
         "synccheck": ["--tool", "synccheck"],
         "memcheck": ["--tool", "memcheck"],
         "initcheck": ["--tool", "initcheck"]}
SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed|ERROR SUMMARY: (\d+) error")
KINDS = ("Race reported", "Deadlock detected", "Potential", "Invalid", "Illegal", "Unknown Error",
         "Barrier error", "Divergent", "Uninitialized", "Program hit")
LAUNCHES, LAUNCHES_CHECKED = 200, 3


def row_of_symbol(symbol):
    """A mangled kernel as KERNEL/NAME, the names of the mutants: enums of tools/check/mutants."""
    name = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout
    found = KERNEL.search(name)
    if not found:
        return name.strip()
    kernel = found[1]
    if kernel == "double_buffer" and found[2] in ("true", "1"):
        kernel = "a_from_registers"
    for path in ("reference_gemm", "ladder_kernels", "global_kernels", "plain_kernels",
                 "cluster_kernels"):
        with open(f"{ROOT}/tools/check/mutants/{path}.hpp", encoding="utf-8") as file:
            enum = re.search(r"enum class " + found[3] + r" : int \{(.*?)\}", file.read(), re.S)
        if enum:
            return f"{kernel}/{enum[1].split(',')[int(found[4])].strip().replace('_', '-')}"
    return name.strip()


def build(folder):
    os.makedirs(folder, exist_ok=True)
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    objects, notes = [], {}

    def compile_one(unit):
        out = os.path.join(folder, unit.replace("/", "_") + ".o")
        compiler = ["g++", *HOST_FLAGS] if unit.endswith(".cpp") else [nvcc, *HOST_FLAGS, *FLAGS]
        return out, subprocess.run([*compiler, "-c", os.path.join(ROOT, unit), "-o", out],
                                   capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for out, done in pool.map(compile_one, UNITS):
            if done.returncode != 0:
                sys.exit(done.stderr)
            objects.append(out)
            for line in done.stderr.splitlines():
                if found := NOTE.search(line):
                    codes = notes.setdefault(row_of_symbol(found[2]), [])
                    if found[1] not in codes:
                        codes.append(found[1])
    subprocess.run([nvcc, *objects, "-lfmt", "-o", os.path.join(folder, "gpu_mutants")],
                   check=True)
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"],
                            capture_output=True, text=True, check=False).stdout.strip()
    with open(os.path.join(folder, "build.json"), "w", encoding="utf-8") as file:
        json.dump({"commit": commit, "nvcc": re.search(r"V[\d.]+", version.stdout)[0],
                   "ptxas_notes": notes}, file, indent=1)


def forward(stream, lines):
    """Puts the lines of a stream in a queue, and an empty one at its end."""
    for line in stream:
        lines.put(line)
    lines.put("")


class Program:
    """gpu_mutants, and what is left of the time."""

    def __init__(self, folder, seconds, workers):
        self.path = os.path.join(folder, "gpu_mutants")
        self.end = time.monotonic() + seconds
        self.workers = workers
        listed = subprocess.run([self.path, "list"], capture_output=True, text=True, check=True)
        self.rows = [json.loads(line) for line in listed.stdout.splitlines()]

    def left(self):
        return self.end - time.monotonic()

    def run(self, rows, launches, patience):
        """Plain launches of these rows, one process as long as none of them fails or hangs."""
        results, rows = {}, list(rows)
        while rows:
            if self.left() < 0:
                results.update({row: {"end": "not run: out of time"} for row in rows})
                break
            command = [self.path, "run", str(launches), "1", *map(str, rows)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
                lines = queue.Queue()
                threading.Thread(target=forward, args=(child.stdout, lines), daemon=True).start()
                wait = 30
                while rows:
                    try:
                        line = lines.get(timeout=wait)
                    except queue.Empty:
                        child.kill()
                        results[rows.pop(0)] = {"end": "hung"}
                        break
                    if line == "":  # it ended before its time
                        results.setdefault(rows[0], {"end": f"exit status {child.wait()}"})
                        rows.pop(0)
                        break
                    record = json.loads(line)
                    if "ready" in record:
                        wait = patience
                        continue
                    row = rows.pop(0)
                    error = record.pop("error")
                    record.pop("row")
                    results[row] = dict(record, end=error)
                    if error:
                        break
                start = time.monotonic()
                child.wait()
                if time.monotonic() - start > 0.5:
                    print(f"process gone after {time.monotonic() - start:.1f} s", flush=True)
        return results

    def check(self, sanitizer, tool, row, patience):
        """One row under one tool of compute-sanitizer."""
        if self.left() < 0:
            return {"end": "not run: out of time"}, ""
        with tempfile.TemporaryFile("w+") as out:
            slot = 50000 + 16 * (row * len(TOOLS) + list(TOOLS).index(tool)) % 14000
            command = [*sanitizer, *TOOLS[tool], "--port", str(slot), self.path, "run",
                       str(LAUNCHES_CHECKED), "0", str(row)]
            with subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                  start_new_session=True) as child:
                end = ""
                try:
                    child.wait(patience)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    end = "hung"
                child.wait()
            out.seek(0)
            text = out.read()
        return dict(judged(text), end=end), f"#### {tool} {row}\n{text}"


def kind_of(line):
    """The event in a line of compute-sanitizer; None if it is not a report's first line."""
    found = re.match(r"=+ (?:Error: |Warning: )?(.*)", line)
    if not found or not found[1].startswith(KINDS):
        return None
    return re.split(r" between | called by | of size | on CUDA API call| at tw::", found[1])[0]


def judged(text):
    """A log of compute-sanitizer. reports: as its summary counts them, nothing if there
    is none; deadlocks: waits that racecheck has called one; said: kinds of report."""
    result = {"reports": None, "deadlocks": text.count("= Deadlock detected in "), "said": []}
    for line in text.splitlines():
        kind = kind_of(line)
        if found := SUMMARY.search(line):
            result["reports"] = int(found[1] or found[2])
        elif kind and kind not in result["said"]:
            result["said"].append(kind)
        elif line.startswith('{"row"'):
            record = json.loads(line)
            result.update({key: record[key] for key in ("launches", "wrong_launches", "error")})
    return result


def text_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run(folder, out, seconds, workers, sanitizer):
    program = Program(folder, seconds, workers)
    card = text_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    with open(os.path.join(folder, "build.json"), encoding="utf-8") as file:
        built = json.load(file)
    version = re.search(r"Version ([\d.]+)", text_of([sanitizer[0], "--version"]))
    raw = dict(built, card=card, sanitizer=version[1] if version else "",
               date=time.strftime("%Y-%m-%d", time.gmtime()), launches=LAUNCHES,
               launches_checked=LAUNCHES_CHECKED, rows=program.rows, plain={},
               **{tool: {} for tool in TOOLS})
    logs = []

    def save(stage):
        with open(out, "w", encoding="utf-8") as file:
            json.dump(raw, file, indent=1)
        with open(out + ".log", "w", encoding="utf-8") as file:
            file.write("\n".join(logs))
        print(f"{stage}: {program.left():.0f} s left", flush=True)

    def check_all(tools, rows, patience):
        jobs = [(tool, row) for tool in tools for row in rows]
        with concurrent.futures.ThreadPoolExecutor(program.workers) as pool:
            done = pool.map(lambda j: program.check(sanitizer, j[0], j[1], patience), jobs)
            for (tool, row), (result, log) in zip(jobs, done):
                if row in sure and result["end"] == "hung":  # the tool hung, the kernel does not
                    result, log = program.check(sanitizer, tool, row, patience)
                    result["again"] = True
                raw[tool][row] = result
                logs.append(log)
        save(" ".join(tools))

    sure = [r["row"] for r in program.rows if not r["may_not_end"]]
    unsure = [r["row"] for r in program.rows if r["may_not_end"]]
    raw["plain"].update(program.run(sure, LAUNCHES, 4))
    save("plain")
    check_all(["racecheck", "synccheck"], sure, 30)
    with concurrent.futures.ThreadPoolExecutor(len(unsure)) as pool:
        first = list(pool.map(lambda row: program.run([row], 1, 6), unsure))
    ending = []
    for row, result in zip(unsure, first):
        if result[row]["end"] == "hung":
            raw["plain"][row] = {"end": "hung"}
        else:
            ending.append(row)
    save("plain, first launches that may not end")
    raw["plain"].update(program.run(ending, LAUNCHES, 4))
    save("plain, that may not end")
    check_all(["racecheck", "synccheck"], unsure, 12)
    check_all(["memcheck", "initcheck"], sure, 30)
    check_all(["memcheck", "initcheck"], unsure, 12)


def judge(out):
    """Judges the log of an earlier run again."""
    with open(out, encoding="utf-8") as file:
        raw = json.load(file)
    with open(out + ".log", encoding="utf-8") as file:
        logs = re.split(r"^#### ", file.read(), flags=re.M)
    for log in logs[1:]:
        title, text = log.split("\n", 1)
        tool, row = title.split()
        raw[tool][row] = dict(judged(text), end=raw[tool][row]["end"])
    with open(out, "w", encoding="utf-8") as file:
        json.dump(raw, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description="The mutants on a GPU.")
    parser.add_argument("verb", choices=["build", "run", "judge"])
    parser.add_argument("folder", nargs="?", default="build/mutants")
    parser.add_argument("-o", default="raw.json")
    parser.add_argument("--seconds", type=float, default=600, help="start nothing after them")
    parser.add_argument("--workers", type=int, default=12, help="sanitizers at a time")
    parser.add_argument("--sanitizer", default="compute-sanitizer",
                        help="its path, and options that every tool takes")
    options = parser.parse_args()
    if options.verb == "build":
        build(options.folder)
    elif options.verb == "judge":
        judge(options.o)
    else:
        run(options.folder, options.o, options.seconds, options.workers,
            options.sanitizer.split())


if __name__ == "__main__":
    main()
