// SPDX-License-Identifier: Apache-2.0
// plan.hpp  A plan: a problem, the kernel that computes it, how its tiles are handed out, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/kernel/l2_hints.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

class gemm_family;  // family.hpp

/// A prediction's parts, microseconds. The total is launch + copies + reduction + epilogue + the
/// longest of (tensor + idle + additions), loads and DRAM, rounded up where they come close to each
/// other.
struct plan_terms {
  double tensor = 0;         // the GEMM's operations on the tensor cores of all SMs
  double idle = 0;           // that the tiles add: edges, SMs without a tile, narrow instructions
  double additions = 0;      // of K blocks times their scales, as far as multiplies wait for them
  double loads = 0;          // operands, from L2 to shared memory
  double shared_memory = 0;  // its bytes in and out; known, not part of the total
  double dram = 0;           // operands read once, D written once
  double epilogue = 0;       // that no main loop hides
  double reduction = 0;      // reducing the parts of split-K tiles
  double launch = 0;
  double copies = 0;  // of operands, by a launch before the GEMM
  double waves = 0;   // tiles of the busiest cluster (a count; a split-K tile counts by its part)
};

/// Why a plan comes first: its predicted time, or a measured one: of the device's tuning table,
/// which the library ships, or on this GPU by `tilewright tune`.
enum class plan_source : std::uint8_t { model, table_of_winners, tuned };

/// How a launch hands out the tiles of D. The kernel's family interprets it; a field that does not
/// apply to a kernel is as it is here.
struct plan_schedule {
  int clusters = 0;          // that run, each on its tiles; CTAs where a kernel has no clusters
  int tile_cols = 0;         // columns of the tiles, where a launch chooses them
  int split_k_tiles = 0;     // cluster tiles whose K range several clusters share (stream-K)
  int split_k_clusters = 0;  // that share them
  order_kind raster = order_kind::grouped;  // the order of the tiles,
  int band = 1;                             // in bands of so many cluster tiles
  l2_hints l2{};                            // L2 cache hints

  bool operator==(plan_schedule const&) const = default;
};

/// Rows (axis n: columns) that an index array names, which a launch before the GEMM copies in the
/// order of the groups, with their scales.
struct ordered_rows {
  role of = role::none;  // a or b
  matrix_desc from;      // as the caller gave them
  group_desc groups;
  std::optional<scale_desc> scale_from;
};

/// A problem, the kernel chosen for it and why.
struct gemm_plan {
  gemm_problem problem;  // as requested
  gemm_problem normal;   // as run: the kernel's order of D may need swap-AB
  bool swapped = false;  // normal is the swapped problem (swap-AB)
  gemm_family const* family = nullptr;
  int instance = -1;  // the kernel: an index into the family's
  plan_schedule schedule;
  std::string kernel;                // its name: "sm90_bf16_bf16_tn_128x256x64_2x1_s4"
  std::int64_t workspace_bytes = 0;  // that operands.workspace must have, copies included
  double predicted_us = 0;
  std::string predicted_for{};  // label() of the device that it was planned for
  plan_terms terms;             // of the prediction
  double measured_us = 0;       // of this plan on this GPU or on another of its kind; 0: none
  std::string measured_on{};    // name of the device that a measured plan is from; empty: `tuned`
  std::string measured_for{};   // tuned groups, near the problem's, that the plan is from
  plan_source source = plan_source::model;
  std::string why;  // one line
  /// Is A or B copied to a padded pitch in the workspace first?
  ab_table<bool> repitch;
  /// Operands of 8 and 32 bits that are copied to K-major order first, as the caller gave them.
  /// `normal` describes the copies.
  ab_table<std::optional<matrix_desc>> from;
  /// Scales of block-scaled operands that are copied to the order 32x4x4 first, as the caller gave
  /// them. `normal` describes the copies.
  ab_table<std::optional<scale_desc>> scales_from;
  /// Rows that groups gather and that are copied in order first. `normal` describes the copies.
  std::optional<ordered_rows> ordered;
  /// D is computed in float32 in the workspace, and quantised by a second launch. `normal` has the
  /// float32 D, without scales.
  bool stage_d = false;
  double quantise_us = 0;     // of that launch, predicted; part of predicted_us
  bool direct_d = false;      // D is written by plain stores (pitch or base TMA cannot address)
  bool starts_early = false;  // programmatic dependent launch, unless launch_options say otherwise
  bool early_measured = false;    // starts_early is what was measured to be faster, not the rule's
  bool measured_in_bf16 = false;  // the measurement is of bf16, the problem of f16
  bool built = true;              // this build has the kernel (TW_KERNELS)
  std::string missed;  // the first kernel before it in the ranking, where this build lacks that one
  std::vector<std::string> hints;  // performance hints for the log
};

/// The name of the kernel, and whether a launch before it copies rows in order.
inline std::string shown_kernel(gemm_plan const& p) {
  return p.kernel + (p.ordered ? " of rows in order" : "");
}

}  // namespace tw
