// SPDX-License-Identifier: Apache-2.0
// math_checks.hpp  Approximations within the bounds of the PTX ISA; packed arithmetic against
//                  rounding of the exact result; bytes and bits by their definitions.
#pragma once

#include <cmath>

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/math.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

template <class M>
std::string check_math(M& m) {
  using K = math_kernel;
  constexpr int ctas = 8;
  std::mt19937 random(23);
  std::uniform_real_distribution<float> angle(-6.2F, 6.2F), exponent(-60.0F, 60.0F);
  std::vector<float> x(ctas * K::threads), y(x.size()), zeros(K::words * x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] =
        i % 2 == 0 ? angle(random) : std::copysign(std::exp2(exponent(random) / 30), angle(random));
    y[i] = std::copysign(std::exp2(exponent(random)), angle(random));
  }
  float* const out = upload(m, zeros);
  run<K>(m, ctas, {upload(m, x), upload(m, y), out});
  std::vector<float> const got = download(m, out, zeros.size());
  failures f;
  char const* const name[K::words] = {"rsqrt", "log2", "sin", "cos", "tanh", "divide", "fma"};
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const a = x[i / K::words], b = y[i / K::words], abs = std::fabs(a);
    double right = 0, bound = 0;
    switch (i % K::words) {
      case 0: right = 1 / std::sqrt(abs), bound = std::exp2(-22.9) * right; break;
      case 1:
        right = std::log2(abs);
        bound = abs > 0.5 && abs < 2 ? 0x1p-22 : 0x1p-22 * std::fabs(right);
        break;
      // PTX ISA, "sin" and "cos": 2^-20.5 from -2 pi to 2 pi. An H100 errs by more than that at
      // 4.89824.
      case 2: right = std::sin(a), bound = abs < 6.28 ? 0x1p-19 : 2; break;
      case 3: right = std::cos(a), bound = abs < 6.28 ? 0x1p-19 : 2; break;
      case 4: right = std::tanh(a), bound = 0x1p-11 * std::fabs(right); break;
      case 5: right = a / b, bound = 0x1p-22 * std::fabs(right); break;
      default: right = std::fma(x[i / K::words], y[i / K::words], static_cast<float>(abs));
    }
    if (!(std::fabs(static_cast<double>(got[i]) - right) <= bound))
      f.add(name[i % K::words], text("of ", a, ", ", b, ": got ", got[i], ", want ", right));
  }
  return f.result();
}

template <class T, elem E, class M>
std::string check_packed(M& m) {
  using K = packed_kernel<T>;
  constexpr int ctas = 16;
  constexpr bool bf = E == elem::bf16;
  std::vector<T> in[3], zeros(K::words * ctas * K::threads);
  std::mt19937 random(29);
  for (std::vector<T>& v : in) {
    v.resize(ctas * K::threads);
    // All bit patterns; a third of them moderate, so that sums cancel and round.
    for (T& x : v)
      x.bits = static_cast<std::uint32_t>(random() % 3 == 0 ? (random() & 0x83FF83FFU) | 0x3C003C00U
                                                            : random());
  }
  T* const out = upload(m, zeros);
  run<K>(m, ctas, {upload(m, in[0]), upload(m, in[1]), upload(m, in[2]), out});
  std::vector<T> const got = download(m, out, zeros.size());
  auto const value = [](std::uint32_t bits, int half) {
    auto const h = static_cast<std::uint16_t>(bits >> 16 * half);
    return bf ? to_float(bf16{h}) : to_float(f16{h});
  };
  failures f;
  for (std::size_t i = 0; i < got.size(); ++i)
    for (int half = 0; half < 2; ++half) {
      float const a = value(in[0][i / K::words].bits, half),
                  b = value(in[1][i / K::words].bits, half);
      float const c = value(in[2][i / K::words].bits, half), have = value(got[i].bits, half);
      // long double holds every sum and product of two halves, and the fma but for far-off terms.
      long double const x = a, y = b, z = c;
      long double right = 0;
      switch (i % K::words) {
        case 0: right = x + y; break;
        case 1: right = x * y; break;
        case 2: right = x * y + z; break;
        case 3: right = a != a ? y : b != b ? x : std::min(x, y); break;
        default: right = a != a ? y : b != b ? x : std::max(x, y);
      }
      bool good = false;
      if (right != right) {
        good = have != have;
      } else {
        // No neighbour of the result is nearer: half a unit in its last place, or beyond the end.
        auto const h = static_cast<std::uint16_t>(got[i].bits >> 16 * half & 0x7FFFU);
        std::uint16_t const infinite = bf ? 0x7F80 : 0x7C00;
        float const up = h < infinite ? value(h + 1U, 0) : value(h, 0);
        float const down = h > 0 ? value(h - 1U, 0) : 0;
        long double const abs = std::fabs(right);
        bool const sign = right == 0 || have == 0 || std::signbit(have) == std::signbit(right);
        long double const largest = value(infinite - 1U, 0);
        long double const end = largest + (largest - value(infinite - 2U, 0)) / 2;
        if (h == infinite)
          good = sign && abs >= end;
        else if (h > infinite)
          good = false;
        else
          good = sign &&
                 abs - std::fabs(have) <=
                     ((h + 1 == infinite ? end
                                         : (static_cast<long double>(up) + std::fabs(have)) / 2) -
                      std::fabs(have)) &&
                 std::fabs(have) - abs <= (static_cast<long double>(std::fabs(have)) - down) / 2;
      }
      if (!good)
        f.add(text("operation ", i % K::words), text("of ", a, ", ", b, ", ", c, ": got ", have,
                                                     ", want ", static_cast<double>(right)));
    }
  return f.result();
}

template <class M>
std::string check_bits(M& m) {
  constexpr int ctas = 4, count = ctas * bits_kernel::threads;
  std::mt19937 random(31);
  std::vector<std::uint32_t> in[3], want;
  for (auto& v : in)
    for (int i = 0; i < count; ++i) v.push_back(static_cast<std::uint32_t>(random()));
  for (int i = 0; i < count; ++i) {
    std::uint32_t const a = in[0][i], b = in[1][i], c = in[2][i];
    std::uint32_t bytes = 0;
    for (int k = 3; k >= 0; --k) {
      std::uint32_t const s = c >> 4 * k & 15U;
      std::uint32_t byte = ((s & 4U) != 0 ? b : a) >> 8 * (s & 3U) & 0xFFU;
      if (s >= 8) byte = byte >= 128 ? 255 : 0;
      bytes = bytes << 8 | byte;
    }
    for (std::uint32_t const w : {bytes, (a & b) | c, a ^ b ^ c, (c & b) | (~c & a)})
      want.push_back(w);
  }
  std::vector<std::uint32_t> const zeros(want.size());
  std::uint32_t* const out = upload(m, zeros);
  run<bits_kernel>(m, ctas, {upload(m, in[0]), upload(m, in[1]), upload(m, in[2]), out});
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::string check_clocks(M& m) {
  std::vector<int> const zeros(clock_kernel::threads), want(clock_kernel::threads, 1);
  int* const out = upload(m, zeros);
  run<clock_kernel>(m, 1, {out});
  return differences(download(m, out, want.size()), want);
}

template <class M>
std::vector<check<M>> math_checks() {
  return {{"math: approximations", check_math<M>},
          {"math: packed f16", check_packed<f16x2, elem::f16, M>},
          {"math: packed bf16", check_packed<bf16x2, elem::bf16, M>},
          {"math: prmt and lop3", check_bits<M>},
          {"math: clocks and assertions", check_clocks<M>}};
}

}  // namespace tw::test
