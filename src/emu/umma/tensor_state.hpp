// SPDX-License-Identifier: Apache-2.0
// tensor_state.hpp  The state of tcgen05: tensor memory and its allocations, what a
//                   thread has issued, and the instruction that the lanes of a warp are at.
//                   Data without behaviour.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emu/history/clock.hpp"
#include "tilewright/arch/emu/tensor_engine.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw::emu {

struct cta_state;
struct mbarrier_state;
struct thread;

/// Of one CTA. Lanes 0-63 and 64-127 lie apart, each column as 64 words one after another: 64 rows
/// of an accumulator are what run_wgmma_group works on.
struct tensor_memory {
  static constexpr int lanes_of_half = tmem_lanes / 2;
  std::uint32_t word[2][tmem_columns][lanes_of_half];

  struct allocation {
    int first, columns, ctas;
    site where;
  };
  std::vector<allocation> allocations;
  std::optional<allocation> last;  // whose columns the next one must not exceed
  std::optional<site> relinquished;
  std::vector<thread*> waiters;      // for free columns
  std::optional<allocation> wanted;  // of the warp that waits for its peer CTA
  struct holder {
    int cta;
    bool permit;  // it may still allocate; otherwise its columns are missing
    site where;   // of its allocation
  };
  std::optional<holder> held_by;  // the CTA of the same SM that an allocation waits for

  std::uint32_t& at(int lane, int column) {
    return word[lane / lanes_of_half][column][lane % lanes_of_half];
  }
  allocation const* of_column(int column) const {
    for (allocation const& a : allocations)
      if (column >= a.first && column < a.first + a.columns) return &a;
    return nullptr;
  }
};

/// A multiply, a copy or a commit, from issue to completion.
struct tensor_op {
  std::optional<umma_call> multiply;
  std::optional<tmem_copy_call> copy = {};
  // A commit
  struct arrive {
    cta_state* cta;
    mbarrier_state* at;
  };
  std::vector<arrive> arrives = {};
  std::uint32_t until = 0;         // it covers the operations up to this one, counted from 1
  std::uint32_t traced_as = ~0U;   // of a commit in a recording
  hazard::clock_ref known = {};    // what the thread knew of asynchronous work when it issued it
  hazard::clock_ref ordered = {};  // the same of tcgen05 operations
  site where = {};
};

/// The tcgen05 operations of a thread.
struct tensor_thread {
  std::deque<tensor_op> ops;    // not complete, in order
  std::uint32_t begun = 0;      // multiplies and copies
  std::uint32_t committed = 0;  // those that a commit covers
  site last_at;                 // the newest one
};

/// An instruction of all lanes of a warp, which goes on when the last one has come.
struct tensor_step {
  char const* name = nullptr;
  std::uint64_t operands[4] = {};  // the same in all lanes
  int arrived = 0;
  site where;  // of the first lane
  std::uint32_t* regs[32] = {};
  std::vector<thread*> waiters;
};

/// Loads and stores of a warp, counted from 1.
struct tensor_warp {
  tensor_step step;
  std::uint32_t loads = 0, stores = 0;
};

}  // namespace tw::emu
