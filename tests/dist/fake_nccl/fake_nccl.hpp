// SPDX-License-Identifier: Apache-2.0
// fake_nccl.hpp  Settings and communicators of the libnccl of fake_nccl.cpp.
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

/// Set before the calls. The test reads it through `fake_nccl()` of the library.
struct fake_nccl_state {
  int version = 22809;
  std::string failing;        // the function that fails; empty: none
  bool far_ranks = false;     // ranks without addresses of each other
  bool wrong_stride = false;  // a window whose layout is another one
  int live_allocations = 0, live_windows = 0;
  std::string calls;  // names of the functions that were called
};

struct fake_world;
struct ncclComm {
  fake_world* all;
  int rank;
};

/// The communicators of all ranks, with the files of their memory.
struct fake_world {
  explicit fake_world(int n) : ranks(n), barrier(n) {
    for (int r = 0; r < n; ++r) comms[r] = {this, r};
  }
  int ranks;
  std::barrier<> barrier;
  ncclComm comms[16] = {};
  int files[16] = {};
};
