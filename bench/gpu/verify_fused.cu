// SPDX-License-Identifier: Apache-2.0
// verify_fused.cu  Sums of the sampled rows and columns to the host, which applies the formula.
#include "bench/gpu/verify_fused.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/gpu/buffer.hpp"
#include "bench/gpu/check.hpp"
#include "bench/gpu/sampled_lines.hpp"
#include "bench/gpu/sums.cuh"
#include "bench/gpu/verify.hpp"
#include "tilewright/problem/reference.hpp"

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

/// The vectors, C and D on the host: what reference_vectors reads.
struct host_copy {
  std::vector<char> bias, c, d;
  gemm_operands operands;

  host_copy(gemm_problem const& p, gemm_operands const& o) {
    auto const matrix = [&](matrix_desc const& m, void const* base) {
      std::int64_t const cols = result_cols(p.epilogue, p.n);
      std::int64_t const outer = m.ord == order::row_major ? p.m : cols;
      return to_host<char>(base,
                           static_cast<std::size_t>(m.pitch_elems * outer * size_bytes(m.type)));
    };
    d = matrix(p.d, o.d);
    if (p.c) c = matrix(*p.c, o.c);
    if (p.epilogue.bias != along::none) {
      std::int64_t const count = p.epilogue.bias == along::rows ? p.m : p.n;
      bias =
          to_host<char>(o.bias, static_cast<std::size_t>(count * size_bytes(p.epilogue.bias_type)));
    }
    operands.bias = bias.data();
    operands.c = c.data();
    operands.d = d.data();
  }
};

/// The largest shares of the bounds over some rows and columns of D.
class comparison {
 public:
  comparison(gemm_problem const& p, gemm_operands const& o, bool baseline)
      : p_(p),
        o_(o),
        host_(p, o),
        baseline_(baseline),
        terms_(make_fused_terms(p)) {}

  void look(std::vector<int> const& rows, std::vector<int> const& columns, stopwatch& watch) {
    std::vector<int> product;  // its columns: for each of D one, or gate and up
    for (int const c : columns) {
      product_columns const j = columns_of(p_, c);
      product.push_back(static_cast<int>(j.x));
      if (j.up >= 0) product.push_back(static_cast<int>(j.up));
    }
    auto const sums = sum(rows, product, watch);
    std::size_t const step = product.size() / columns.size();
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        compare(rows[i], columns[j], &sums[i * product.size() + j * step], step == 2);
  }

  check_result result() const {
    check_result r = result_;
    r.relative_rms = std::sqrt(squared_error_ / squared_reference_);
    r.passed = r.error_over_bound <= 1 && r.error_over_expected <= 1;
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
    sums_params const params{operand_of(o_.a, p_.a),
                             operand_of(o_.b, p_.b),
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

  void compare(std::int64_t row, std::int64_t col, exact_sums const* sums, bool gated) {
    exact_fused x = reference_vectors(p_, host_.operands, row, col);
    x.x.s = sums[0].sum, x.x.t = sums[0].magnitudes;
    if (gated) x.up.s = sums[1].sum, x.up.t = sums[1].magnitudes;
    double const before = terms_.out.alpha * x.x.s + x.x.bias + terms_.out.beta * x.c;
    double const times = gated ? terms_.out.alpha * x.up.s + x.up.bias : 1;
    double const slack = baseline_ ? 0x1p-7 * std::fabs(before * times) : 0;
    expected_element const proven = expect_fused(x, terms_);
    // Zero-mean data: the sum errs by 8 e sigma (verify.hpp), which is sum_unit times this t.
    double const e = step_unit_of(p_);
    x.x.t = 8 * e * std::sqrt(sums[0].squares) / terms_.out.sum_unit;
    if (gated) x.up.t = 8 * e * std::sqrt(sums[1].squares) / terms_.out.sum_unit;
    expected_element const likely = expect_fused(x, terms_);
    double const got = load_element(p_.d, host_.operands.d, row, col);
    double const error = std::isnan(got) ? HUGE_VAL : std::fabs(got - proven.value);
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
    c.look(rows, columns, watch);
  } else {
    c.look(spread_lines(p.m), columns, watch);
    c.look(rows, spread_lines(static_cast<std::int64_t>(columns.size())), watch);
  }
  check_result r = c.result();
  r.whole = whole;
  return r;
}

}  // namespace tw::bench
