// SPDX-License-Identifier: Apache-2.0
// cost.cpp  The model of gemv_calibration.
#include "family/gemv/cost.hpp"

#include <cmath>

#include "family/gemv/config_of.hpp"

namespace tw::gemv_family {

namespace {

/// Not std::hypot: glibc 2.35 has a new version of it, without which programs would not start.
double root_of_squares(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace

predicted_times predict(gemm_problem const& q, gemv_config const& c, int ctas, device const& dev) {
  gemv_calibration const& m = dev.model->gemv;
  auto const groups = static_cast<int>(groups_of(c, q));
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(q.batch);
  };
  auto const rows = static_cast<double>(q.m), cols = static_cast<double>(q.n);
  int const c_bytes = q.c && q.beta != 0 ? size_bytes(q.c->type) : 0;  // of an element
  double const bytes =
      (rows * matrices(q.a) + cols * matrices(q.b)) * static_cast<double>(q.k) * size_bytes(c.ab) +
      rows * cols * static_cast<double>(q.batch) * (size_bytes(c.d) + c_bytes);
  auto const iterations = static_cast<double>(divide_up(q.k / c.piece(), c.iteration_pieces()));
  auto const rounds = static_cast<double>(divide_up(groups, ctas));
  double const turn_mma = size_bytes(c.ab) == 1 ? m.turn_us_mma_8 : m.turn_us_mma;
  double const group = c.by_mma() ? iterations * turn_mma + m.group_us_mma
                                  : iterations * m.turn_us_fma + m.group_us_fma;
  double const iteration_bytes =
      static_cast<double>(c.cta_rows()) * c.iteration_pieces() * c.piece() * size_bytes(c.ab);
  double const sm =
      static_cast<double>(divide_up(groups, dev.sm_count)) * iterations * iteration_bytes;
  predicted_times t;
  t.dram_us = bytes / (q.n > 8       ? m.dram_bytes_per_us_16
                       : q.n > 4     ? m.dram_bytes_per_us_8
                       : c.cols == 1 ? m.dram_bytes_per_us
                                     : m.dram_bytes_per_us_columns);
  t.loads_us = root_of_squares(rounds * group, sm / m.sm_bytes_per_us);
  t.launch_us = m.launch_us;
  t.total_us = t.launch_us + root_of_squares(t.dram_us, t.loads_us);
  return t;
}

}  // namespace tw::gemv_family
