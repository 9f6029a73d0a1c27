// SPDX-License-Identifier: Apache-2.0
// bench_parts.cu  The benchmark's own parts on a GPU: data, reference, scan, clock.
#include <cmath>
#include <cstdio>
#include <vector>

#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/data.hpp"
#include "tools/measure/gpu/graph_contender.hpp"
#include "tools/measure/gpu/stopwatch.hpp"
#include "tools/measure/gpu/verify.hpp"

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

std::vector<char> bytes_of(device_buffer const& from) {
  std::vector<char> to(from.bytes());
  check(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "download");
  return to;
}
void put(device_buffer const& to, void const* from) {
  check(cudaMemcpy(to.data(), from, to.bytes(), cudaMemcpyHostToDevice), "upload");
  check(cudaDeviceSynchronize(), "upload");
}

/// D of the three loops in float32, row-major. Pointers of `o` are host pointers.
std::vector<float> exact_result(gemm_problem const& p, gemm_operands const& o) {
  std::vector<float> d;
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      exact_sum const x = reference_element(p, o, i, j);
      d.push_back(static_cast<float>(p.alpha * x.s * x.second_level));
    }
  return d;
}

/// D in e4m3 with scales of 128 columns of a row, from the exact result; then with one code and
/// with one scale changed.
void test_scaled_result(stopwatch& watch) {
  gemm_problem p;
  p.m = 70, p.n = 300, p.k = 256;
  p.a = {elem::e4m3, order::row_major, p.k};
  p.b = {elem::e4m3, order::col_major, p.k};
  p.d = {elem::e4m3, order::row_major, p.n};
  p.scale_d.emplace().desc =
      make_scale({false, p.m, p.n}, scaling::block_1x128, scale_library::torch);
  device_buffer const a(70 * 256), b(300 * 256), d(70 * 300);
  device_buffer const scales(static_cast<std::size_t>(scale_extent(p.scale_d->desc, p.m, p.n)) *
                             sizeof(float));
  fill(a.data(), 70 * 256, elem::e4m3, data_kind::normal, 5, watch.stream());
  fill(b.data(), 300 * 256, elem::e4m3, data_kind::normal, 6, watch.stream());
  watch.wait();
  std::vector<char> const host_a = bytes_of(a), host_b = bytes_of(b);
  gemm_problem wide = p;
  wide.d.type = elem::f32, wide.scale_d.reset();
  std::vector<float> const exact = exact_result(wide, {host_a.data(), host_b.data()});
  std::vector<char> codes(d.bytes()), written(scales.bytes());
  quantize({p.m, p.n, wide.d, p.d, p.scale_d->desc}, exact.data(), codes.data(), written.data());
  gemm_operands o;
  o.a = a.data(), o.b = b.data(), o.d = d.data(), o.scale_d = scales.data();
  put(d, codes.data()), put(scales, written.data());
  check_result const right = compare(p, o, watch);
  expect(right.passed && right.whole && right.compared == p.m * p.n, "a right scaled D passes");
  expect(right.scales == p.m * 3 && right.wrong_scales == 0, "all its scales are compared");

  std::vector<char> bent = codes;
  for (char& code : bent)
    if ((code & 0x7F) > 0x60 && (code & 0x7F) < 0x70) {
      code = static_cast<char>(code + 8);  // twice as large
      break;
    }
  put(d, bent.data());
  expect(!compare(p, o, watch).passed, "one bent code does not pass");
  put(d, codes.data());
  auto scaled = written;
  float last;
  std::copy_n(scaled.data() + scaled.size() - 4, 4, reinterpret_cast<char*>(&last));
  last *= 1.25F;
  std::copy_n(reinterpret_cast<char const*>(&last), 4, scaled.data() + scaled.size() - 4);
  put(scales, scaled.data());
  check_result const wrong = compare(p, o, watch);
  expect(!wrong.passed && wrong.wrong_scales == 1, "one wrong scale does not pass");
  std::vector<char> const none(scales.bytes(), static_cast<char>(0xFF));
  put(scales, none.data());
  expect(!compare(p, o, watch).passed, "scales that were not written do not pass");
}

/// Block-scaled operands against the exact result; then with one element changed.
void test_block_scaled_operands(stopwatch& watch, block_format format) {
  gemm_problem p;
  p.m = 70, p.n = 90, p.k = 224;
  elem const type = traits_of(format).value;
  p.a = {type, order::row_major, p.k};
  p.b = {type, order::col_major, p.k};
  p.d = {elem::f32, order::row_major, p.n};
  p.scale_a = make_block_scale({false, p.m, p.k}, format);
  p.scale_b = make_block_scale({true, p.n, p.k}, format);
  auto const elements = [&](std::int64_t rows) {
    return device_buffer(static_cast<std::size_t>(rows * p.k * size_bits(type) / 8));
  };
  auto const factors = [&](scale_desc const& s, std::int64_t rows) {
    return device_buffer(static_cast<std::size_t>(scale_extent(s, rows, p.k)));
  };
  device_buffer const a = elements(p.m), b = elements(p.n),
                      d(static_cast<std::size_t>(p.m * p.n * 4));
  device_buffer const sa = factors(*p.scale_a, p.m), sb = factors(*p.scale_b, p.n), second(4);
  fill(a.data(), p.m * p.k, type, data_kind::normal, 7, watch.stream());
  fill(b.data(), p.n * p.k, type, data_kind::normal, 8, watch.stream());
  fill_scales(sa.data(), static_cast<std::int64_t>(sa.bytes()), p.scale_a->type, 9, watch.stream());
  fill_scales(sb.data(), static_cast<std::int64_t>(sb.bytes()), p.scale_b->type, 10,
              watch.stream());
  watch.wait();
  float const level = 0.5F;
  put(second, &level);
  std::vector<char> const host_a = bytes_of(a), host_b = bytes_of(b), host_sa = bytes_of(sa),
                          host_sb = bytes_of(sb);
  gemm_operands host{host_a.data(), host_b.data()};
  host.scale_a = host_sa.data(), host.scale_b = host_sb.data();
  host.second_level_a = host.second_level_b = &level;
  std::vector<float> exact = exact_result(p, host);
  gemm_operands o;
  o.a = a.data(), o.b = b.data(), o.d = d.data(), o.scale_a = sa.data(), o.scale_b = sb.data();
  o.second_level_a = o.second_level_b = reinterpret_cast<float const*>(second.data());
  put(d, exact.data());
  check_result const right = compare(p, o, watch);
  std::printf("      %s: largest share of the bound %.4f\n", traits_of(format).name,
              right.error_over_bound);
  expect(right.passed && right.whole && right.relative_rms < 1e-6, "a block-scaled GEMM passes");
  exact[static_cast<std::size_t>(p.m * p.n - 1)] += 0.125F;
  put(d, exact.data());
  expect(!compare(p, o, watch).passed, "one bent element does not pass");
}

/// Runs for 200 us.
__global__ void wait_200_us() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 200000);
}

/// A launch of known length: a graph of waits must take their time, at a plausible clock.
void test_clock(stopwatch& watch) {
  graph_contender waits(
      watch, 2, [](int, cudaStream_t stream) { wait_200_us<<<1, 1, 0, stream>>>(); }, 0.01);
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
  test_scaled_result(watch);
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
    test_block_scaled_operands(watch, f);
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
