// SPDX-License-Identifier: Apache-2.0
// float_environment_test.cpp  Results do not depend on the rounding mode of the caller's thread and
//                             its flushing of subnormal numbers; both stay as they are.
#include "base/float_environment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "tests/c/tensors.hpp"

#if defined(__x86_64__)
namespace tw_c_test {
namespace {

using tw::elem;

/// Subnormal numbers are zero, results of them too; sums are rounded down. As XLA's threads, but
/// for the rounding.
constexpr unsigned flushing = 0x8040, down = 0x2000;

/// f() in a thread state that flushes and rounds down, which must be as before after it.
template <class F>
void flushed(F const& f) {
  unsigned const before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000U) | flushing | down);
  f();
  unsigned const after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & (flushing | 0x6000U), flushing | down);
}

std::string bytes_of(tensor& x) {
  std::string all;
  x.each([&](std::int64_t z, std::int64_t i, std::int64_t j) {
    all.append(static_cast<char const*>(x.address(x.at(z, i, j))),
               static_cast<std::size_t>(x.bytes()));
  });
  return all;
}

TEST(CFloatEnvironment, SubnormalOperandsAreMultiplied) {
  tensor a(elem::bf16, {4, 64}), b(elem::bf16, {64, 8}), d(elem::f32, {4, 8});
  a.fill([] { return std::ldexp(1.0F, -130); });
  b.fill([] { return std::ldexp(1.0F, 20); });
  flushed([&] {
    tw_gemm_args const g = args_of(a, b, d);
    EXPECT_EQ(refusal(tw_gemm(&g)), "");
  });
  EXPECT_EQ(d.get(5), 64 * std::ldexp(1.0, -110));
}

TEST(CFloatEnvironment, WeightsOf4BitsAreDecoded) {
  constexpr std::int64_t n = 64, k = 128;
  std::mt19937_64 rng(3);
  tensor values(elem::u8, {n, k / 2}), scales(elem::u8, {n, k / 32});
  tensor a(elem::bf16, {8, k}), d(elem::bf16, {8, n}), flushed_d(elem::bf16, {8, n});
  values.fill([&] { return static_cast<float>(rng() % 256); });
  scales.fill([&] { return static_cast<float>(120 + rng() % 8); });
  a.fill([&] { return static_cast<float>(rng() % 64) / 16; });
  auto const multiply = [&](tensor& to) {
    tw_weights_args prepare{};
    prepare.size = sizeof prepare;
    prepare.values = values.dl(), prepare.scales = scales.dl();
    tw_weights* weights = nullptr;
    ASSERT_EQ(refusal(tw_weights_make(&prepare, &weights)), "");
    tensor b(elem::u8, {1, tw_weights_bytes(weights)});
    std::memcpy(b.address(0), tw_weights_data(weights),
                static_cast<std::size_t>(tw_weights_bytes(weights)));
    b.shape() = {tw_weights_bytes(weights)};
    tw_gemm_args g = args_of(a, b, to);
    g.weights_b = tw_weights_data(weights);
    EXPECT_EQ(refusal(tw_gemm(&g)), "");
    tw_weights_free(weights);
  };
  multiply(d);
  flushed([&] { multiply(flushed_d); });
  EXPECT_EQ(bytes_of(flushed_d), bytes_of(d));
  EXPECT_NE(d.get(3), 0.0);
}

TEST(CFloatEnvironment, Quantised) {
  tensor x(elem::f32, {4, 64}), q(elem::e4m3, {4, 64}), scale(elem::f32, {4, 1});
  tensor flushed_q(elem::e4m3, {4, 64}), flushed_scale(elem::f32, {4, 1});
  float next = 1;
  x.fill([&] { return next *= 0.9F; });
  auto const quantise = [&](tensor& to, tensor& s) {
    tw_quantize_args g{};
    g.size = sizeof g;
    g.x = x.dl(), g.d = to.dl(), g.scale_d = s.dl(), g.to = "e4m3", g.scaling = "row";
    EXPECT_EQ(refusal(tw_quantize(&g)), "");
  };
  quantise(q, scale);
  flushed([&] { quantise(flushed_q, flushed_scale); });
  EXPECT_EQ(bytes_of(flushed_q), bytes_of(q));
  EXPECT_EQ(bytes_of(flushed_scale), bytes_of(scale));
}

}  // namespace
}  // namespace tw_c_test
#endif
