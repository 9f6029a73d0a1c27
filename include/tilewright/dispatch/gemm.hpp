// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The front door: plan a product, then run it on the GPU or in the emulator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/dispatch/kernel_set.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/gemv_config.hpp"
#include "tilewright/kernel/l2_hints.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/gemm.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// A prediction's parts, microseconds. The total is launch + copies + meeting + epilogue + the
/// longest of (tensor + idle), loads and DRAM, which is rounded up where they come close to each
/// other.
struct plan_terms {
  double tensor = 0;         // the product's operations on the tensor cores of all SMs
  double idle = 0;           // that the tiles add: edges, SMs without a tile, narrow instructions
  double loads = 0;          // operands, from L2 to shared memory
  double shared_memory = 0;  // its bytes in and out; known, not part of the total
  double dram = 0;           // operands read once, D written once
  double epilogue = 0;       // that no main loop hides
  double meeting = 0;        // adding the parts of shared tiles
  double launch = 0;
  double copies = 0;  // of operands that TMA cannot address, by a launch before
  double waves = 0;   // tiles of the busiest cluster (a count; a shared tile counts by its part)
};

/// Why a plan comes first: its predicted time, or a measured one: of the device's tuning table,
/// which the library ships, or on this GPU by `tilewright tune`.
enum class plan_source : std::uint8_t { model, table_of_winners, tuned };

/// A problem, the kernel chosen for it and why. `kernel` is the configuration's name.
struct gemm_plan {
  gemm_problem problem;  // as asked
  gemm_problem normal;   // as run: the kernel's order of D may ask for the transposed product
  bool swapped = false;  // normal is the transposed product
  gemm_config config;    // the kernel
  int tile_cols = 0;     // where it narrows: columns of its tiles, config.least_n to config.tile_n
  std::optional<gemv_config> gemv;  // or this one; `config` then has the types and what a CTA does
  std::string kernel;               // "sm90_bf16_bf16_tn_128x256x64_2x1_s4"
  int clusters = 0;                 // that run, each on its tiles; CTAs of a GEMV
  int shared_tiles = 0;             // cluster tiles whose K range several clusters share
  int sharers = 0;                  // clusters that share them
  order_kind raster = order_kind::grouped;  // the order of the tiles,
  int band = 1;                             // in bands of so many cluster tiles
  std::int64_t workspace_bytes = 0;         // that operands.workspace must have, copies included
  l2_hints l2{};                            // L2 cache hints
  double predicted_us = 0;
  std::string predicted_for{};  // label() of the device that it was planned for
  plan_terms terms;             // of the prediction
  double measured_us = 0;       // of this plan on this GPU or on another of its kind; 0: none
  plan_source source = plan_source::model;
  std::string why;         // one line
  bool repitch_a = false;  // operand is copied to a padded pitch in the workspace first
  bool repitch_b = false;
  bool direct_d = false;      // D is written by plain stores (pitch or base TMA cannot address)
  bool starts_early = false;  // programmatic dependent launch, unless launch_options say otherwise
  bool early_measured = false;    // starts_early is what was measured to be faster, not the rule's
  bool measured_in_bf16 = false;  // `source` knows the bf16 product, not this one of f16
  bool built = true;              // this build has the kernel (TW_KERNELS)
  std::string missed;  // the first kernel before it in the ranking, where this build lacks that one
  std::vector<std::string> hints;  // performance hints for the log

  /// The configuration with the tiles of this launch.
  gemm_config launched() const {
    gemm_config c = config;
    if (c.narrows()) c.tile_n = tile_cols;
    return c;
  }
};

/// Chooses a kernel of this build for `dev`: gpu_device(), emulated_device() or known_device("h200").
/// Where the build lacks the kernel that ranks first, the next best is taken and the log tells so
/// (subsystem plan). Throws `rejected` when accept() refuses the problem or the device, and TW0505
/// where the build lacks every kernel that could compute the problem. Of the operands it reads the
/// alignment and the size of the workspace. What `tilewright tune` found on this GPU is read at the
/// first call and preferred (TILEWRIGHT_TUNE=off: not). The log tells each problem's plan once, and
/// what would make it faster (TW_LOG_LEVEL; docs/planning.md).
gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, device const& dev);

