// SPDX-License-Identifier: Apache-2.0
// verify.cu  A simple reference in float64, over sampled rows and columns.
#include "tools/measure/gpu/verify.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/operand.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/check.hpp"
#include "tools/measure/gpu/sampled_lines.hpp"
#include "tools/measure/gpu/sums.cuh"
#include "tools/measure/gpu/verify_fused.hpp"

namespace tw::bench {
namespace {

struct scan_tally {
  unsigned long long nans, digest;
};

__device__ unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDULL;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ULL;
  return x ^ (x >> 33);
}

__global__ void scan_results(char const* base, std::size_t stride_bytes, std::int64_t count,
                             elem type, scan_tally* tally) {
  char const* const d = base + blockIdx.y * stride_bytes;
  unsigned long long const place = blockIdx.y * static_cast<unsigned long long>(count);
  unsigned long long nans = 0, digest = 0;
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    float const value = load(d, i, type);
    nans += isnan(value) ? 1 : 0;
    digest += mix((place + static_cast<unsigned long long>(i)) * 0x9E3779B97F4A7C15ULL ^
                  __float_as_uint(value));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    nans += __shfl_down_sync(0xFFFFFFFFU, nans, offset);
    digest += __shfl_down_sync(0xFFFFFFFFU, digest, offset);
  }
  if (threadIdx.x % 32 != 0) return;
  if (nans != 0) atomicAdd(&tally->nans, nans);
  atomicAdd(&tally->digest, digest);
}

struct compare_tally {
  unsigned long long largest_error, over_bound, over_expected;  // bits of doubles that are >= 0
  double squared_error, squared_reference;
};

struct compare_params {
  operand a, b, d;
  std::int64_t k;
  line_set rows, columns;
  bound_terms terms;
  double step_unit;  // e of verify.hpp
  compare_tally* tally;
};

/// The bound of problem/error_bound.hpp for alpha = 1 and beta = 0, given the error of the sum.
__device__ double element_bound(double sum_error, double sum, bound_terms const& t) {
  double const before_rounding =
      sum_error + (0x1p-23 + 0x1p-48) * (fabs(sum) + sum_error) + 0x1p-124;
  return before_rounding + t.out_unit * (fabs(sum) + before_rounding) + t.out_floor;
}

__device__ double block_maximum(double value, double* scratch) {
  int const t = static_cast<int>(threadIdx.y) * tile + static_cast<int>(threadIdx.x);
  scratch[t] = value;
  for (int half = tile * tile / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) scratch[t] = fmax(scratch[t], scratch[t + half]);
  }
  __syncthreads();
  double const result = scratch[0];
  __syncthreads();
  return result;
}

__device__ double block_sum(double value, double* scratch) {
  int const t = static_cast<int>(threadIdx.y) * tile + static_cast<int>(threadIdx.x);
  scratch[t] = value;
  for (int half = tile * tile / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) scratch[t] += scratch[t + half];
  }
  __syncthreads();
  double const result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void compare_tiles(compare_params const p) {
  __shared__ double scratch[tile * tile];
  int const x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  auto const [first_row, first_column] = origin_of(p.columns);
  auto const [sum, magnitudes, squares] =
      sums_of(p.a, p.b, p.k, p.rows, p.columns, {first_row, first_column});

  std::int64_t const row = p.rows.at(first_row + y), column = p.columns.at(first_column + x);
  double error = 0, bound = 1, expected = 1, reference = 0;
  if (row >= 0 && column >= 0) {
    double const got = load(p.d.base, row * p.d.row_step + column * p.d.column_step, p.d.type);
    reference = p.terms.out_most > 0 ? fmax(-p.terms.out_most, fmin(sum, p.terms.out_most)) : sum;
    error = isnan(got) ? static_cast<double>(INFINITY) : fabs(got - reference);
    bound = element_bound(p.terms.sum_unit * magnitudes + p.terms.sum_floor, sum, p.terms);
    expected = element_bound(8 * p.step_unit * sqrt(squares) + p.terms.sum_floor, sum, p.terms);
  }
  double const largest = block_maximum(error, scratch);
  double const over_bound = block_maximum(error / bound, scratch);
  double const over_expected = block_maximum(error / expected, scratch);
  double const squared_error = block_sum(error * error, scratch);
  double const squared_reference = block_sum(reference * reference, scratch);
  if (x != 0 || y != 0) return;
  atomicMax(&p.tally->largest_error,
            static_cast<unsigned long long>(__double_as_longlong(largest)));
  atomicMax(&p.tally->over_bound,
            static_cast<unsigned long long>(__double_as_longlong(over_bound)));
  atomicMax(&p.tally->over_expected,
            static_cast<unsigned long long>(__double_as_longlong(over_expected)));
  atomicAdd(&p.tally->squared_error, squared_error);
  atomicAdd(&p.tally->squared_reference, squared_reference);
}

