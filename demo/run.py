#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py  Reads handwritten digits with a small network; every GEMM is `tilewright gemm`.

Python does everything else: files, ReLU, the largest of ten scores, and this text. It needs
only Python's standard library.
"""
import argparse
import array
import ast
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parent / "digits"
SHADES = "  .:-=+*#%@@"


def read_npy(path):
    """Shape and values of a .npy file of '<f2', '<f4' or '|u1' in C order."""
    raw = pathlib.Path(path).read_bytes()
    header_end = 10 + struct.unpack("<H", raw[8:10])[0]
    header = ast.literal_eval(raw[10:header_end].decode())
    count = 1
    for extent in header["shape"]:
        count *= extent
    letter = {"<f2": "e", "<f4": "f", "|u1": "B"}[header["descr"]]
    return header["shape"], struct.unpack_from(f"<{count}{letter}", raw, header_end)


def write_npy(path, shape, values):
    """A float32 matrix in C order."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = array.array("f", values)
    if sys.byteorder == "big":
        data.byteswap()
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                                   header.encode() + data.tobytes())


def read_bias(path, name):
    """A bfloat16 vector of a .safetensors file, as floats."""
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    begin, end = json.loads(raw[8:8 + size])[name]["data_offsets"]
    words = struct.unpack(f"<{(end - begin) // 2}H", raw[8 + size + begin:8 + size + end])
    return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]


class Gemms:
    """Runs `tilewright gemm` and remembers what it reported."""

    def __init__(self, command, device, folder):
        self.command, self.device, self.folder, self.records = command, device, folder, []

    def layer(self, images, weight, bias, name):
        """images x weight + bias, one row per image; the result's file."""
        rows = read_npy(images)[0][0]
        add, out = self.folder / f"{name}_bias.npy", self.folder / f"{name}.npy"
        write_npy(add, (rows, len(bias)), bias * rows)
        call = [self.command, "gemm", str(images), f"{DATA / 'weights.safetensors'}:{weight}",
                "-C", str(add), "-o", str(out), "--out-dtype", "f32", "--device", self.device,
                "--check", "--json"]
        done = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=False,
                              env={"TW_LOG_LEVEL": "error", **os.environ})
        if done.returncode != 0:
            sys.exit(done.returncode)  # the command has said why on stderr
        self.records.append(json.loads(done.stdout))
        return out


def picture(images, labels, answers):
    """A row of images as text, and below each what it is and what the network read."""
    lines = ["   ".join("".join(2 * SHADES[int(v * 11 / 16)] for v in image[8 * y:8 * y + 8])
                        for image in images) for y in range(8)]
    words = [f"is {is_}, read {read}" for is_, read in zip(labels, answers)]
    return "\n".join(lines + ["   ".join(f"{w:16}" for w in words)])


def show_images(pixels, labels, answers):
    wrong = [i for i, (label, answer) in enumerate(zip(labels, answers)) if label != answer]
    chosen = [0, 1, 2] + wrong[:1]
    print("Three of the images, and one that was misread:" if wrong else "Three of the images:")
    print(picture([pixels[64 * i:64 * i + 64] for i in chosen], [labels[i] for i in chosen],
                  [answers[i] for i in chosen]))


def show_gemms(records, shapes):
    print("\nThe two GEMMs, each checked against float64 with its proven error bound:")
    for record, text in zip(records, shapes):
        check = record["check"]
        print(f"  {text:52} {record['m']}x{record['k']} times {record['k']}x{record['n']}: "
              f"{1e3 * record['seconds']:.3f} ms,\n"
              f"    largest error {check['max_error']:.1e}, "
              f"{100 * check['ratio']:.2g} % of what is allowed; kernel {record['kernel']}")


def show_layout(command):
    print("\nThe layout of a tile in shared memory. A row of the tile is eight chunks of 16\n"
          "bytes; the number is the position of the chunk. The positions are swizzled: each\n"
          "column of the tile covers all eight groups of memory banks (position modulo 8), as\n"
          "each row does.\n", flush=True)
    subprocess.run([command, "layout", "Sw<3,0,3> o 0 o (8,8):(8,1)", "--print", "table"],
                   check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="build/bin/tilewright", help="the built command")
    parser.add_argument("--device", choices=["auto", "emu", "gpu"], default="auto")
    options = parser.parse_args()
    command = str(pathlib.Path(options.command).resolve())
    start = time.monotonic()

    pixels = read_npy(DATA / "images.npy")[1]
    labels = read_npy(DATA / "labels.npy")[1]
    weights = DATA / "weights.safetensors"
    with tempfile.TemporaryDirectory(prefix="tilewright-demo-") as scratch:
        gemms = Gemms(command, options.device, pathlib.Path(scratch))
        bias1, bias2 = read_bias(weights, "bias1"), read_bias(weights, "bias2")
        shape, values = read_npy(gemms.layer(DATA / "images.npy", "weight1", bias1, "hidden"))
        relu = pathlib.Path(scratch) / "relu.npy"
        write_npy(relu, shape, [max(v, 0.0) for v in values])
        scores = read_npy(gemms.layer(relu, "weight2", bias2, "scores"))[1]
    answers = [max(range(10), key=lambda c, i=i: scores[10 * i + c]) for i in range(len(labels))]
    right = sum(a == b for a, b in zip(answers, labels))
    record = gemms.records[0]

    print(f"Tilewright reads {len(labels)} handwritten digits that the network has never seen.\n")
    show_images(pixels, labels, answers)
    count = len(labels)
    print(f"\nAccuracy  {100 * right / count:.2f} %: {right} of {count} digits are right")
    where = f"the GPU: {record['device_name']}" if record["device"] == "gpu" else (
        f"the emulator ({record['threads']} threads of this CPU): no Hopper GPU was used")
    print(f"Device    {where}")
    print(f"Time      {1e3 * sum(r['seconds'] for r in gemms.records):.2f} ms for the GEMMs, "
          f"{time.monotonic() - start:.2f} s in total")
    show_gemms(gemms.records, ["hidden = images x weight1 + bias1, then ReLU",
                                     "scores = hidden x weight2 + bias2"])
    show_layout(command)


if __name__ == "__main__":
    main()
