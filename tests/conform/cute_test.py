# SPDX-License-Identifier: Apache-2.0
"""cute_test.py  The rows of scale_factors.jsonl are CuTe's; scale_factors_test.cpp compares ours.

Skipped without CuTe's headers. TW_CUTLASS is the folder include/ of CUTLASS, which the package
nvidia-cutlass of PyPI has too; libcu++, which they need, comes with nvcc:
    pip install --no-deps --target /tmp/cutlass nvidia-cutlass
    TW_CUTLASS=/tmp/cutlass/cutlass_library/source/include ./dev test conform -R cute_test
`cute_test.py --accept` writes the file anew.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "scale_factors.jsonl")
CUTLASS = os.environ.get("TW_CUTLASS", "")
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
CXX = os.environ.get("CXX", "g++")
SHOWN = 32  # offsets in a row; beyond that their number and CRC-32, as atoms.jsonl has them


def stored_form(row):
    offsets = row.pop("offs")
    if len(offsets) <= SHOWN:
        row["offs"] = offsets
    else:
        row["n"] = len(offsets)
        row["crc32"] = zlib.crc32(",".join(map(str, offsets)).encode())
    return json.dumps(row)


def rows_of_cute():
    """The rows as text, and the version of CUTLASS."""
    toolkit = os.path.join(os.path.dirname(os.path.realpath(NVCC)), "../include")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "rows")
        done = subprocess.run(
            [CXX, "-std=c++17", "-w", "-I" + CUTLASS, "-I" + toolkit, "-I" + toolkit + "/cccl",
             os.path.join(HERE, "cute_scale_factors.cpp"), "-o", program],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(CUTLASS, "cutlass/version.h"), encoding="utf-8") as file:
        text = file.read()
    version = [re.search(rf"CUTLASS_{part}\s+(\d+)", text)[1] for part in ("MAJOR", "MINOR")]
    return [stored_form(json.loads(line)) for line in lines.splitlines()], ".".join(version)


def main():
    if not os.path.exists(os.path.join(CUTLASS, "cute/tensor.hpp")):
        print("cute: TW_CUTLASS is not set to a folder with cute/tensor.hpp")
        return 77
    if not NVCC or not shutil.which(CXX):
        print("cute: no nvcc, whose toolkit has libcu++" if not NVCC else f"cute: no {CXX}")
        return 77
    found, version = rows_of_cute()
    if "--accept" in sys.argv:
        with open(STORED, "w", encoding="utf-8") as file:
            file.write(json.dumps({"op": "version", "cutlass": version}) + "\n")
            file.write("".join(row + "\n" for row in found))
        return 0
    with open(STORED, encoding="utf-8") as file:
        head, *stored = file.read().splitlines()
    wrong = [f"stored {a}, CuTe's {b}" for a, b in zip(stored, found) if a != b]
    if len(stored) != len(found):
        wrong.append(f"{len(stored)} rows are stored, CuTe has {len(found)}")
    for line in wrong[:12]:
        print("cute: " + line)
    print(f"cute: {len(found)} rows of CUTLASS {version}, stored from "
          f"{json.loads(head)['cutlass']}, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