double as_double(unsigned long long bits) {
  double value;
  static_assert(sizeof value == sizeof bits);
  std::copy_n(reinterpret_cast<char const*>(&bits), sizeof bits, reinterpret_cast<char*>(&value));
  return value;
}

template <class T>
T fetch(device_buffer const& from) {
  T value{};
  check(cudaMemcpy(&value, from.data(), sizeof value, cudaMemcpyDeviceToHost), "copy of a tally");
  return value;
}

void run_tiles(compare_params const& p, stopwatch& watch) {
  compare_tiles<<<tiles_of(p.rows, p.columns), dim3(tile, tile), 0, watch.stream()>>>(p);
  check(cudaGetLastError(), "launch of the reference");
  watch.wait();
}

device_buffer upload(std::vector<int> const& list, cudaStream_t stream) {
  device_buffer copy(list.size() * sizeof(int));
  check(cudaMemcpyAsync(copy.data(), list.data(), copy.bytes(), cudaMemcpyHostToDevice, stream),
        "copy of a list");
  return copy;
}

}  // namespace

double step_unit_of(gemm_problem const& p) {
  bool const coarse = (is_fp8(p.a.type) && !is_block_scaled(p)) || may_sum_in_f16(p);
  if (coarse) return make_bound_terms(p).sum_unit / 8;
  return (static_cast<double>(p.k) * 17 / 16 + 2) * 0x1p-23;
}

result_scan scan(gemm_problem const& p, result_sets const& d, stopwatch& watch) {
  device_buffer tally(sizeof(scan_tally));
  check(cudaMemsetAsync(tally.data(), 0, tally.bytes(), watch.stream()), "cudaMemset");
  std::int64_t const count = p.d_matrices() * p.m * result_cols(p.epilogue, p.n);
  auto const blocks = static_cast<unsigned>(std::clamp<std::int64_t>(count / 4096, 1, 1024));
  scan_results<<<dim3(blocks, static_cast<unsigned>(d.sets)), 256, 0, watch.stream()>>>(
      static_cast<char const*>(d.base), d.stride_bytes, count, p.d.type,
      reinterpret_cast<scan_tally*>(tally.data()));
  check(cudaGetLastError(), "launch of the scan");
  watch.wait();
  auto const found = fetch<scan_tally>(tally);
  return {static_cast<std::int64_t>(found.nans), found.digest};
}

namespace {

check_result compare_one(gemm_problem const& p, gemm_operands const& o, stopwatch& watch) {
  device_buffer tally(sizeof(compare_tally));
  check(cudaMemsetAsync(tally.data(), 0, tally.bytes(), watch.stream()), "cudaMemset");
  compare_params params{};
  auto const [a, b] = scaled_operands_of(p, o);
  params.a = a, params.b = b;
  params.d = operand_of(o.d, p.d);
  params.k = p.k;
  params.terms = make_bound_terms(p);
  params.terms.sum_floor += subnormal_floor(p);  // T has plain magnitudes
  if (has_scales(p)) params.terms.sum_floor *= largest_scales;
  params.step_unit = step_unit_of(p);
  params.tally = reinterpret_cast<compare_tally*>(tally.data());

  check_result result;
  result.whole = is_compared_whole(p);
  params.rows = {nullptr, p.m};
  params.columns = {nullptr, p.n};
  if (result.whole) {
    run_tiles(params, watch);
    result.compared = p.m * p.n;
  } else {
    std::vector<int> const rows = spread_lines(p.m), columns = spread_lines(p.n);
    device_buffer const row_list = upload(rows, watch.stream());
    device_buffer const column_list = upload(columns, watch.stream());
    auto by_row = params, by_column = params;
    by_row.rows = {reinterpret_cast<int const*>(row_list.data()),
                   static_cast<std::int64_t>(rows.size())};
    by_column.columns = {reinterpret_cast<int const*>(column_list.data()),
                         static_cast<std::int64_t>(columns.size())};
    run_tiles(by_row, watch);
    run_tiles(by_column, watch);
    result.compared = by_row.rows.count * p.n + p.m * by_column.columns.count;
  }
  auto const found = fetch<compare_tally>(tally);
  result.largest_error = as_double(found.largest_error);
  result.error_over_bound = as_double(found.over_bound);
  result.error_over_expected = as_double(found.over_expected);
  result.relative_rms = std::sqrt(found.squared_error / found.squared_reference);
  result.passed = result.error_over_bound <= 1 && result.error_over_expected <= 1;
  return result;
}

/// The operands of matrix i of a batch.
gemm_operands operands_of(gemm_problem const& p, gemm_operands const& o, std::int64_t i) {
  auto const moved = [i](void const* base, matrix_desc const& m) {
    return static_cast<char const*>(base) + i * m.batch_stride_bytes();
  };
  auto const scales = [i](void const* base, std::optional<scale_desc> const& s) -> void const* {
    return s ? static_cast<char const*>(base) + i * s->batch_stride * size_bytes(s->type) : base;
  };
  gemm_operands one = o;
  one.a = moved(o.a, p.a);
  one.b = moved(o.b, p.b);
  one.d = const_cast<char*>(moved(o.d, p.d));
  for (role const x : a_and_b)
    set_address(one, scales_of(x), scales(address(o, scales_of(x)), scale(p, x)));
  return one;
}

}  // namespace

