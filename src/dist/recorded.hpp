// SPDX-License-Identifier: Apache-2.0
// recorded.hpp  A rank in host memory that writes down the acts of its call, and the cycles of its
//               GEMMs in the emulator's model of time: for a picture of the call.
#pragma once

#include <string>
#include <vector>

#include "dist/membership.hpp"
#include "tilewright/arch/emu/trace.hpp"

namespace tw::dist {

/// launch and launched: between them are the acts that one launch of path::direct does on a GPU.
/// results: later sends contain all results that were computed before.
enum class act_kind : std::uint8_t { gemm, add, copy, results, send, set, wait, launch, launched };

/// Rows of a GEMM with a gate, and the rank that sends them; -1: this rank has them.
struct gated_rows {
  int from;
  range rows;
};

struct recorded_act {
  act_kind is;
  rank_flag flag = {};                   // that is set, or waited for
  std::vector<int> peers = {};           // to whom, or for whom
  std::int64_t bytes = 0;                // of a copy or a send; of an addition, read and written
  std::int64_t cycles = 0;               // of a GEMM
  range rows = {};                       // of a GEMM
  std::vector<gated_rows> by_gate = {};  // of a GEMM with a gate, in the order of its tiles
};

/// The acts of one rank, in the order in which its thread did them.
struct recorded_acts {
  std::vector<recorded_act> acts;
  std::string cut_off;  // emu::timeline::cut_off of a GEMM that has it
};

/// The membership `of` of a rank in host memory, for one call with this problem and these operands.
/// Its acts are appended to `to`. Both outlive the group that is returned.
group recorded(group const& of, operation op, gemm_slice const& call, recorded_acts& to);

}  // namespace tw::dist
