// SPDX-License-Identifier: Apache-2.0
// selftest.hpp  Kernels and probes of `tilewright selftest`, and the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw::selftest {

/// A kernel on one small problem, or the probe of an instruction.
struct finding {
  std::string name;
  bool passed = false;
  std::string problem = {};   // "100 x 200 x 300"; empty: a probe
  std::int64_t compared = 0;  // elements, or words
  std::int64_t wrong = 0;     // of them
  double largest_ratio = 0;   // of an error and its bound
  std::uint64_t digest = 0;   // FNV-1a of the result's bits, to compare machines
  std::string trouble = {};   // why it did not run, or the first diagnosis
};

/// All built kernels that the device runs, on problems of a fixed seed.
/// text: only kernels whose name contains it.
std::vector<finding> run_kernels(bool on_gpu, std::string const& text);
/// The probes; none on a GPU without tcgen05, and in a build without CUDA none on any.
std::vector<finding> run_probes(bool on_gpu, std::string const& text);

/// Runs probe number i on the current GPU and copies its words. Empty: done; else the CUDA error.
std::string run_probe_on_gpu(int probe, std::vector<std::uint32_t>& words);

}  // namespace tw::selftest
