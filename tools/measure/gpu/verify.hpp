// SPDX-License-Identifier: Apache-2.0
// verify.hpp  Compares a result on the device with sums in float64, and digests whole results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/problem/gemm.hpp"
#include "tools/measure/gpu/stopwatch.hpp"
#include "tools/measure/result.hpp"

namespace tw::bench {

/// `sets` results of m x n elements, `stride_bytes` apart.
struct result_sets {
  void const* base = nullptr;
  std::size_t stride_bytes = 0;
  int sets = 0;
};

/// Every element of every result: how many are NaN, and a digest of all bits and their places.
struct result_scan {
  std::int64_t nans = 0;
  std::uint64_t digest = 0;
};
result_scan scan(gemm_problem const& p, result_sets const& d, stopwatch& watch);

/// Compares D of `o` with the reference: all of it where that takes at most 2^33 steps, else 64
/// whole rows and 64 whole columns, the first and the last included; of a batch that is larger, and
/// of groups, 16 GEMMs, the first and the last among them, and the largest group.
/// This is for alpha = 1 without C. verify_fused.hpp compares fused epilogues and C, and explains
/// `baseline`. Two bounds, both must hold:
///   error_over_bound     any data and order of summation: problem/error_bound.hpp
///   error_over_expected  zero-mean data: no partial sum passes 8 sigma, sigma^2 = sum (a b)^2, so
///                        the sum errs by at most 8 e sigma, e = (17/16 K + 2) 2^-23 (a truncation
///                        for each a_k b_k and each sum of 16). Far tighter: a lost k-step shows.
///                        Where the tensor core keeps fewer bits, e is an eighth of the proven unit
/// `unwritten` is left to scan().
check_result compare(gemm_problem const& p, gemm_operands const& o, stopwatch& watch,
                     bool baseline = false);
/// e of the text above.
double step_unit_of(gemm_problem const& p);

}  // namespace tw::bench
