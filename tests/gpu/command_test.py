# SPDX-License-Identifier: Apache-2.0
"""command_test.py  `tilewright gemm --device gpu` on ragged shapes of every order and type.

Within the proven bound, and bit for bit the emulator's result where float32 sums are exact.
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

COMMAND = os.environ["TW_COMMAND"]
LETTERS = {"f16": ("<f2", "e"), "f32": ("<f4", "f"), "bf16": ("<V2", None)}


def encode(values, dtype):
    if dtype == "bf16":  # the values used here are exact in bfloat16
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack(f"<{len(values)}{LETTERS[dtype][1]}", *values)


def write_npy(path, rows, cols, dtype, fortran, draw):
    header = f"{{'descr': '{LETTERS[dtype][0]}', 'fortran_order': {fortran}, " \
             f"'shape': ({rows}, {cols}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                                   header.encode() + encode([draw() for _ in range(rows * cols)],
                                                            dtype))


def gemm(folder, device, out, options):
    return subprocess.run([COMMAND, "gemm", f"{folder}/a.npy", f"{folder}/b.npy", "-o",
                           f"{folder}/{out}", "--device", device, "--json", *options],
                          capture_output=True, text=True, check=False)


def main():
    info = json.loads(subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True,
                                     check=True).stdout)
    if info["gpu"] is None:
        print("skipped:", info["why_no_gpu"]["code"], info["why_no_gpu"]["got"])
        return 77
    random.seed(7)
    failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(48):
            m, n, k = (random.choice([1, 8, 33, 64, 129, 200]) for _ in range(3))
            dtype = ["bf16", "f16", "f32"][case % 3]
            exact = case % 2 == 0  # multiples of 1/8 below 2: sums are exact in float32
            draw = (lambda: random.randrange(-16, 17) / 8) if exact else (
                lambda: struct.unpack("<e", struct.pack("<e", random.gauss(0, 1)))[0]
                if dtype != "bf16" else random.randrange(-128, 129) / 64)
            write_npy(f"{folder}/a.npy", m, k, dtype, bool(case & 4), draw)
            write_npy(f"{folder}/b.npy", k, n, dtype, bool(case & 8), draw)
            options = ["--out-dtype", random.choice(["bf16", "f16", "f32"])]
            if case & 16:
                write_npy(f"{folder}/c.npy", m, n, "f32", bool(case & 32), draw)
                options += ["-C", f"{folder}/c.npy", "--beta", "-0.5", "--alpha", "0.25"]
            done = gemm(folder, "gpu", "gpu.npy", options + ["--check"])
            runs += 1
            ok = done.returncode == 0 and json.loads(done.stdout)["device"] == "gpu"
            if ok and exact:
                emulated = gemm(folder, "emu", "emu.npy", options)
                same = pathlib.Path(f"{folder}/gpu.npy").read_bytes() == \
                    pathlib.Path(f"{folder}/emu.npy").read_bytes()
                ok = emulated.returncode == 0 and same
            if not ok:
                failures += 1
                print(f"case {case}: {m}x{n}x{k} {dtype} {options}:", done.stdout, done.stderr)
    print(f"{runs} GEMMs, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
