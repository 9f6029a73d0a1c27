// SPDX-License-Identifier: Apache-2.0
// run.hpp  Runs a GEMM whose kernel records its stages, on the GPU or in the emulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/arch/emu/trace.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm80/config.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/pipeline/stage_profile.hpp"

namespace tw::stages {

/// The kernels that are compiled with a record: bf16, A and B K-major. Those of Ampere and
/// Blackwell run in the emulator alone.
inline constexpr gemm_config wide{};  // 128x256, clusters of two CTAs, four stages
inline constexpr gemm_config narrow{.tile_n = 128, .cluster_m = 1, .stages = 6};
inline constexpr sm80_config ampere{};  // 128x128x32, four warps, four stages
inline constexpr sm100_config blackwell{.tile_n = 128, .stages = 6};  // 128x128x64, one CTA
enum class recorded_kernel { wide, narrow, ampere, blackwell };

/// Roles of a CTA that have a record each: math warpgroups; of Blackwell's kernel the warp that
/// multiplies, and one that stores.
int recorded_roles(recorded_kernel kernel);

struct request {
  std::int64_t m = 0, n = 0, k = 0;
  recorded_kernel kernel = recorded_kernel::wide;
};

/// Events of a role, in cycles from the first event of its CTA.
struct role_record {
  int cta = 0, role = 0;
  std::vector<stage_event> events;
  int lost = 0;  // beyond the log's capacity
};

struct run {
  recorded_kernel kernel_with_record = recorded_kernel::wide;
  std::string where;   // "NVIDIA H200", "emulator"
  std::string kernel;  // as `plan` names it
  std::int64_t m = 0, n = 0, k = 0;
  bool measured = false;  // else cycles of the timeline's model
  std::vector<role_record> roles;
  std::optional<emu::timeline> timeline;  // of the emulator
  /// D has the bits of the kernel without a record (GPU), or of a reference in float64 (emulator).
  bool correct = true;
};

run run_emulated(request const& r);
/// Throws `rejected` TW05nn where no GPU is usable.
run run_on_gpu(request const& r);

/// Events that a log has room for, of a role.
inline constexpr int log_capacity = 4096;

/// The log as records, with all times relative to the first of each CTA.
std::vector<role_record> records_of(std::vector<stage_event> const& events,
                                    std::vector<std::int32_t> const& counts, int roles);

}  // namespace tw::stages