namespace {

/// The parts of a whole.
class merged {
 public:
  void add(check_result const& r) {
    all_.passed = all_.passed && r.passed;
    all_.whole = all_.whole && r.whole;
    all_.compared += r.compared;
    all_.largest_error = std::max(all_.largest_error, r.largest_error);
    all_.error_over_bound = std::max(all_.error_over_bound, r.error_over_bound);
    all_.error_over_expected = std::max(all_.error_over_expected, r.error_over_expected);
    all_.relative_rms = std::fmax(all_.relative_rms, r.relative_rms);  // NaN of an empty K
    all_.scales += r.scales, all_.wrong_scales += r.wrong_scales;
  }
  check_result result(bool whole) const {
    check_result r = all_;
    r.whole = r.whole && whole;
    return r;
  }

 private:
  check_result all_{.passed = true, .whole = true};
};

/// The first, the last and the largest group, and others up to 16; of groups of K empty ones too.
check_result compare_groups(gemm_problem const& p, gemm_operands const& o, stopwatch& watch,
                            bool baseline) {
  std::vector<std::int32_t> numbers(
      static_cast<std::size_t>(p.groups->numbers(ragged_extent(p)) * p.groups->index_bits / 32));
  check(cudaMemcpy(numbers.data(), o.groups, numbers.size() * sizeof numbers[0],
                   cudaMemcpyDeviceToHost),
        "copy of sizes of groups");
  std::vector<group_range> ranges = ranges_of_groups(p, numbers.data()).of;
  if (p.groups->axis != group_axis::k)
    std::erase_if(ranges, [](group_range const& r) { return r.size == 0; });
  std::vector<int> some = spread_lines(static_cast<std::int64_t>(ranges.size()), 15);
  auto const smaller = [](group_range const& x, group_range const& y) { return x.size < y.size; };
  some.push_back(
      static_cast<int>(std::max_element(ranges.begin(), ranges.end(), smaller) - ranges.begin()));
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  merged all;
  for (int const i : some) {
    group_slice const one = slice_of_group(p, o, ranges[static_cast<std::size_t>(i)]);
    all.add(compare(one.problem, one.operands, watch, baseline));
  }
  return all.result(some.size() == ranges.size());
}

}  // namespace

check_result compare(gemm_problem const& p, gemm_operands const& o, stopwatch& watch,
                     bool baseline) {
  if (p.groups) return compare_groups(p, o, watch, baseline);
  if (is_fused(p.epilogue) || p.c || p.scale_d) return compare_fused(p, o, watch, baseline);
  if (p.batch == 1) return compare_one(p, o, watch);
  double const products = static_cast<double>(p.batch) * static_cast<double>(p.m) *
                          static_cast<double>(p.n) * static_cast<double>(p.k);
  std::int64_t const some = products <= 8.6e9 ? p.batch : std::min<std::int64_t>(p.batch, 16);
  merged all;
  for (std::int64_t i = 0; i < some; ++i) {
    std::int64_t const of = some == 1 ? 0 : i * (p.batch - 1) / (some - 1);
    gemm_problem one = p;
    one.batch = 1;
    all.add(compare_one(one, operands_of(p, o, of), watch));
  }
  return all.result(some == p.batch);
}

}  // namespace tw::bench
