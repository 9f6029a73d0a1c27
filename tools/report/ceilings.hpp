// SPDX-License-Identifier: Apache-2.0
// ceilings.hpp  How near a time comes to the most that a device can do.
#pragma once

#include <algorithm>

#include "tilewright/device/device.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// A time as rates, and as shares of the ceilings. Bytes: each operand and C read once, D written
/// once, with the matrices of all groups.
struct rates {
  double tflops = 0, gb_per_s = 0;
  double of_wgmma = 0, of_dram = 0;

  /// The larger share: that of the peak which limits the problem.
  double of_ceiling() const { return std::max(of_wgmma, of_dram); }
};

/// TFLOP/s of wgmma alone with the operands' types.
inline double wgmma_ceiling_of(gemm_problem const& p, device const& dev) {
  type_rates const& r = dev.model->types;
  elem const type = p.a.type;
  double const share = is_fp8(type)             ? r.fp8
                       : is_8_bit_integer(type) ? r.int8
                       : size_bits(type) == 32  ? r.tf32
                       : p.precision.f16_sums   ? r.f16_sums
                                                : 1;
  return dev.wgmma_ceiling_tflops * 16 / size_bits(type) * share;
}

inline rates rates_of(gemm_problem const& p, double us, device const& dev) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  auto const d_cols = static_cast<double>(result_cols(p.epilogue, p.n));
  auto const batch = static_cast<double>(p.batch);
  auto const matrices = [&](matrix_desc const& x, std::int64_t each) {
    return x.batch_stride_elems == 0 ? 1 : static_cast<double>(each);
  };
  auto const size = [&](role x) {  // of an element of A or B in memory, bytes
    weight_format const& f = weights(p, x);
    return f ? 1.0 * f.block_bytes() / (weight_block * f.block_k())
             : 1.0 * size_bytes(matrix_of(p, x)->type);
  };
  auto const of_result = [&](matrix_desc const& x) {
    return m * d_cols * size_bytes(x.type) * matrices(x, p.d_matrices());
  };
  double const bytes = m * k * size(role::a) * matrices(p.a, p.a_matrices()) +
                       k * n * size(role::b) * matrices(p.b, p.b_matrices()) + of_result(p.d) +
                       (p.c && p.beta != 0 ? of_result(*p.c) : 0);
  rates r;
  r.tflops = 2 * m * n * k * batch / us * 1e-6;
  r.gb_per_s = bytes / us * 1e-3;
  r.of_wgmma = r.tflops / wgmma_ceiling_of(p, dev);
  r.of_dram = r.gb_per_s / dev.dram_ceiling_gb_per_s;
  return r;
}

}  // namespace tw
