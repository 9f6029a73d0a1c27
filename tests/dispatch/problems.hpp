// SPDX-License-Identifier: Apache-2.0
// problems.hpp  GEMMs to plan: dense, A and B K-major; operands at aligned addresses.
#pragma once

#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {

inline device const& h200() { return known_device("h200"); }
inline device h200(int sms) { return with_sm_count(h200(), sms); }

inline gemm_problem tn(std::int64_t m, std::int64_t n, std::int64_t k, elem d = elem::bf16) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, order::row_major, k};
  p.b = {elem::bf16, order::col_major, k};
  p.d = {d, order::row_major, n};
  return p;
}
/// The plan that ranks first, whether or not this build has its kernel.
inline gemm_plan best_plan(gemm_problem const& p, gemm_operands const& o, device const& dev) {
  return plan_candidates(p, o, dev, kernel_set::all).front();
}
/// A batch of them, its matrices one after another.
inline gemm_problem batch_of(gemm_problem p, std::int64_t batch) {
  p.batch = batch;
  p.a.batch_stride_elems = p.m * p.k;
  p.b.batch_stride_elems = p.n * p.k;
  p.d.batch_stride_elems = p.m * p.n;
  return p;
}
inline gemm_operands aligned() {
  auto* const p = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  return {p, p, p, p};
}
/// With a workspace, and so far from each other that no output lies on an operand.
inline gemm_operands with_workspace(std::int64_t bytes = std::int64_t{64} << 20) {
  auto const place = [](std::uintptr_t tib) { return reinterpret_cast<void*>(tib << 40); };
  return {place(1), place(2), nullptr, place(3), place(4), bytes};
}

}  // namespace tw::test
