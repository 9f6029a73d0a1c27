// SPDX-License-Identifier: Apache-2.0
// placement.cpp  Places in words.
#include "dist/placement.hpp"

#include <fmt/format.h>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {
namespace {

std::string words(memory_place const& at) {
  switch (at.kind) {
    case memory_kind::host: return "host memory that is not registered with CUDA";
    case memory_kind::registered: return "host memory";
    case memory_kind::managed: return "managed memory";
    case memory_kind::device: break;
  }
  return fmt::format("memory of GPU {}", at.device);
}

}  // namespace

std::vector<operand_address> addresses_of(gemm_problem const& p, gemm_operands const& o,
                                          std::int64_t rows_of_a, std::int64_t rows_of_d) {
  std::vector<operand_address> list;
  for (operand_row const& r : operand_rows) {
    void const* const at = address(o, r.is);
    bool const empty = r.over == operand_axes::mk   ? rows_of_a * p.k == 0
                       : r.over == operand_axes::kn ? p.k * p.n == 0
                                                    : rows_of_d * p.n == 0;
    if (at != nullptr && !empty) list.push_back({r.text, at});
  }
  if (o.workspace != nullptr && o.workspace_bytes > 0)
    list.push_back({"the workspace", o.workspace});
  return list;
}

void check_places(std::vector<operand_address> const& list, call_on_gpu const& on,
                  device_memory const& memory) {
  for (operand_address const& x : list) {
    memory_place const at = memory.place(x.at);
    bool const usable = at.kind == memory_kind::device ? at.device == on.device
                        : at.kind == memory_kind::host ? on.reads_host && !on.captured
                                                       : true;
    if (usable) continue;
    bool const captured = on.captured && at.kind == memory_kind::host;
    throw rejected(
        {"TW0911", x.what + " in a call of a group on GPUs",
         words(at) + (captured ? ", in a call that is captured in a CUDA graph" : ""),
         fmt::format("memory of GPU {}, or registered host memory", on.device),
         captured ? "a graph copies from the address in each replay: cudaMalloc, or "
                    "cudaHostRegister before the capture, and keep the memory"
                  : "cudaMalloc on the group's device, or cudaHostRegister; operands need not lie "
                    "in the arena"});
  }
}

void check_arena_places(int rank, std::vector<void*> const& arenas, int device, std::int64_t bytes,
                        device_memory const& memory) {
  for (std::size_t r = 0; r < arenas.size(); ++r) {
    bool const own = static_cast<int>(r) == rank;
    memory_place const at = memory.place(arenas[r]);
    std::string const what = fmt::format("arena of rank {}", r);
    if (at.kind != memory_kind::device || (own && at.device != device))
      throw rejected({"TW0911", what, words(at),
                      own ? fmt::format("memory of GPU {}, the current device", device)
                          : "memory of a GPU, mapped here",
                      "torch symmetric memory, ncclMemAlloc or cudaMalloc; host ranks: "
                      "group::from_addresses"});
    if (at.bytes != 0 && at.bytes < bytes)
      throw rejected(
          {"TW0911", what,
           fmt::format("{} bytes from its address to the end of its allocation", at.bytes),
           fmt::format("{} bytes", bytes), "group::gpu_arena_bytes(options)"});
  }
}

}  // namespace tw::dist
