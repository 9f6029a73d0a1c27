#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_test.py  `tilewright bench` without a GPU: refused input is 2, a missing GPU is 77; the
emulator needs none."""
import json
import os
import subprocess
import sys
import tempfile

COMMAND, SOURCE = os.environ["TW_COMMAND"], os.environ["TW_SOURCE_DIR"]
SHAPES = os.path.join(SOURCE, "bench", "shapes_public.json")


def bench(*arguments):
    """Exit status, stdout and stderr, with every GPU hidden."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([COMMAND, "bench", *arguments], capture_output=True, text=True,
                          check=False, timeout=1800, env=environment)
    return done.returncode, done.stdout, done.stderr


def expect(status, text, *arguments):
    got, out, err = bench(*arguments)
    if got != status or text not in err or err.count("\n") > 2 or out:
        sys.exit(f"bench {arguments}: got {got}, {out!r}, {err!r}; need {status}, {text!r}")


def deepgemm_without_a_shape():
    """Headers and a compiler that have the right names: it is the list that is refused."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh",
                     "include/cute/arch/mma_sm100_desc.hpp", "nvcc"):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8"):
                os.chmod(path, 0o755)
        os.environ["PATH"] += ":" + folder
        words = ["--baseline", "cublaslt,deepgemm", "--deepgemm", folder]
        expect(2, "it multiplies e4m3 alone", "gemm", *words, "64", "64", "64")
        expect(77, "TW05", "gemm", *words, "64x64x64", "--dtype", "fp8_block")


def main():
    expect(2, "TW0701", "gemm", "--shapes", "no/such/file.json")
    expect(2, "TW0705", "gemm", "--shapes", SHAPES, "--names", "nobody")
    expect(2, "TW0615", "gemm", "--shapes", SHAPES, "--mode", "slow")
    expect(2, "TW0615", "gemm")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--shapes", SHAPES)
    for sizes in (["64:32:8x64x64"], ["64", "64"], ["64:128x64x64"], ["1:1000:1x1:1000:1x1"],
                  ["64,x64x64"], ["-64", "64", "64"], ["64.5", "64", "64"], ["64x64x64", "7"]):
        expect(2, "TW0803", "gemm", *sizes)
    expect(2, "TW0615", "gemm", "64", "64", "64", "--dtype", "f64")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--epilogue", "softmax")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--scale-d", "amax")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--dtype", "e4m3", "--scale-d", "0.5")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--dtype", "mxfp8", "--d", "mxfp8",
           "--scale-d", "given")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--baseline", "cublaslt,none")
    expect(2, "--deepgemm DIR", "gemm", "64", "64", "64", "--baseline", "cublaslt,deepgemm")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--deepgemm", "DIR")
    expect(2, "TW0615", "gemm", "64", "64", "64", "--cutlass", "DIR")
    expect(2, "TW0716", "gemm", "64", "64", "64", "--baseline", "deepgemm", "--deepgemm", SOURCE)
    deepgemm_without_a_shape()
    expect(2, "TW0615", "emulator", "--size", "100")
    expect(2, "TW0615", "dist", "--names", "another layer")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as shapes:
        shapes.write('[{"name": "x"}]')
        shapes.flush()
        expect(2, "TW0702", "gemm", "--shapes", shapes.name)
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        expect(77, "TW05", "gemm", "--shapes", SHAPES, "--json", result)
        expect(77, "TW05", "gemm", "64:256:x2", "64,128", "64:192:64", "--csv", result)
        expect(77, "TW05", "gemm", "64x64x64", "64:128:64x8x8", "--dtype", "f16", "--csv", result)
        expect(77, "TW05", "gemm", "64x64x64", "--dtype", "e4m3", "--scale-d", "amax-1x128",
               "--csv", result)
        expect(77, "TW05", "gemm", "64x64x64", "--dtype", "nvfp4", "--d", "mxfp8", "--csv", result)
        expect(77, "TW05", "ceiling", "--json", result)
        expect(77, "TW05", "dist", "--quick", "--op", "all-reduce", "--json", result)
        if os.listdir(folder):
            sys.exit("a result file was written without a measurement")
        got, out, err = bench("emulator", "--size", "512", "--rounds", "2", "--json", result)
        if got != 0 or "values alone" not in out or "every check" not in out:
            sys.exit(f"bench emulator: got {got}, {out!r}, {err!r}")
        with open(result, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        if [len(r["ms"]) for r in rows][:2] != [2, 2] or max(rows[1]["ms"]) <= 0:
            sys.exit(f"bench emulator wrote {rows}")
        got, out, err = bench("host", "--json", result)
        if got != 0 or "finding the plan" not in out or "TW05" not in out:
            sys.exit(f"bench host: got {got}, {out!r}, {err!r}")
        with open(result, encoding="utf-8") as file:
            rows = {r["name"]: r["median_ns"] for r in json.load(file)["rows"]}
        if not 0 < rows["finding the plan among 101"] < rows["planning anew"]:
            sys.exit(f"bench host: a remembered plan is no cheaper than a new one: {rows}")


if __name__ == "__main__":
    main()
