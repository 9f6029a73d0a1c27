#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""option_effects_test.py  Every option of every verb changes something that can be seen in a run
that succeeds: the report, a file or the status. An option that is accepted and ignored fails here.
An option of the help without a line below fails too: it gets one, or a reason in UNSEEN. A value
that is no UTF-8 ends every verb with a status, a message and a JSON record in UTF-8."""
import contextlib
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import prepare_options  # noqa: E402
from checkpoint_files import pack_f32, write_npy  # noqa: E402

COMMAND, SOURCE = os.environ["TW_COMMAND"], os.environ["TW_SOURCE_DIR"]
PLUGIN = os.path.join(os.environ["TW_BINARY_DIR"], "plugins/libcheck_options.so")
if not os.path.exists(PLUGIN):
    PLUGIN = PLUGIN.replace("libcheck", "check")
SIDE, K = 48, 256  # M = N: vectors along rows and columns have the same size

GEMM = "gemm a.npy bt.npy --transpose-b -o d.npy --device emu"
RAGGED = GEMM + " --groups ends.npy --json"
SQUARE = "gemm c.npy c.npy -o d.npy --device emu"
FP8 = GEMM + " --dtype e4m3"
TWO = ("gemm two.npy two.npy --transpose-b -o d.npy --device emu --dtype e4m3 --scale-a 2x2.npy "
       "--scale-b 2x2.npy --scale-a-as flashinfer-k --scale-b-as flashinfer-k")
NVFP4 = ("gemm a4.npy b4.npy -o d.npy --device emu --arch sm100 --transpose-b --dtype nvfp4 "
         "--scale-a a4.scale.npy --scale-b b4.scale.npy")
AMAX = ("gemm a.npy wide.npy --transpose-b -o d.npy --device emu --out-dtype e4m3 --scale-d "
        "amax-1x128")
QUANTIZE = "quantize a.npy q.npy --to e4m3 --scaling 1x128"
BLOCKS = "quantize a.npy q.npy --to nvfp4"
PLAN, MODEL = "plan 64 4096 4096", f"plan --model {SOURCE}/tests/tools/data/config.json"
GEMM_KERNEL = "check gemm --kernel gemv_bf16_bf16_4x1 --schedule lazy --quiet"
REPRODUCIBLE = GEMM_KERNEL.replace("gemv_bf16_bf16_4x1", "sm90_bf16_bf16_tn_128x128x64_1x1_s6")
KIND = "check PLUGIN --quiet --seeds 1 --json --kernel"
BANKS = "banks (64,64):(64,1) --access ld.32"
TMEM = "banks tmem.ld.32x32b.x1"
LADDER = "ladder --rung 3 --size 128 --device emu"
STAGES = "stages 128x256x64 --device emu"
RACE, RUNG = "playground run take_turns", "playground run ladder/03_larger_tiles --size 256"
CUBIN = "occupancy --cubin two_kernels.cubin"

# Of each option: two command lines that differ in the option and its value alone.
SEEN = {
    "gemm": {
        "--output": (GEMM, GEMM.replace("d.npy", "e.npy")), "--batch": (GEMM, "--batch"),
        "--groups": (GEMM, "--groups ends.npy"), "--group-axis": (RAGGED, "--group-axis n"),
        "--group-form": (RAGGED, "--group-form sizes"), "--expected-size": (
            RAGGED, "--expected-size 1"),
        "--group-alpha": (RAGGED, "--group-alpha alphas.npy"), "--row-weight": (
            RAGGED, "--row-weight v.npy"),
        "--gather": (RAGGED, "--gather order.npy"), "--scatter": (RAGGED, "--scatter order.npy"),
        "--transpose-a": (SQUARE, "--transpose-a"), "--transpose-b": (SQUARE, "--transpose-b"),
        "--add": (GEMM, "-C c.npy"), "--bias": (GEMM, "--bias v.npy"),
        "--bias-along": (GEMM + " --bias v.npy", "--bias-along rows"),
        "--row-scale": (GEMM, "--row-scale v.npy"), "--col-scale": (
            GEMM + " --row-scale v.npy", "--col-scale v.npy"),
        "--activation": (GEMM + " --activation relu", GEMM + " --activation silu"),
        "--gate": (GEMM + " --gate swiglu:split", GEMM + " --gate swiglu:interleaved"),
        "--aux": (GEMM + " --activation relu", "--aux aux.npy"), "--residual": (
            GEMM + " --activation relu -C c.npy", GEMM + " --activation relu --residual c.npy"),
        "--alpha": (GEMM, "--alpha 0.5"), "--beta": (GEMM + " -C c.npy", "--beta 0.5"),
        "--dtype": (GEMM, "--dtype f16"), "--dtype-b": (FP8, "--dtype-b e5m2"),
        "--out-dtype": (GEMM, "--out-dtype f32"), "--promote": (FP8 + " --json", "--promote never"),
        "--f16-sums": (GEMM + " --dtype f16 --out-dtype f16 --json", "--f16-sums"),
        "--wrap": ("gemm long.npy long.npy -o d.npy --device emu --transpose-b", "--wrap"),
        "--truncate-tf32": (GEMM + " --dtype tf32", "--truncate-tf32"),
        "--invariant": (GEMM, "--invariant"), "--scale-a": (FP8, "--scale-a v.npy"),
        "--scale-a-as": (TWO, TWO.replace("a-as flashinfer-k", "a-as flashinfer-mn")),
        "--scale-b": (FP8, "--scale-b v.npy"), "--scale-b-as": (
            TWO, TWO.replace("b-as flashinfer-k", "b-as flashinfer-mn")),
        "--scale2-a": (NVFP4 + " --scale2-a 1 --scale2-b 1", NVFP4 + " --scale2-a 2 --scale2-b 1"),
        "--scale2-b": (NVFP4 + " --scale2-a 1 --scale2-b 1", NVFP4 + " --scale2-a 1 --scale2-b 2"),
        "--scale2-a-as": (NVFP4 + " --scale2-a 2 --scale2-b 1", "--scale2-a-as reciprocal"),
        "--scale2-b-as": (NVFP4 + " --scale2-a 1 --scale2-b 2", "--scale2-b-as reciprocal"),
        "--scale-d": (GEMM + " --out-dtype e4m3 --scale-d 1",
                      GEMM + " --out-dtype e4m3 --scale-d 3"),
        "--scale-d-as": (AMAX, "--scale-d-as flashinfer-k"),
        "--scale-d-type": (AMAX + " --scale-d-power-of-two", "--scale-d-type ue8m0"),
        "--scale-d-power-of-two": (AMAX, "--scale-d-power-of-two"), "--scale-d-out": (
            AMAX, "--scale-d-out other.npy"),
        "--scale2-d-out": (GEMM + " --out-dtype nvfp4", "--scale2-d-out other.npy"),
        "--scaling-a": (GEMM + " --scaling-b row --scaling-a row",
                        GEMM + " --scaling-b row --scaling-a 1x128"),
        "--scaling-b": (GEMM + " --scaling-a row --scaling-b row",
                        GEMM + " --scaling-a row --scaling-b tensor"),
        "--device": (GEMM, GEMM.replace("emu", "gpu")),
        "--arch": (GEMM, "--arch sm80"), "--family": (GEMM, "--family sm80_gemm"),
        "--ranks": (GEMM, "--ranks 2"), "--split": (GEMM + " --ranks 2", "--split k"),
        **{o: (GEMM + " --ranks 2 --split k", f"{o} {x}") for o, x in (
            ("--op", "all-reduce"), ("--path", "serial"), ("--partials", "d"))},
        "--threads": (GEMM + " --threads 1", GEMM + " --threads 3"),
        "--trace": (GEMM + " --threads 1", "--trace t.json"),
        "--timeline": (GEMM + " --threads 1", "--timeline t.svg"),
        "--hazards": (GEMM, "--hazards"), "--check": (GEMM, "--check"),
        "--json": (GEMM, "--json"), "--quiet": (GEMM, "--quiet"),
    },
    "layout": {
        "--print": ("layout (4,8):(8,1)", "--print svg"),
        "-o": ("layout (4,8):(8,1)", "-o l.txt"),
        "--slice": ("layout (4,8):(8,1) --print table", "--slice (_,2)"),
        "--tv": ("layout ((4,8),2):((2,8),1) --print table", "--tv (8,8)"),
        "--steps": ("layout composition((4,8):(8,1),(2,4):(4,8)) --print svg", "--steps"),
        "--banks": ("layout (8,32):(32,1) --print svg", "--banks ld.32"),
        "--tma": ("layout (64,64):(64,1) --print svg", "--tma (8,8):(8,1)"),
        "--at": ("layout (64,64):(64,1) --print svg --tma (8,8):(8,1)", "--at (8,16)"),
        "--descriptor": ("layout smem_atom(K,128,16) --print json --descriptor wgmma",
                         "layout smem_atom(K,128,16) --print json --descriptor tcgen05"),
        "--mn-major": ("layout smem_atom(MN,128,16) --print json --descriptor wgmma", "--mn-major"),
        "--step": ("layout smem_atom(K,128,16) --print json --descriptor wgmma", "--step 1"),
        "--bits": ("layout (8,32):(32,1) --print svg --banks ld.32", "--bits 32"),
        "--json": ("layout (4,8):(8,1)", "--json"),
        "--jsonl": ("layout --ops", "--jsonl"), "--help": ("layout (4,8):(8,1)", "--help size"),
        "--ops": ("layout (4,8):(8,1)", "--ops"),
    },
    "banks": {
        "--access": (BANKS, BANKS.replace("ld.32", "ldmatrix.x4")),
        "--bits": (BANKS, "--bits 32"),
        "--tv": (BANKS, "--tv (32,2):(1,64)"),
        "--tv-tile": (BANKS + " --bits 32 --tv (32,2):(1,32)", "--tv-tile (32,2)"),
        "--thread-stride": (BANKS + " --bits 32", "--thread-stride 64"),
        "--tma": ("banks (64,32):(32,1) --access ld.32 --bits 32 --thread-stride 32", "--tma"),
        "--all": (BANKS + " --bits 32 --thread-stride 64", "--all"),
        "--warp": (TMEM, "--warp 1"),
        "--lane": (TMEM + " --warp 1", "--lane 40"),
        "--column": (TMEM, "--column 8"),
        "--allocated": (TMEM + " --column 100", "--allocated 64"),
        "--json": (BANKS, "--json"),
    },
    "check": {
        "--mutants": ("check --kernel chain --seeds 1 --quiet", "--mutants"),
        "--shape": (GEMM_KERNEL + " --shape 1,64,64", GEMM_KERNEL + " --shape 1,72,64"),
        "--seeds": (GEMM_KERNEL, "--seeds 2"),
        "--runs": (GEMM_KERNEL, "--runs 3"),
        "--first-seed": (KIND + " packed", "--first-seed 7"),
        "--schedule": (KIND + " packed", "--schedule lazy"),
        "--kernel": (KIND + " packed", KIND + " columns"),
        "--family": (GEMM_KERNEL.replace("gemv_bf16_bf16_4x1", "f16_f32_nn"),
                     "--family sm100_gemm"),
        "--invariant": (REPRODUCIBLE, "--invariant"),
        "--bug": (KIND + " second_of_two", "--bug no-wait"),
        "--proxy-on-path": (KIND + " reader_fence", "--proxy-on-path"),
        "--no-provenance": (KIND + " packed", "--no-provenance"),
        "--bank-conflicts": (KIND + " columns", "--bank-conflicts"),
        "--tensor-fences": (KIND + " no_fences", "--tensor-fences acquire"),
        "--sms": (KIND + " whole_sm", "--sms 1"),
        "--live-clusters": (KIND + " needs_two", "--live-clusters 1"),
        "--trace": (KIND + " columns", "--trace t.json"),
        "--timeline": (KIND + " columns", "--timeline t.svg"),
        "--examples": ("check --mutants --kernel chain --seeds 1 --quiet", "--examples"),
        "--json": (GEMM_KERNEL, "--json"),
    },
    "bench emulator": {
        "--size": ("bench emulator --size 256 --rounds 1", "bench emulator --size 512 --rounds 1"),
        "--rounds": ("bench emulator --size 256 --json e.json --rounds 1",
                     "bench emulator --size 256 --json e.json --rounds 2"),
        "--json": ("bench emulator --size 256 --rounds 1", "--json e.json"),
        "--commit": ("bench emulator --size 256 --rounds 1 --json e.json --commit one",
                     "bench emulator --size 256 --rounds 1 --json e.json --commit two"),
    },
    "info": {"--json": ("info", "--json")}, "explain": {"--json": ("explain TW0401", "--json")},
    "ladder": {
        "--rung": (LADDER, LADDER.replace("3", "4", 1)),
        "--bug": ("ladder --device emu --size 256 --rung 5", "--bug list"),
        "--side": (LADDER, "--side"),
        "--size": (LADDER, LADDER.replace("128", "256")),
        "--device": (LADDER, LADDER.replace("emu", "gpu")),
        "--seeds": (LADDER + " --json", "--seeds 2"),
        "--plot": (LADDER, "--plot p.svg"),
        "--from": (LADDER, "ladder --from ladder.json"),
        "--timeline": (LADDER, "--timeline t.svg"), "--trace": (LADDER, "--trace t.json"),
        "--tiles": ("ladder --rung 9", "--tiles o.svg"), "--sms": (LADDER, "--sms 2"),
        "--json": (LADDER, "--json"),
    },
    "plan": {
        "--timeline": (PLAN + " --ranks 2 --op all-gather", "--timeline t.svg"),
        "--model": (PLAN, MODEL), "--tp": (MODEL, "--tp 2"),
        **{o: (MODEL, f"{o} {x}") for o, x in (("--tokens", 64), ("--formats", "f16"))},
        "--dtype": (PLAN, "--dtype e4m3"), "--weights": prepare_options.PLAN,
        "--dtype-b": (PLAN + " --dtype e4m3 --all-kernels", "--dtype-b e5m2"),
        "--out-dtype": (PLAN, "--out-dtype f32"),
        "--promote": (PLAN + " --dtype e4m3 --all-kernels", "--promote never"),
        "--f16-sums": (PLAN + " --dtype f16 --all-kernels --top 0", "--f16-sums"),
        "--wrap": ("plan 64 64 1000000 --dtype s8", "--wrap"), "--invariant": (PLAN, "--invariant"),
        "--scale-a": (PLAN + " --dtype e4m3 --all-kernels", "--scale-a 1x128"),
        "--scale-b": (PLAN + " --dtype e4m3 --all-kernels", "--scale-b 128x128"),
        "--scale-d": (PLAN + " --out-dtype e4m3 --scale-d given --all-kernels",
                      PLAN + " --out-dtype e4m3 --scale-d amax-row --all-kernels"),
        "--scale-d-as": (PLAN + " --out-dtype e4m3 --scale-d amax-1x128 --all-kernels --json",
                         "--scale-d-as flashinfer-k"),
        "--scale-d-type": (PLAN + " --out-dtype e4m3 --scale-d amax-1x128 --scale-d-power-of-two "
                           "--all-kernels --json", "--scale-d-type ue8m0"),
        "--scale-d-power-of-two": (PLAN + " --out-dtype e4m3 --scale-d amax-1x128 --all-kernels "
                                   "--json", "--scale-d-power-of-two"),
        "--scale-order": (PLAN + " --dtype nvfp4 --device b200 --all-kernels",
                          "--scale-order linear"),
        "--layout": (PLAN, "--layout NN"),
        "--epilogue": (PLAN, "--epilogue bias_gelu"),
        "--beta-c": (PLAN, "--beta-c"),
        "--d-order": (PLAN + " --json", "--d-order col"),
        "--batch": (PLAN, "--batch 2"),
        "--groups": (PLAN, "--groups 2"), "--group-axis": (PLAN + " --groups 2", "--group-axis n"),
        "--expected-size": (PLAN + " --groups 2", "--expected-size 8"),
        "--lda": (PLAN, "--lda 4104"), "--ldb": (PLAN, "--ldb 4104"), "--ldd": (PLAN, "--ldd 4097"),
        "--ranks": (PLAN, "--ranks 4"), "--op": (PLAN + " --ranks 4", "--op all-reduce"),
        **{o.split()[0]: (PLAN + " --ranks 4", o) for o in ("--hosts 2", "--no-p2p")},
        "--device": (PLAN, "--device b200"),
        "--family": (PLAN, "--family sm80_gemm"),
        "--sms": (PLAN, "--sms 20"),
        "--workspace": (PLAN.replace("4096 4096", "256 65536") + " --all-kernels --top 0",
                        "--workspace 0"),
        "--top": (PLAN, "--top 1"),
        "--all-kernels": (PLAN, "--all-kernels"),
        "--json": (PLAN, "--json"),
    },
    "quantize": {
        "--output": (QUANTIZE, QUANTIZE.replace("q.npy", "-o e.npy")),
        "--to": (QUANTIZE, QUANTIZE.replace("e4m3", "s8")),
        "--scaling": (QUANTIZE, QUANTIZE.replace("1x128", "row")),
        "--scale-order": (BLOCKS, "--scale-order linear"),
        "--scale2-out": (BLOCKS, "--scale2-out other.npy"),
        "--scale": (QUANTIZE.replace("1x128", "tensor"), "--scale 0.5"),
        "--scale2": (BLOCKS, "--scale2 0.5"),
        "--scale2-as": (BLOCKS + " --scale2 0.5", "--scale2-as reciprocal"),
        "--scale-rule": (BLOCKS.replace("nvfp4", "mxfp4"), "--scale-rule floor"),
        "--checkpoint": (BLOCKS.replace("q.npy", "q.safetensors:w.weight"),
                         "--checkpoint modelopt"),
        "--scale-out": (QUANTIZE, "--scale-out other.npy"),
        "--scale-as": (QUANTIZE, "--scale-as flashinfer-k"),
        "--scale-type": (QUANTIZE + " --power-of-two", "--scale-type ue8m0"),
        "--group": prepare_options.GROUP, "--operand": (QUANTIZE, "--operand b"),
        "--power-of-two": (QUANTIZE, "--power-of-two"),
        "--json": (QUANTIZE, "--json"), "--quiet": (QUANTIZE, "--quiet"),
    },
    "prepare": prepare_options.SEEN,
    "selftest": {
        "--device": ("selftest --only ldmatrix", "--device gpu"),
        "--output": ("selftest --only ldmatrix", "-o other.json"),
        "--only": ("selftest --only ldmatrix", "selftest --only mma"),
        "--json": ("selftest --only ldmatrix", "--json"),
    },
    "tune": {
        "--list": ("tune --export t.csv", "--list"),
        "--export": ("tune --export t.csv", "tune --export other.csv"),
        "--json": ("tune --list", "--json"),
    },
    "occupancy": {
        "--regs": ("occupancy --threads 128 --regs 64", "occupancy --threads 128 --regs 128"),
        "--threads": ("occupancy --regs 64 --threads 128", "occupancy --regs 64 --threads 256"),
        "--smem": ("occupancy --regs 64 --threads 128", "--smem 65536"),
        "--stage": ("occupancy --regs 64 --threads 128 --smem 65536", "--stage 16384"),
        "--cluster": ("occupancy --regs 64 --threads 128", "--cluster 4"),
        "--barriers": ("occupancy --regs 32 --threads 64", "--barriers 8"),
        "--tensor-columns": ("occupancy --regs 32 --threads 64 --device b200",
                             "--tensor-columns 512"),
        "--kernel": ("occupancy --kernel sm90_bf16_bf16_tn_128x128x64_1x1_s6",
                     "occupancy --kernel sm90_bf16_bf16_tn_128x256x64_2x1_s4"),
        "--cubin": ("occupancy --threads 128 --regs 64", "--cubin two_kernels.cubin"),
        "--function": (CUBIN, "--function fill"),
        "--tile": ("occupancy --threads 128 --regs 64", "--tile 64x128x64"),
        "--warpgroups": ("occupancy --threads 128 --regs 64 --tile 128x128x64", "--warpgroups 2"),
        "--dtype": ("occupancy --threads 128 --regs 64 --tile 64x128x64", "--dtype e4m3"),
        "--device": ("occupancy --threads 128 --regs 64", "--device t4"),
        "--json": ("occupancy --threads 128 --regs 64", "--json"),
    },
    "roofline": {
        "--dtype": ("roofline 512x512x512", "--dtype e4m3"),
        "--out-dtype": ("roofline 512x512x512", "--out-dtype f32"),
        "--batch": ("roofline 512x512x512", "--batch 3"),
        "--tile": ("roofline 512x512x512", "--tile 64x64"),
        "--cluster": ("roofline 512x512x512", "--cluster 1x1"),
        "--device": ("roofline 512x512x512", "--device h20"),
        "--plot": ("roofline 512x512x512", "--plot r.svg"),
        "--json": ("roofline 512x512x512", "--json"),
    },
    "profile": {
        "--metrics": ("profile --show -- true", "profile --show --metrics x -- true"),
        "--kernel-name": ("profile --show -- true", "profile --show --kernel-name x -- true"),
        "--skip": ("profile --show -- true", "profile --show --skip 3 -- true"),
        "--launches": ("profile --show -- true", "profile --show --launches 5 -- true"),
        "--from": ("profile --from raw.csv", "profile --from details.csv"),
        "--show": ("profile -- true", "profile --show -- true"),
        "--list": ("profile --from raw.csv", "--list"),
        "--json": ("profile --list", "--json"),
    },
    "stages": {"--device": (STAGES, STAGES.replace("emu", "gpu")),
               "--tile": (STAGES, "--tile 128x128"), "--family": (STAGES, "--family sm80_gemm"),
               "--trace": (STAGES, "--trace t.json"), "--json": (STAGES, "--json")},
    "playground run": {"--schedule": (RACE, "--schedule lazy"), "--seed": (RACE, "--seed 2"),
                       "--size": (RUNG, RUNG.replace("256", "512")),
                       "--no-timeline": (RACE, "--no-timeline")},
    "playground list": {}, "help": {}, "completion": {}, "man": {},
}
# Why an option of a verb cannot be seen here, and where it is tested.
GPU = "without a GPU nothing runs: tests/bench/command_test.py, tests/gpu/command_test.py"
BAR = "the progress bar is for terminals: tests/tools/io/output_test.cpp"
UNSEEN = {
    "check": {"--quiet": BAR, "--timeout": "processor seconds: tests/tools/plugin_load_test.py"},
    "ladder": {"--quick": GPU, "--no-baseline": GPU},
    "bench gemm": GPU, "bench ceiling": GPU, "bench dist": GPU, "bench host": GPU, "tune": GPU,
}
# Where a run does not end with status 0: the statuses of the run without the option and of the run
# with it, and why. A run with the option is never refused (2).
NO_GPU = "77 without a GPU"
FAULT = "1: the option decides whether a fault of tests/tools/plugin/options.cpp is found"
BOTH = "1: the kernel has a fault in both runs"
STATUSES = {
    "gemm": {"--wrap": ({2}, {0}, "so long a K is refused without it"),
             "--device": ({0}, {0, 77}, NO_GPU)},
    "layout": {"--mn-major": ({2}, {0}, "the tile has no K-major descriptor")},
    "check": {"--mutants": ({2}, {0}, "the target that is checked, or this option, is needed"),
              "--first-seed": ({1}, {1}, BOTH), "--schedule": ({1}, {1}, BOTH),
              "--kernel": ({1}, {0}, "1: the first kernel has a fault, the second has none"),
              "--bug": ({0}, {1}, FAULT), "--proxy-on-path": ({1}, {0}, FAULT),
              "--no-provenance": ({1}, {0}, FAULT), "--bank-conflicts": ({0}, {1}, FAULT),
              "--tensor-fences": ({1}, {0}, FAULT), "--sms": ({0}, {1}, FAULT),
              "--live-clusters": ({0}, {1}, FAULT)},
    "ladder": {"--device": ({0}, {0, 77}, NO_GPU)},
    "plan": {"--wrap": ({2}, {0}, "so long a K is refused without it")},
    "prepare": prepare_options.STATUSES,
    "selftest": {"--device": ({0}, {0, 77}, NO_GPU)},
    "profile": {"--show": ({0, 77}, {0}, "77 without ncu")},
    "stages": {"--device": ({0}, {0, 77}, NO_GPU)},
}
TIMES = re.compile(r'^time .*\n|^.* ms +[0-9.]+ x$|"(seconds|tflops|[a-z_]*ms|date|host)":'
                   r'("[^"]*"|\[[^\]]*\]|[^,}]*)', re.M)


def floats(path, *shape):
    rng = random.Random(path)
    write_npy(path, "<f4", shape, pack_f32([rng.uniform(0.3, 2) * rng.choice((1, -1))
                                            for _ in range(math.prod(shape))]))


def write_tuning_file(path):
    """A file of `tilewright tune` with one GEMM (src/dispatch/tuning/tuning_store.cpp)."""
    columns = {"card": "NVIDIA H200", "driver": "580", "version": "1", "sms": 132,
               "problem": "64x256x512x1 a=bf16,T,512,0 b=bf16,N,512,0 d=bf16,T,256,0",
               "kernel": "sm90_bf16_bf16_tn_128x128x64_1x1_s6", "swapped": 0, "shared_tiles": 0,
               "sharers": 0, "us": 7.0, "predicted_us": 8.0, "tried": 3, "date": "2026-11-28",
               "starts_early": 1}
    with contextlib.closing(sqlite3.connect(path)) as store:
        store.execute(f"CREATE TABLE fastest({', '.join(columns)})")
        store.execute(f"INSERT INTO fastest VALUES({', '.join('?' * len(columns))})",
                      tuple(columns.values()))
        store.execute(f"PRAGMA application_id = {0x54574754}")
        store.execute("PRAGMA user_version = 2")
        store.commit()


def verbs_and_options():
    """Each verb with the options that its help lists, by their last long name."""
    def said(*words):
        return subprocess.run([COMMAND, *words, "--help"], capture_output=True, text=True,
                              check=True).stdout
    verbs = []
    for verb in re.findall(r"^  (\w+)  ", said().split("Subcommands:")[1], re.M):
        below = said(verb).split("Subcommands:")[1:]
        verbs += [f"{verb} {x}" for x in re.findall(r"^  (\w+)  ", below[0], re.M)] if below else [
            verb]
    for verb in verbs:
        lines = re.findall(r"^  (-[-\w,]+)", said(*verb.split()).split("Options:")[-1], re.M)
        for line in lines:
            names = line.split(",")
            yield verb, [x for x in names if x.startswith("--")] or names


class OptionEffects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = tempfile.TemporaryDirectory()
        cls.seen = {}
        os.chdir(cls.inputs.name)
        for name, *shape in (("a", SIDE, K), ("bt", SIDE, K), ("c", SIDE, SIDE), ("v", SIDE),
                             ("wide", 256, K), ("two", 2, K), ("2x2", 2, 2)):
            floats(name + ".npy", *shape)
        write_npy("ends.npy", "<i4", (2,), bytes([9, 0, 0, 0, 30, 0, 0, 0]))
        write_npy("order.npy", "<i4", (48,), b"".join(bytes([47 - i, 0, 0, 0]) for i in range(48)))
        write_npy("alphas.npy", "<f4", (2,), pack_f32([0.5, 2]))
        write_npy("long.npy", "|i1", (1, 140000), bytes(140000))
        write_tuning_file("tune.db")
        shutil.copy(os.path.join(SOURCE, "bench/results/ladder-2026-11-26-h100.json"),
                    "ladder.json")
        for name in ("two_kernels.cubin", "ncu/raw.csv", "ncu/details.csv"):
            shutil.copy(os.path.join(SOURCE, "tests/tools/data", name), ".")
        prepare_options.write_weights(COMMAND)
        for name in ("a", "bt"):
            subprocess.run([COMMAND, "quantize", f"{name}.npy", f"{name[0]}4.npy", "--to", "nvfp4",
                            "--operand", "a", "--quiet"], check=True)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.inputs.cleanup()

    def outcome(self, line):
        """The status, both streams and all files of a run, without times and folders."""
        if line in self.seen:
            return self.seen[line]
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(self.inputs.name):
                os.symlink(os.path.join(self.inputs.name, name), os.path.join(folder, name))
            words = [PLUGIN if word == "PLUGIN" else word for word in line.split(" ")]
            tuned = os.path.join(self.inputs.name, "tune.db")
            done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True,
                                  input='{"id": 1, "op": "size", "args": ["(4,8):(8,1)"]}\n',
                                  check=False, env={**os.environ, "TILEWRIGHT_TUNE": tuned})
            self.assertIn(done.returncode, (0, 1, 2, 77), (line, done.stderr))
            files = {}
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    with open(path, "rb") as file:
                        files[name] = TIMES.sub("", file.read().decode("latin-1"))
        clean = [TIMES.sub("", text).replace(folder, "") for text in (done.stdout, done.stderr)]
        self.seen[line] = (done.returncode, *clean, files)
        return self.seen[line]

    def test_every_option_of_the_help_has_a_line(self):
        for verb, names in verbs_and_options():
            reasons = UNSEEN.get(verb, {})
            known = {*SEEN.get(verb, {}), *(reasons if isinstance(reasons, dict) else {}), "--help"}
            if isinstance(reasons, str) and verb not in SEEN:
                continue
            self.assertTrue(known & set(names) or isinstance(reasons, str), (verb, names))

    def test_exceptions_are_of_options_that_exist(self):
        for verb, options in STATUSES.items():
            self.assertLessEqual(set(options), set(SEEN[verb]), verb)
            for option, (_, with_it, _) in options.items():
                self.assertNotIn(2, with_it, (verb, option))

    def test_every_option_changes_something(self):
        for verb, options in SEEN.items():
            if verb == "check" and not os.path.exists(PLUGIN):
                continue
            for option, (without, given) in options.items():
                if not given.startswith(verb):
                    given = f"{without} {given}"
                with self.subTest(verb=verb, option=option):
                    self.assertEqual(without.split()[0], given.split()[0])
                    same = self.outcome(without) == self.outcome(given)
                    self.assertFalse(same, f"tilewright {given}\n{self.outcome(given)[:3]}")
                    expected = STATUSES.get(verb, {}).get(option, ({0}, {0}, ""))
                    for line, statuses in zip((without, given), expected):
                        self.assertIn(self.outcome(line)[0], statuses,
                                      f"tilewright {line}\n{self.outcome(line)[2]}")

    def test_a_name_that_is_no_utf8_ends_no_run(self):
        records = 0
        for verb, options in SEEN.items():
            for option, (without, given) in options.items():
                suffix = os.path.splitext(given)[1]
                words = without.split(" ") + [option, "odd\udcff" + suffix]
                has_json = "--json" in options and verb != "bench emulator"
                if has_json and not {"--json", "--", "-o"} & set(words):
                    words.append("--json")
                with self.subTest(words=ascii(words)), tempfile.TemporaryDirectory() as folder:
                    for name in os.listdir(self.inputs.name):
                        os.symlink(os.path.join(self.inputs.name, name),
                                   os.path.join(folder, name))
                    words = [PLUGIN if word == "PLUGIN" else word for word in words]
                    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True,
                                          stdin=subprocess.DEVNULL, check=False)
                    self.assertIn(done.returncode, (0, 1, 2, 77), done.stderr)
                    out, _ = done.stdout.decode(), done.stderr.decode()  # valid UTF-8
                    if words[-1] == "--json" and done.returncode in (0, 1, 2):
                        self.assertEqual("error" in json.loads(out), done.returncode == 2, out)
                        records += 1
        self.assertGreater(records, 100)

    def test_a_size_that_is_not_emulated_is_refused(self):
        for size, got in (("32768", "Value 32768 not in range 256 to 16384"),
                          ("255", "Value 255 not in range 256 to 16384"),
                          ("300", "300")):
            done = subprocess.run([COMMAND, "bench", "emulator", "--size", size],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"tilewright: TW0615: .*--size.*{got}")

    def test_a_run_repeats_what_is_compared(self):
        for line in (GEMM, GEMM + " --json", KIND + " packed", PLAN, QUANTIZE, LADDER):
            first = self.outcome(line)
            self.seen.pop(line)
            self.assertEqual(first, self.outcome(line))


if __name__ == "__main__":
    unittest.main()
