// SPDX-License-Identifier: Apache-2.0
// tuning_key.hpp  The key of a measurement: the device, its driver, this library, the problem.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/gemm.hpp"

namespace tw {

struct tuning_identity {
  std::string card;     // "NVIDIA H200"
  std::string driver;   // "13.0": what it supports
  std::string version;  // tuning_version()
  int sms = 0;

  bool operator==(tuning_identity const&) const = default;
};

/// "0.1.0+5c1e9b2a": the library's version, and a hash of its lists of kernels.
std::string tuning_version();

/// The current GPU with this library; nothing without a usable GPU.
std::optional<tuning_identity> identity_here();

/// All of a problem that its speed depends on. Not alpha; of beta whether C takes part.
/// "4096x4096x4096x1 a=bf16,T,4096,0 b=bf16,N,4096,0 d=bf16,T,4096,0"; T is row-major.
/// A fused epilogue is " e=" and its fields as numbers, in their order.
std::string problem_key(gemm_problem const& p);

/// The problem that problem_key() wrote; nothing where the text is another.
std::optional<gemm_problem> problem_of_key(std::string const& key);

/// The size of a group, for problems of groups: expected_size, else the total / G; of slots their
/// extent.
double usual_group_size(gemm_problem const& p);

/// The key of a problem of groups without the extent that they divide, the strides that follow from
/// it, the expected size, and the way in which the array states sizes: ends, starts or sizes, of 32
/// or 64 bits.
std::string key_without_total(gemm_problem const& p);

/// The file of measurements: TILEWRIGHT_TUNE if it is an absolute path, else tune.db in
/// $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright. Empty: TILEWRIGHT_TUNE=off, or no home.
/// Throws `rejected` TW0802 for another value of TILEWRIGHT_TUNE.
std::string tuning_file();

}  // namespace tw
