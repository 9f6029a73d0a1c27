#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nvtx_test.py  A tool that listens sees a range with the kernel's name in the domain tilewright;
without a tool nothing is called. Needs the headers of NVTX, and no GPU."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ["TW_SOURCE_DIR"]
NVCC = os.environ.get("TW_NVCC") or shutil.which("nvcc") or ""
INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "include")

PROGRAM = """
#include <cstdio>
#include "dispatch/launch/launch_range.hpp"
int main() {
  char const* const names[] = {"first", "second"};
  for (char const* name : names) {
    tw::launch_range const range(name);
    std::puts(name);
  }
}
"""
TOOL = """
#include <cstdio>
#include <nvtx3/nvToolsExt.h>
static nvtxDomainHandle_t create(char const* name) {
  std::printf("domain %s\\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(1);
}
static int push(nvtxDomainHandle_t, nvtxEventAttributes_t const* what) {
  std::printf("push %s\\n", what->message.ascii);
  return 0;
}
static int pop(nvtxDomainHandle_t) {
  std::puts("pop");
  return 0;
}
extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  auto const* callbacks =
      static_cast<NvtxExportTableCallbacks const*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0)
    return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
"""


def main():
    if not os.path.exists(os.path.join(INCLUDE, "nvtx3/nvToolsExt.h")):
        print("skipped: no headers of NVTX beside nvcc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        def built(name, text, *options):
            source, out = os.path.join(folder, name + ".cpp"), os.path.join(folder, name)
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run(["g++", "-std=c++20", "-I", INCLUDE, "-I", os.path.join(ROOT, "src"),
                            source, "-o", out, *options, "-ldl"], check=True)
            return out
        program, tool = built("program", PROGRAM), built("tool.so", TOOL, "-shared", "-fPIC")

        def seen(**more):
            environment = {k: v for k, v in os.environ.items() if not k.startswith("NVTX")}
            return subprocess.run([program], capture_output=True, text=True, check=True,
                                  env={**environment, **more}).stdout.split("\n")[:-1]
        want = ["domain tilewright", "push first", "first", "pop", "push second", "second", "pop"]
        with_tool, without = seen(NVTX_INJECTION64_PATH=tool), seen()
        if with_tool != want or without != ["first", "second"]:
            print(f"with a tool {with_tool}, not {want}; without {without}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
