// SPDX-License-Identifier: Apache-2.0
// bench_parts.cu  The benchmark's own parts on a GPU: data, reference, scan, clock. Its sources
// are compiled into this program, since the library does not hold them.
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/gpu/buffer.hpp"
#include "bench/gpu/data.cu"
#include "bench/gpu/graph_contender.cu"
#include "bench/gpu/stopwatch.cu"
#include "bench/gpu/verify.cu"

namespace tw::bench {
namespace {

int failures = 0;

void expect(bool holds, char const* what) {
  std::printf("%s  %s\n", holds ? "ok  " : "FAIL", what);
  failures += holds ? 0 : 1;
}

float float_of(std::uint16_t bits) {
  std::uint32_t const wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::copy_n(reinterpret_cast<char const*>(&wide), 4, reinterpret_cast<char*>(&value));
  return value;
}
std::uint16_t bf16_of(float value) {  // to nearest even; no NaN comes here
  std::uint32_t bits;
  std::copy_n(reinterpret_cast<char const*>(&value), 4, reinterpret_cast<char*>(&bits));
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::vector<std::uint16_t> download(device_buffer const& from) {
  std::vector<std::uint16_t> to(from.bytes() / 2);
  check(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "download");
  return to;
}
void upload(device_buffer const& to, std::vector<std::uint16_t> const& from) {
  check(cudaMemcpy(to.data(), from.data(), to.bytes(), cudaMemcpyHostToDevice), "upload");
  check(cudaDeviceSynchronize(), "upload");
}

void test_data(stopwatch& watch) {
  std::int64_t const count = 1 << 22;
  device_buffer const data(static_cast<std::size_t>(count) * 2);
  for (data_kind const kind : {data_kind::normal, data_kind::uniform}) {
    fill(data.data(), count, elem::bf16, kind, 1, watch.stream());
    watch.wait();
    double sum = 0, squares = 0, neighbours = 0, largest = 0, before = 0;
    for (std::uint16_t const bits : download(data)) {
      double const x = float_of(bits);
      sum += x;
      squares += x * x;
      neighbours += x * before;
      largest = std::max(largest, std::fabs(x));
      before = x;
    }
    double const n = static_cast<double>(count),
                 variance = kind == data_kind::normal ? 1.0 : 1.0 / 3;
    expect(std::fabs(sum / n) < 5e-3, "mean 0");
    expect(std::fabs(squares / n - variance) < 5e-3, "variance");
    expect(std::fabs(neighbours / n) < 5e-3, "neighbours are independent");
    expect(kind == data_kind::normal ? largest > 4 && largest < 7 : largest == 1, "range");
  }
}

/// The result of random operands by the host, then with one element changed.
void test_reference(stopwatch& watch, order a_order, order b_order) {
  gemm_problem p;
  p.m = 75;
  p.n = 93;
  p.k = 301;
  p.a = {elem::bf16, a_order, a_order == order::row_major ? p.k : p.m};
  p.b = {elem::bf16, b_order, b_order == order::row_major ? p.n : p.k};
  p.d = {elem::bf16, order::row_major, p.n};
  device_buffer const a(2 * 76 * 301), b(2 * 94 * 301), d(2 * 75 * 93 + 2);
  fill(a.data(), 76 * 301, elem::bf16, data_kind::normal, 3, watch.stream());
  fill(b.data(), 94 * 301, elem::bf16, data_kind::normal, 4, watch.stream());
  watch.wait();
  auto const host_a = download(a), host_b = download(b);
  std::vector<std::uint16_t> good(d.bytes() / 2);
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += float_of(host_a[a_order == order::row_major ? i * p.k + k : k * p.m + i]) *
               float_of(host_b[b_order == order::row_major ? k * p.n + j : j * p.k + k]);
      good[i * p.n + j] = bf16_of(sum);
    }
  gemm_operands o;
  o.a = a.data();
  o.b = b.data();
  o.d = d.data();
  result_sets const sets = {d.data(), d.bytes(), 1};

  upload(d, good);
  check_result const right = compare(p, o, watch);
  result_scan const clean = scan(p, sets, watch);
  expect(right.passed && right.whole && right.compared == p.m * p.n, "a right result passes");
  expect(right.error_over_bound > 0.01 && right.relative_rms < 0.003, "its errors are roundings");
  expect(clean.nans == 0, "nothing is unwritten");

  // Bent by several last bits, where the value is large enough for that to be a wrong result.
  auto bent = good;
  for (std::uint16_t& bits : bent)
    if (std::fabs(float_of(bits)) > 16) {
      bits ^= 0x10;
      break;
    }
  upload(d, bent);
  expect(!compare(p, o, watch).passed, "one bent element does not pass");
  expect(scan(p, sets, watch).digest != clean.digest, "and changes the digest");

  auto holed = good;
  holed[static_cast<std::size_t>(p.m * p.n - 1)] = 0xFFFF;
  upload(d, holed);
  expect(!compare(p, o, watch).passed, "one NaN does not pass");
  expect(scan(p, sets, watch).nans == 1, "and is counted");
}

/// A launch of known length: a graph of waits must take their time, at a plausible clock.
void test_clock(stopwatch& watch) {
  graph_contender waits(
      watch, 2, [](int, cudaStream_t stream) { hold<<<1, 1, 0, stream>>>(200000); }, 0.01);
  sample const burst = waits.burst(), window = waits.sustained(0.02, 0.05);
  std::printf("      wait of 200 us: burst %.2f us, sustained %.2f us, %d launches, SM %.0f MHz\n",
              burst.us, window.us, window.launches, window.sm_mhz);
  expect(burst.us > 198 && burst.us < 212 && window.us > 198 && window.us < 212, "time of a wait");
  expect(window.us * window.launches > 0.049e6, "a window has the requested length");
  expect(window.sm_mhz > 200 && window.sm_mhz < 2500, "SM clock");
}

int run() {
  int count = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 77;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9) return 77;
  stopwatch watch(properties.multiProcessorCount, nullptr);
  test_data(watch);
  for (order const a_order : {order::row_major, order::col_major})
    for (order const b_order : {order::row_major, order::col_major})
      test_reference(watch, a_order, b_order);
  test_clock(watch);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tw::bench

int main() {
  try {
    return tw::bench::run();
  } catch (std::exception const& e) {
    std::printf("FAIL  %s\n", e.what());
    return 1;
  }
}
