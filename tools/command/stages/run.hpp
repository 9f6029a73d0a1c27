// SPDX-License-Identifier: Apache-2.0
// run.hpp  Runs a GEMM whose kernel records its stages, on the GPU or in the emulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/arch/emu/trace.hpp"
#include "tilewright/pipeline/stage_profile.hpp"
#include "tools/command/stages/kernels.hpp"

namespace tw::stages {

struct request {
  std::int64_t m = 0, n = 0, k = 0;
  recorded_kernel const* kernel = nullptr;  // of recorded_kernels()
};

/// Events of a role, in cycles from the first event of its CTA.
struct role_record {
  int cta = 0, role = 0;
  std::vector<stage_event> events;
  int lost = 0;  // beyond the log's capacity
};

struct run {
  recorded_kernel const* kernel_with_record = nullptr;
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
/// Throws `rejected` TW05nn if no GPU is usable.
run run_on_gpu(request const& r);

/// Events that a log has room for, of a role.
inline constexpr int log_capacity = 4096;

/// The log as records, with all times relative to the first of each CTA.
std::vector<role_record> records_of(std::vector<stage_event> const& events,
                                    std::vector<std::int32_t> const& counts, int roles);

}  // namespace tw::stages