/// All plans for this problem, the one predicted to be fastest first; with kernel_set::all also
/// those whose kernel this build lacks (gemm_plan::built). Throws as plan_gemm.
std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev,
                                       kernel_set kernels = kernel_set::built);

/// The time that the model of `dev` predicts for a plan, whichever device it was made for.
double predicted_us(gemm_plan const& plan, device const& dev);

/// The same for an H200 with this number of SMs, whatever GPU is there: for callers of version
/// 0.1, which knew no other device.
gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, int h200_sms);
std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o, int h200_sms);

/// Bytes of workspace with which each plan for this problem can run on `dev`: 64 MiB, or more on a
/// device with more than 132 SMs, for split-K and stream-K, and room for copies of operands whose
/// leading dimension or base TMA cannot address. Of the operands it reads the alignment. Without a
/// device: enough for each of known_devices().
std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o, device const& dev);
std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o);

/// Drops the plans that gemm() and gemm_emulated() remember for the problems they were called with.
/// Plans in use stay valid.
void forget_plans();

/// What there is to run on: the current device (cudaSetDevice), each asked once. `usable` is false
/// with a rejection TW05xx that says which condition failed: built without CUDA, no driver, no
/// device, compute capability.
struct gpu_info {
  bool usable = false;
  rejection why_not;
  std::string name;
  int sms = 0;
  int compute_capability = 0;  // 90 for 9.0
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0, max_smem_bytes_per_cta = 0;
  double max_clock_mhz = 0;
  std::string driver;  // "13.0": what the driver supports
};
gpu_info const& gpu();

/// The description of the current device: that of its name in devices/, or the nearest one
/// (describe()). Throws gpu().why_not where no GPU is usable.
device const& gpu_device();

/// How a launch stands to the one before it in its stream.
struct launch_options {
  /// Programmatic dependent launch: the kernel may start while the one before it ends, sets itself
  /// up, and waits for it before it touches operands, D or the workspace; a product may read what
  /// the one before has written. Our kernels say when the next may start; others' count when they
  /// have ended, or say so themselves (griddepcontrol.launch_dependents); one that is itself a
  /// dependent launch must wait for the one before it (docs/planning.md). Without a value, where
  /// the plan expects it to pay (gemm_plan::starts_early). Where operands are copied first, the
  /// copy does so.
  std::optional<bool> pdl;
};

/// Computes the product on the current device, asynchronously on `stream`. Pointers are device
/// pointers. Throws `rejected` before anything is launched.
/// Nothing is allocated and nothing waits: a call may be captured into a CUDA graph, which keeps
/// the addresses. The first form plans a problem once and then remembers it (per device, size of
/// the workspace and whether A, B and D begin at multiples of 16 bytes); any thread may call it.
/// With a workspace in the operands, tiles may be shared among CTAs (plan.shared_tiles); the result
/// has the same bits each time. Operands whose pitch or base TMA cannot address (no multiple of 16
/// bytes) are first copied to the workspace; without room for that the call is refused (TW0410).
/// gemm_plan::workspace_bytes is exact, gemm_workspace_bytes() enough for every plan.
void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how = {});
void gemm(gemm_plan const& plan, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how = {});

using emu_options = emu::options;
using emu::async_policy;

/// Computes the product in the emulator. Pointers are host pointers; blocks until done.
/// Throws `rejected` (bad problem) or `emu::fault` (the kernel broke a rule; carries diagnoses).
void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt = {});
void gemm_emulated(gemm_plan const& plan, gemm_operands const& o, emu_options const& opt = {});

/// SMs that an emulated device has with these options, and that device, an H200 with so many: what
/// the first form plans for.
int emulated_sms(emu_options const& opt);
device emulated_device(emu_options const& opt);

}  // namespace tw
