// SPDX-License-Identifier: Apache-2.0
// gemm_run.hpp  One GEMM on the GPU or in the emulator, timed.
#pragma once

#include <optional>
#include <string>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/shards.hpp"
#include "tools/command/gemm/gemm_inputs.hpp"

namespace tw {

/// A GEMM over ranks: how it was divided, "8+8+7".
struct ranks_done {
  int ranks = 0;
  dist::operation op = {};
  dist::path via = {};
  std::string rows, parts;  // parts: columns of B, or K
  std::optional<elem> partials = std::nullopt;
  bool equal = true;  // each rank of an all-reduce has the bits of D
};

struct gemm_run {
  bool on_gpu = false;
  std::string device;              // name of the GPU, or "emulator"
  int threads = 0;                 // of the emulator
  bool hazards = false;            // the emulator checked the order of the kernel's accesses
  bool ordinary_accesses = false;  // it saw the kernel's ordinary loads and stores
  gemm_plan plan;
  std::optional<ranks_done> ranks = std::nullopt;
  double seconds = 0;  // of one GEMM: GPU event clock, or wall time
  int timed_runs = 1;  // on the GPU the mean of these

  double tflops() const {
    gemm_problem const& p = plan.problem;
    return 2e-12 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
           static_cast<double>(p.n) * static_cast<double>(p.k) / seconds;
  }
};

/// Computes the GEMM into data.d(). The GPU's memory is checked first (TW0613). family: that of the
/// kernel; empty: any.
gemm_run run_on_gpu(gemm_files const& files, gemm_data& data, std::string const& family = {});
/// The options of r that concern the emulator: device, family, threads, progress, hazards. A kernel
/// that breaks a rule throws emu::fault. record: the launch is written down for a timeline; then in
/// one OS thread, and the request's threads (default 1) only say how many SMs the emulated device
/// has, two for each.
gemm_run run_emulated(gemm_request const& r, gemm_files const& files, gemm_data& data,
                      emu::trace* record = nullptr);

}  // namespace tw
