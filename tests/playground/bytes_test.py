#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bytes_test.py  The playground's modules against the native command: the same words give the same
bytes and the same exit status. Layouts, plans, and every kernel and planted fault of the page
"Find the race", each under one of three schedules; under all three with TW_EFFORT=full.

Exit status 77 without node, or without the modules (./dev playground builds them).
"""
import base64
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TW_SOURCE_DIR"])
COMMAND = os.environ["TW_COMMAND"]
FULL = os.environ.get("TW_EFFORT") == "full"  # ./dev test --full
MODULES = pathlib.Path(os.environ.get("TW_MODULES", ROOT / "build-wasm")).resolve()
# Of both commands, with the config.json of a model.
FOLDER = tempfile.TemporaryDirectory()
MODEL = {"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
         "num_key_value_heads": 8, "num_hidden_layers": 32}
(pathlib.Path(FOLDER.name) / "config.json").write_text(json.dumps(MODEL))

LAYOUTS = [
    "(4,8):(8,1)", "(4,8):(1,4)", "8:1", "((2,2),(4,2)):((4,16),(1,8))", "(3,(2,4)):(8,(4,1))",
    "Sw<2,0,2> o 0 o (4,8):(8,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(64,64):(64,1)", "(0,4):(1,1)",
    "(2,2):(0,1)", "Layout<Shape<_4,_8>,Stride<_8,_1>>", "mma.sm80.m16n8k16.f32.f16.f16",
    "copy.sm75.ldmatrix.x4", "tmem.d.1cta.m64n16", "mma.sm90.m64n32k16.f32.bf16.bf16",
]
REFUSED = ["(4,8:(8,1)", "", "(4,8):(8,1", "no_such_operation(4:1)", "composition((4,8):(8,1))",
           "(4,8):(8,1) o", "Sw<9,9,9> o 0 o 8:1", "zipped_divide((4,8):(8,1), (3,2))",
           "(4,8):(8,1))", "size(", "1e9:1", "(-1,4):(1,1)", "«»", "(4,8):(8,1);x"]


def layout_requests():
    """At least 200 command lines of the verbs layout and banks."""
    requests = []
    for expression in LAYOUTS:
        for print_ in ("text", "table", "json", "svg", "html", "latex"):
            requests.append(["layout", "--print", print_, "--", expression])
    for expression in REFUSED:
        requests.append(["layout", "--", expression])
        requests.append(["layout", "--json", "--", expression])
    operations = json.loads(subprocess.run([COMMAND, "layout", "--ops", "--json"], check=True,
                                           capture_output=True, text=True).stdout)["operations"]
    for operation in operations:
        requests.append(["layout", "--", operation["example"]])
        requests.append(["layout", "--help", operation["name"]])
    for expression, options in [
            ("(64,64):(64,1)", ["--banks", "ldmatrix.x4"]),
            ("Sw<3,3,3> o 0 o (64,64):(64,1)", ["--banks", "ldmatrix.x4"]),
            ("(32,32):(33,1)", ["--banks", "ld.32", "--bits", "32"]),
            ("((4,8),2):((32,1),8)", ["--tv", "(16,8)"]),
            ("zipped_divide((8,24):(24,1), (4,8))", ["--steps"]),
            ("complement(4:2, 24)", ["--steps"]),
            ("(128,256):(256,1)", ["--tma", "Sw<3,3,3> o 0 o (64,64):(64,1)"]),
            ("(100,100):(104,1)", ["--tma", "(64,64):(64,1)", "--at", "(64,64)"]),
            ("Sw<3,3,3> o 0 o (64,64):(64,1)", ["--descriptor", "wgmma"]),
            ("Sw<3,3,3> o 0 o (64,64):(64,1)", ["--descriptor", "tcgen05", "--step", "1"])]:
        for print_ in ("text", "svg", "json", "html"):
            requests.append(["layout", *options, "--print", print_, "--", expression])
    return requests


def plan_requests():
    """At least 40 command lines of the verbs plan, explain, occupancy and roofline."""
    requests = []
    for device in ("h200", "h100", "a100", "b200"):
        for m, n, k in ((4096, 4096, 4096), (128, 8192, 1024), (1, 4096, 4096), (777, 333, 555)):
            for dtype in ("bf16", "e4m3"):
                for how in ([], ["--json", "--top", "5"]):
                    requests.append(["plan", str(m), str(n), str(k), "--dtype", dtype, "--device",
                                     device, "--all-kernels", *how])
            requests.append(["roofline", str(m), str(n), str(k), "--device", device, "--json"])
    requests += [["plan", "0", "4", "4", "--all-kernels"], ["plan", "4", "4"],
                 ["plan", "x", "1", "1"],
                 ["plan", "4096", "4096", "4096", "--dtype", "nvfp4", "--device", "b200",
                  "--all-kernels"],
                 ["explain", "TW0104"], ["explain", "E0024"], ["explain", "TW9999"],
                 ["explain", "tile=192x192", "mma=m64n96k16", "warpgroups=2", "copy=stmatrix.x4",
                  "smem=SW128", "dtype=f16"],
                 ["explain", "arch=sm80", "operand=A", "tile=128x64", "major=k",
                  "copy=cp.async.128"],
                 ["explain", "sm90_bf16_bf16_tn_128x256x64_2x1_s4"],
                 ["occupancy", "--regs", "168", "--threads", "384", "--smem", "200000"],
                 ["occupancy", "--regs", "64", "--threads", "256", "--json"]]
    # A model is planned with the kernels of the build; the module counts all as built.
    kernels = json.loads(subprocess.run([COMMAND, "info", "--json"], check=True,
                                        capture_output=True, text=True).stdout)["kernels"]
    for device in ("h200", "b200", "a100") if kernels["built"] == kernels["all"] else ():
        for how in ([], ["--json"], ["--tp", "2", "--tokens", "1,128", "--formats", "bf16,mxfp8"]):
            requests.append(["plan", "--model", "config.json", "--device", device, *how])
    requests += [["plan", "--model", "config.json", "--tp", "3"],
                 ["plan", "--model", "config.json", "--formats", "f64"],
                 ["plan", "--model", "missing.json"], ["plan", "--tp", "2"]]
    return requests


def race_requests():
    names = [s["name"] for s in json.loads(
        subprocess.run([COMMAND, "playground", "list"], check=True, capture_output=True,
                       text=True).stdout)["specimens"]]
    requests = [["playground", "list"], ["playground", "run", "unknown-kernel"],
                ["playground", "run", names[0], "--schedule", "never"]]
    schedules = (("eager", "1"), ("lazy", "2"), ("random warps", "3"))
    for i, name in enumerate(names):
        for schedule, seed in schedules if FULL else schedules[i % 3:][:1]:
            requests.append(["playground", "run", name, "--schedule", schedule, "--seed", seed])
    return requests


def native(words):
    # Reports name files from the folder of the run.
    folder = FOLDER.name if "--model" in words else ROOT
    run = subprocess.run([COMMAND, *words], capture_output=True, cwd=folder, timeout=900,
                         stdin=subprocess.DEVNULL,
                         env={**os.environ, "TILEWRIGHT_TUNE": "off", "TILEWRIGHT_EXACT_SUMS": "0"})
    return run.returncode, run.stdout, run.stderr


def of_module(module, requests):
    run = subprocess.run(["node", ROOT / "playground/run_module.cjs", MODULES, module, "--lines"],
                         input="\n".join(json.dumps(r) for r in requests), capture_output=True,
                         cwd=FOLDER.name, text=True, timeout=3000)
    if run.returncode != 0:
        raise AssertionError(f"{module} ended with {run.returncode}: {run.stderr[-2000:]}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return [(a["status"], base64.b64decode(a["out"]), base64.b64decode(a["err"])) for a in answers]


# pack2(acc[i], acc[i + 1]): g++ evaluates the second argument first, clang the first; both elements
# are read too early.
ORDER_OF_ARGUMENTS = "reference_gemm/accumulators-read-early"


def comparable(words, out):
    # Which kernels a build has: all in the module.
    if words[0] in ("plan", "explain"):
        out = out.replace(b", not in this build", b"")
        out = re.sub(rb'"built":(true|false)', b'"built":0', out)
    if ORDER_OF_ARGUMENTS in words:
        return re.sub(rb"Element [01] of an accumulator", b"Element 0 or 1 of an accumulator", out)
    return out


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    begin = max(0, at - 150)
    return f"byte {at}:\n  native {a[begin:at + 150]!r}\n  module {b[begin:at + 150]!r}"


class Bytes(unittest.TestCase):
    def compare(self, module, made, least):
        if not (MODULES / f"{module}.wasm").exists():
            self.skipTest(f"the module {module} is not built")
        requests = made()
        self.assertGreaterEqual(len(requests), least)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            expected = list(pool.map(native, requests))
        found = of_module(module, requests)
        self.assertEqual(len(expected), len(found))
        different = []
        for words, (status, out, err), (module_status, module_out, module_err) in zip(
                requests, expected, found):
            out, module_out = comparable(words, out), comparable(words, module_out)
            if status != module_status:
                different.append(f"{words}: status {status}, module {module_status}")
            elif out != module_out:
                different.append(f"{words}: {first_difference(out, module_out)}")
            elif err != module_err:
                different.append(f"{words}: stderr {first_difference(err, module_err)}")
        self.assertEqual(different, [], f"{len(different)} of {len(requests)} differ:\n"
                         + "\n".join(different[:20]))

    def test_layouts(self):
        self.compare("layout", layout_requests, 200)

    def test_plans(self):
        self.compare("plan", plan_requests, 40)

    def test_races(self):
        # 30 faults, the rungs of Hopper
        self.compare("race", race_requests, (3 if FULL else 1) * (30 + 11))


if __name__ == "__main__":
    if shutil.which("node") is None or not (MODULES / "layout.wasm").exists():
        print(f"skipped: no node, or no modules in {MODULES} (./dev playground)")
        sys.exit(77)
    unittest.main()
