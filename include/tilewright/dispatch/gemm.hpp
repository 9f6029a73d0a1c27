// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The interface: plans a problem and runs it on the GPU or in the emulator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/family/kernel_set.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/gemm.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// Chooses a kernel of this build for `dev`: gpu_device(), emulated_device() or
/// known_device("h200"). Where the build lacks the kernel that ranks first, the next best is taken
/// and the log reports it (subsystem plan). Throws `rejected` when accept() refuses the problem or
/// the device, and TW0505 where the build lacks every kernel that could compute the problem. Of the
/// operands it reads the alignment and the size of the workspace. What `tilewright tune` found on
/// this GPU is read at the first call and preferred (TILEWRIGHT_TUNE=off: not). The log has each
/// problem's plan once, and what would make it faster (TW_LOG_LEVEL; docs/planning.md).
gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, device const& dev);

/// All plans for this problem, the one predicted to be fastest first; with kernel_set::all also
/// those whose kernel this build lacks (gemm_plan::built). Throws as plan_gemm.
std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev, kernel_set kernels = kernel_set::built);

/// The time that the model of `dev` predicts for a plan, whichever device it was made for.
double predicted_us(gemm_plan const& plan, device const& dev);

/// Bytes of workspace with which each plan for this problem can run on `dev`: 64 MiB, or more on a
/// device with more than 132 SMs, for split-K and stream-K, and room for copies of operands whose
/// leading dimension or base TMA cannot address. Of the operands it reads the alignment. Without a
/// device: enough for each of known_devices().
std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o, device const& dev);
std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o);

/// Drops the plans that gemm() and gemm_emulated() remember for the problems they were called with.
/// Plans in use stay valid.
void forget_plans();

/// Properties of the current device (cudaSetDevice), cached per device. `usable` is false
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
/// (describe()). Throws gpu().why_not if no GPU is usable.
device const& gpu_device();

/// Options of a launch. pdl: programmatic dependent launch.
struct launch_options {
  /// Programmatic dependent launch: the kernel may start while the one before it ends, sets itself
  /// up, and waits for it before it touches operands, D or the workspace; a GEMM may read what
  /// the one before has written. Our kernels say when the next may start; others' count when they
  /// have ended, or say so themselves (griddepcontrol.launch_dependents); one that is itself a
  /// dependent launch must wait for the one before it (docs/planning.md). Without a value, where
  /// the plan expects it to pay (gemm_plan::starts_early). Where operands are copied first, the
  /// copy does so.
  std::optional<bool> pdl;
};

/// Computes the problem on the current device, asynchronously on `stream`. Pointers are device
/// pointers. Throws `rejected` before anything is launched.
/// Nothing is allocated and nothing waits: a call may be captured into a CUDA graph, which keeps
/// the addresses. The first form plans a problem once and then remembers it (per device, size of
/// the workspace and whether A, B and D begin at multiples of 16 bytes); any thread may call it.
/// With a workspace in the operands, CTAs may share tiles (plan_schedule::split_k_tiles); the bits
/// of the result are the same each time. Operands whose pitch or base TMA cannot address (no
/// multiple of 16 bytes) are copied to the workspace; without room for that it refuses (TW0410).
/// gemm_plan::workspace_bytes is exact, gemm_workspace_bytes() enough for every plan.
/// The current device stays as it was.
void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how = {});
void gemm(gemm_plan const& plan, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how = {});

using emu_options = emu::options;
using emu::async_policy;

/// Computes the problem in the emulator. Pointers are host pointers; blocks until done.
/// Without a workspace in the operands it makes one, as large as the plan needs; gemm() on the GPU
/// allocates nothing and refuses. Throws `rejected` (bad problem) or `emu::fault` (the kernel broke
/// a rule; carries diagnoses).
void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt = {});
void gemm_emulated(gemm_plan const& plan, gemm_operands const& o, emu_options const& opt = {});

/// emulated_sms: the number of SMs that these options imply. emulated_device: the described device
/// `like` with that number of SMs, for which gemm_emulated plans.
int emulated_sms(emu_options const& opt);
device emulated_device(emu_options const& opt, std::string_view like = "h200");

}  // namespace tw
