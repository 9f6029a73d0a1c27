#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""occupancy_test.py  tilewright occupancy agrees with cuda_occupancy.h of the CUDA Toolkit, and
reads cubins of nvcc. Skipped where the toolkit is not installed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["TW_COMMAND"]
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "include")
REGISTERS = [1, 24, 32, 33, 40, 56, 64, 72, 80, 96, 104, 128, 136, 168, 200, 224, 255]
THREADS = [1, 32, 96, 128, 160, 256, 384, 416, 512, 640, 1024]
SMEM = [0, 1, 1024, 3000, 20000, 49152, 65536, 100352, 101376, 116000, 166912, 200000, 232448]
DEVICES = {"sm_75": (7, 5, 1024, 65536, 65536, 0), "sm_80": (8, 0, 2048, 167936, 166912, 1024),
           "sm_86": (8, 6, 1536, 102400, 101376, 1024), "sm_89": (8, 9, 1536, 102400, 101376, 1024),
           "sm_90": (9, 0, 2048, 233472, 232448, 1024),
           "sm_100": (10, 0, 2048, 233472, 232448, 1024),
           "sm_120": (12, 0, 1536, 102400, 101376, 1024)}

PROGRAM = """
#include <cstdio>
#include <cstring>
#include "cuda_occupancy.h"
int main() {
  int major, minor, threads_sm, smem_sm, smem_cta, reserved, registers, threads, smem;
  while (std::scanf("%d %d %d %d %d %d %d %d %d", &major, &minor, &threads_sm, &smem_sm, &smem_cta,
                    &reserved, &registers, &threads, &smem) == 9) {
    cudaOccDeviceProp p;
    p.computeMajor = major, p.computeMinor = minor;
    p.maxThreadsPerBlock = 1024, p.maxThreadsPerMultiprocessor = threads_sm;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536, p.warpSize = 32;
    p.sharedMemPerBlock = 49152, p.sharedMemPerMultiprocessor = smem_sm;
    p.sharedMemPerBlockOptin = smem_cta, p.reservedSharedMemPerBlock = reserved;
    p.numSms = 132;
    cudaOccFuncAttributes a;
    a.maxThreadsPerBlock = 1024, a.numRegs = registers;
    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    a.maxDynamicSharedSizeBytes = smem;
    cudaOccDeviceState const state;
    cudaOccResult r;
    std::memset(&r, 0, sizeof r);
    cudaOccError const e =
        cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &state, threads, smem);
    std::printf("%d\\n", e == CUDA_OCC_SUCCESS ? r.activeBlocksPerMultiprocessor : -(int)e);
  }
}
"""
KERNEL = """
__global__ void __launch_bounds__(256, 2) copy(float* p) {
  __shared__ float s[1024];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


def ours(*words):
    done = subprocess.run([COMMAND, "occupancy", "--json", *words], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)["launches"]


def joined(numbers):
    return ",".join(map(str, numbers))


class Occupancy(unittest.TestCase):
    def test_agrees_with_cuda_occupancy_h(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "o.cpp"), os.path.join(folder, "o")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            subprocess.run(["g++", "-std=c++17", "-w", "-I", INCLUDE, source, "-o", program],
                           check=True)
            for device, facts in DEVICES.items():
                rows = ours("--regs", joined(REGISTERS), "--threads", joined(THREADS), "--smem",
                            joined(SMEM), "--device", device)
                text = "".join(f"{' '.join(map(str, facts))} {r['registers']} {r['threads']} "
                               f"{r['smem_bytes']}\n" for r in rows)
                done = subprocess.run([program], input=text, capture_output=True, text=True,
                                      check=True)
                theirs = [int(line) for line in done.stdout.split()]
                self.assertEqual(len(theirs), len(REGISTERS) * len(THREADS) * len(SMEM))
                for row, want in zip(rows, theirs):
                    self.assertEqual(row["ctas"], want, f"{device}: {row}")

    def test_reads_a_cubin(self):
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = os.path.join(folder, "k.cu"), os.path.join(folder, "k.cubin")
            with open(source, "w", encoding="utf-8") as file:
                file.write(KERNEL)
            done = subprocess.run([NVCC, "-arch=sm_90a", "-cubin", "-Xptxas=-v", source,
                                   "-o", cubin], capture_output=True, text=True, check=True)
            row, = ours("--cubin", cubin)
            self.assertEqual(row["registers"], int(re.search(r"Used (\d+) reg", done.stderr)[1]))
            self.assertEqual((row["threads"], row["smem_bytes"], row["barriers"]), (256, 4096, 1))
            self.assertEqual(row["ctas"], 8)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(INCLUDE, "cuda_occupancy.h")):
        print("skipped: no cuda_occupancy.h beside nvcc")
        sys.exit(77)
    unittest.main()
