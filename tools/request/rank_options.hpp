// SPDX-License-Identifier: Apache-2.0
// rank_options.hpp  Options of GEMMs over several ranks, for `gemm` and for `plan`.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "tilewright/dist/shards.hpp"

namespace tw {

struct rank_request {
  int ranks = 0;         // 0: one device, no ranks
  bool split_k = false;  // else rows of A
  std::optional<dist::operation> op;
  dist::path via = dist::path::pieces;
  bool partials_of_d = false;  // else float32
  int hosts = 1;
  bool no_p2p = false;   // of plan: the GPUs do not write each other's memory
  std::string timeline;  // file of the picture of a call

  bool any() const { return ranks > 0; }
  /// The operation that the option names, or that the split has.
  dist::operation operation() const {
    return op.value_or(split_k ? dist::operation::gemm_reduce_scatter
                               : dist::operation::all_gather_gemm);
  }
};

/// --ranks, --split, --op, --path and --partials.
void add_rank_options(CLI::App& verb, rank_request& r);
/// --ranks, --op, --hosts, --no-p2p and --timeline.
void add_rank_plan_options(CLI::App& verb, rank_request& r);

/// Refuses an operation that does not belong to the split (TW0615).
void check_rank_options(rank_request const& r);

}  // namespace tw
