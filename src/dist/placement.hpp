// SPDX-License-Identifier: Apache-2.0
// placement.hpp  The places of a call's memory, and refusals of memory that a GPU of a group
//                cannot use: its kernels would end the process's CUDA context.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw::dist {

/// host: memory of the process that CUDA does not know. registered: host memory that the GPUs
/// address. managed: memory that CUDA moves. device: memory of a GPU.
enum class memory_kind : std::uint8_t { host, registered, managed, device };
struct memory_place {
  memory_kind kind = memory_kind::host;
  int device = -1;
  std::int64_t bytes = 0;  // of the allocation, from the address on; 0: not known
};

/// Device memory as the code without CUDA sees it: tests have host memory.
struct device_memory {
  std::function<memory_place(void const*)> place;
  std::function<void(void* to, std::int64_t bytes)> clear;
  /// Copies between device and host; done when it returns.
  std::function<void(void* to, void const* from, std::int64_t bytes)> copy;

  bool contains(void const* at) const { return place(at).kind == memory_kind::device; }
};

/// An operand's address, with its name in messages.
struct operand_address {
  std::string what;
  void const* at;
};

/// The operands of a GEMM that have elements, and its workspace. A has `rows_of_a` rows; C, D, aux
/// and the scales of D have `rows_of_d` rows.
std::vector<operand_address> addresses_of(gemm_problem const& p, gemm_operands const& o,
                                          std::int64_t rows_of_a, std::int64_t rows_of_d);

/// A GPU, and a call on it.
struct call_on_gpu {
  int device = 0;
  bool reads_host = false;  // its kernels address host memory that CUDA does not know
  bool captured = false;    // in a CUDA graph
};

/// Throws TW0911 for an address that the GPU cannot use: memory of another GPU, or host memory that
/// is not registered with CUDA. A GPU that reads all host memory takes unregistered memory too,
/// except in a capture: the graph contains copies from it.
void check_places(std::vector<operand_address> const& list, call_on_gpu const& on,
                  device_memory const& memory);

/// Throws TW0911 if the arena of rank `rank` is not memory of the device, the arena of a peer not
/// memory of any, or an allocation ends before the arena does.
void check_arena_places(int rank, std::vector<void*> const& arenas, int device, std::int64_t bytes,
                        device_memory const& memory);

}  // namespace tw::dist
