// SPDX-License-Identifier: Apache-2.0
// moe_gemms.hpp  The two grouped GEMMs of a layer of experts in bf16, for tests.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/problem/gemm.hpp"

namespace tw::test {

/// Hidden (pairs, inner) = silu(X Gate^T) * (X Up^T); each of the experts' weights is
/// (2 * inner, model), gates first.
inline gemm_problem gate_up_gemm(std::int64_t pairs, std::int64_t model, std::int64_t inner,
                                 std::int64_t experts) {
  using enum order;
  gemm_problem p{pairs,
                 2 * inner,
                 model,
                 {elem::bf16, row_major, model},
                 {elem::bf16, col_major, model, 2 * inner * model},
                 {elem::bf16, row_major, inner},
                 std::nullopt};
  p.epilogue.gate = gating::split, p.epilogue.act = activation::silu;
  p.groups = group_desc{.count = experts};
  return p;
}

/// Out (pairs, model) = Hidden Down^T; each of the experts' weights is (model, inner).
inline gemm_problem down_gemm(std::int64_t pairs, std::int64_t model, std::int64_t inner,
                              std::int64_t experts) {
  using enum order;
  gemm_problem p{pairs,
                 model,
                 inner,
                 {elem::bf16, row_major, inner},
                 {elem::bf16, col_major, inner, model * inner},
                 {elem::bf16, row_major, model},
                 std::nullopt};
  p.groups = group_desc{.count = experts};
  return p;
}

}  // namespace tw::test
