// SPDX-License-Identifier: Apache-2.0
// verify_fused.cu  Sums of the sampled rows and columns to the host, which applies the formula.
#include "tools/measure/gpu/verify_fused.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tools/check/check_scales.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/check.hpp"
#include "tools/measure/gpu/sampled_lines.hpp"
#include "tools/measure/gpu/sums.cuh"
#include "tools/measure/gpu/verify.hpp"

namespace tw::bench {
namespace {

struct sums_params {
  operand a, b;
  std::int64_t k;
  line_set rows, columns;  // columns before a gate
  exact_sums* out;         // [row][column]
};

__global__ void sum_tiles(sums_params const p) {
  tile_origin const first = origin_of(p.columns);
  exact_sums const sums = sums_of(p.a, p.b, p.k, p.rows, p.columns, first);
  std::int64_t const i = first.row + threadIdx.y, j = first.column + threadIdx.x;
  if (i < p.rows.count && j < p.columns.count) p.out[i * p.columns.count + j] = sums;
}

template <class T>
std::vector<T> to_host(void const* from, std::size_t count) {
  std::vector<T> host(count);
  check(cudaMemcpy(host.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy to host");
  return host;
}

/// The vectors, the scales, C and D on the host: what reference_vectors and scale_check read.
struct host_copy {
  role_table<std::vector<char>> memory;
  gemm_operands operands;

  host_copy(gemm_problem const& p, gemm_operands const& o) {
    for (operand_desc const& x : tw::operands_of(p)) {
      if (x.is == role::a || x.is == role::b || x.is == role::aux) continue;
      memory[x.is] = to_host<char>(address(o, x.is), static_cast<std::size_t>(x.bytes()));
      set_address(operands, x.is, memory[x.is].data());
    }
  }
};

/// The terms of the bound for plain magnitudes, which the device adds.
fused_terms terms_of(gemm_problem const& p) {
  fused_terms t = make_fused_terms(p);
  t.out.sum_floor += subnormal_floor(p);
  return t;
}

/// The largest shares of the bounds over some rows and columns of D.
class comparison {
 public:
  comparison(gemm_problem const& p, gemm_operands const& o, bool baseline)
      : p_(p),
        o_(o),
        host_(p, o),
        baseline_(baseline),
        terms_(terms_of(p)) {}

  /// `all_columns`: `columns` are all of D, so that the computed scales of its rows are compared
  /// too.
  void look(std::vector<int> const& rows, std::vector<int> const& columns, bool all_columns,
            stopwatch& watch) {
    std::vector<int> product;  // its columns: for each of D one, or gate and up
    for (int const c : columns) {
      product_columns const j = columns_of(p_, c);
      product.push_back(static_cast<int>(j.x));
      if (j.up >= 0) product.push_back(static_cast<int>(j.up));
    }
    auto const sums = sum(rows, product, watch);
    std::size_t const step = product.size() / columns.size();
    std::optional<scale_check> scales;
    if (all_columns && p_.scale_d && !p_.scale_d->given) scales.emplace(p_, indices_of(rows));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j) {
        exact_sums const* const at = &sums[i * product.size() + j * step];
        exact_fused const x = exact_of(rows[i], columns[j], at, step == 2);
        double const slack = slack_of(x, step == 2);
        compare(rows[i], columns[j], x, slack, at, step == 2);
        if (scales) scales->add(i, columns[j], x, slack);
      }
    if (scales) scales->judge(host_.operands, scales_);
  }

  check_result result() const {
    check_result r = result_;
    r.relative_rms = std::sqrt(squared_error_ / squared_reference_);
    r.scales = scales_.scales, r.wrong_scales = scales_.wrong_scales;
    r.passed = r.error_over_bound <= 1 && r.error_over_expected <= 1 && r.wrong_scales == 0;
    return r;
  }

 private:
  std::vector<exact_sums> sum(std::vector<int> const& rows, std::vector<int> const& columns,
                              stopwatch& watch) const {
    auto const list = [](std::vector<int> const& from) {
      device_buffer copy(from.size() * sizeof(int));
      check(cudaMemcpy(copy.data(), from.data(), copy.bytes(), cudaMemcpyHostToDevice), "a list");
      return copy;
    };
    auto const lines = [](device_buffer const& b, std::vector<int> const& from) {
      return line_set{reinterpret_cast<int const*>(b.data()),
                      static_cast<std::int64_t>(from.size())};
    };
    device_buffer const row_list = list(rows), column_list = list(columns);
    device_buffer const out(rows.size() * columns.size() * sizeof(exact_sums));
    bool const scaled = scales_in_main_loop(p_);
    auto const [a, b] = scaled ? scaled_operands_of(p_, o_)
                               : scaled_pair{operand_of(o_.a, p_.a), operand_of(o_.b, p_.b)};
    sums_params const params{a,
                             b,
                             p_.k,
                             lines(row_list, rows),
                             lines(column_list, columns),
                             reinterpret_cast<exact_sums*>(out.data())};
    sum_tiles<<<tiles_of(params.rows, params.columns), dim3(tile, tile), 0, watch.stream()>>>(
        params);
    check(cudaGetLastError(), "launch of the reference");
    watch.wait();
    return to_host<exact_sums>(out.data(), rows.size() * columns.size());
  }

  static std::vector<std::int64_t> indices_of(std::vector<int> const& lines) {
    return {lines.begin(), lines.end()};
  }

  exact_fused exact_of(std::int64_t row, std::int64_t col, exact_sums const* sums,
                       bool gated) const {
    exact_fused x = reference_vectors(p_, host_.operands, row, col);
    x.x.s = sums[0].sum, x.x.t = sums[0].magnitudes;
    x.x.second_level = x.up.second_level = 1;  // the sums have it
    if (gated) x.up.s = sums[1].sum, x.up.t = sums[1].magnitudes;
    if (scales_in_main_loop(p_)) x.x.largest_scale = x.up.largest_scale = largest_scales;
    return x;
  }

  /// By how much more than ours a baseline's result may err, before the scale of D.
  double slack_of(exact_fused const& x, bool gated) const {
    if (!baseline_) return 0;
    auto const linear = [&](exact_linear const& l) {
      return terms_.out.alpha * l.s * l.row_scale * l.col_scale + l.bias;
    };
    double const times = gated ? linear(x.up) : 1;
    return 0x1p-7 * std::fabs((linear(x.x) + terms_.out.beta * x.c) * times);
  }

  void compare(std::int64_t row, std::int64_t col, exact_fused x, double slack_of_result,
               exact_sums const* sums, bool gated) {
    // Of a D with scales the bounds are those of its codes, and the slack may reach codes that are
    // twice as far apart.
    double const slack = p_.scale_d ? 1.125 * slack_of_result / x.scale_d : slack_of_result;
    expected_element const proven = expect_fused(x, terms_);
    // Zero-mean data: the sum errs by 8 e sigma (verify.hpp), which is sum_unit times this t.
    double const e = step_unit_of(p_);
    x.x.t = 8 * e * std::sqrt(sums[0].squares) / terms_.out.sum_unit;
    if (gated) x.up.t = 8 * e * std::sqrt(sums[1].squares) / terms_.out.sum_unit;
    expected_element const likely = expect_fused(x, terms_);
    double const got = load_element(p_.d, host_.operands.d, row, col);
    bool const numbers = std::isfinite(got) && std::isfinite(proven.value);
    double const error = numbers ? std::fabs(got - proven.value) : HUGE_VAL;
    auto const raise = [](double& most, double to) { most = std::max(most, to); };
    raise(result_.largest_error, error);
    raise(result_.error_over_bound, error / (proven.bound + slack));
    raise(result_.error_over_expected, error / (likely.bound + slack));
    squared_error_ += error * error;
    squared_reference_ += proven.value * proven.value;
    ++result_.compared;
  }

  gemm_problem const p_;
  gemm_operands const o_;
  host_copy const host_;
  bool const baseline_;
  fused_terms const terms_;
  check_result result_;
  check_report scales_;  // of D
  double squared_error_ = 0, squared_reference_ = 0;
};

std::vector<int> all_lines(std::int64_t count) {
  std::vector<int> lines;
  for (std::int64_t i = 0; i < count; ++i) lines.push_back(static_cast<int>(i));
  return lines;
}

}  // namespace

check_result compare_fused(gemm_problem const& p, gemm_operands const& o, stopwatch& watch,
                           bool baseline) {
  watch.wait();
  comparison c(p, o, baseline);
  std::vector<int> const rows = all_lines(p.m), columns = all_lines(result_cols(p.epilogue, p.n));
  bool const whole = is_compared_whole(p);
  if (whole) {
    c.look(rows, columns, true, watch);
  } else {
    c.look(spread_lines(p.m), columns, true, watch);
    c.look(rows, spread_lines(static_cast<std::int64_t>(columns.size())), false, watch);
  }
  check_result r = c.result();
  r.whole = whole;
  return r;
}

}  // namespace tw::bench
