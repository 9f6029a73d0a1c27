// SPDX-License-Identifier: Apache-2.0
// weights_e4m3.cpp  Prepared weights in the order for activations of e4m3.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernel/weights/weight_parts.hpp"
#include "tilewright/atom/weight_block.hpp"
#include "tilewright/layout/evaluate.hpp"
#include "tilewright/problem/signed_nibble.hpp"

namespace tw {
namespace {

/// Places in a block: 64 x 128 nibbles by (n, k), and the first scale of a row; the factor of a row
/// lies at a quarter of the latter.
struct e4m3_places {
  std::array<std::uint16_t, 64 * 128> nibble;
  std::array<std::uint16_t, 64> row;  // n in the order of scales and factors
};
e4m3_places const& places_of_e4m3() {
  static e4m3_places const all = [] {
    e4m3_places p{};
    layout const nibbles = weight_nibbles_e4m3(1, 1, 2 * 64 * 128 / 2);
    layout const rows = weight_scales(1);
    for (int n = 0; n < 64; ++n) {
      for (int k = 0; k < 128; ++k)
        p.nibble[static_cast<std::size_t>(128 * n + k)] =
            static_cast<std::uint16_t>(nibbles(make_coord(n, k)));
      p.row[static_cast<std::size_t>(n)] = static_cast<std::uint16_t>(rows(make_coord(n, 0)));
    }
    return p;
  }();
  return all;
}

/// The parts of row n of a block.
struct e4m3_row {
  e4m3_places const& places;
  weight_format const& f;
  std::uint8_t* block;
  std::size_t n;
  std::size_t nibble(std::size_t k) const { return places.nibble[128 * n + k]; }
  std::uint8_t* scales() const {
    return block + f.nibble_bytes() + places.row[n] * f.scales_per_row();
  }
  std::uint8_t* zero() const {
    return block + f.nibble_bytes() + f.scale_bytes() + places.row[n] * f.zeros_per_row();
  }
  /// A nibble as it is stored, and as rows have it.
  unsigned stored(unsigned q) const {
    return f.is_signed() ? signed_nibble_of(static_cast<int>(q) - 8) : q;
  }
  unsigned in_rows(unsigned nibble) const {
    return f.is_signed() ? static_cast<unsigned>(of_signed_nibble(nibble) + 8) : nibble;
  }
  int zero_value() const { return f.zeros == weight_zeros::none ? 8 : *zero(); }
  std::uint8_t* factor() const {
    return block + f.nibble_bytes() + f.scale_bytes() + f.zero_bytes() +
           places.row[n] * sizeof(float);
  }
  float factor_value() const {
    float x = 0;
    std::memcpy(&x, factor(), sizeof x);
    return x;
  }
};
e4m3_row row_of_block(weights_desc const& w, void* blocks, std::int64_t row, std::int64_t kb) {
  std::int64_t const n = w.place(row % w.n);
  std::uint8_t* const block =
      static_cast<std::uint8_t*>(blocks) + block_at(w, row / w.n, n / 64, kb);
  return {places_of_e4m3(), w.format, block, static_cast<std::size_t>(n % 64)};
}

/// A part of a row of mxfp4: `q` are the nibbles of `groups` groups of 32, `bytes` their scales.
void prepare_mxfp4(e4m3_row const& to, unsigned const* q, std::uint8_t const* bytes, int groups,
                   weight_counts& counts) {
  constexpr int group = 32;
  int most = 0, largest = 0;
  bool nan = false;
  for (int j = 0; j < groups; ++j) {
    int magnitude = 0;
    for (int i = 0; i < group; ++i) magnitude = std::max<int>(magnitude, q[group * j + i] & 7U);
    nan = nan || bytes[j] == 255;
    if (magnitude == 0 || bytes[j] == 255) continue;
    most = std::max<int>(most, bytes[j]), largest = 1;
  }
  float const factor = nan            ? std::numeric_limits<float>::quiet_NaN()
                       : largest == 0 ? 1.0F
                                      : std::ldexp(1.0F, most - 127 - largest_relative_exponent);
  std::memcpy(to.factor(), &factor, sizeof factor);
  double error = 0, top = 0;
  for (int j = 0; j < groups; ++j) {
    int const u = bytes[j] == 255 ? 0 : bytes[j] - most + largest_relative_exponent;
    int const lost = std::max(0, -relative_exponent_bias - u);  // binades that do not fit
    to.scales()[j] = static_cast<std::uint8_t>(
        std::clamp(u, -relative_exponent_bias, largest_relative_exponent) + relative_exponent_bias);
    for (int i = 0; i < group; ++i) {
      unsigned code = q[group * j + i];
      if (!nan) {
        float const x = to_float(e2m1{static_cast<std::uint8_t>(code)});
        double const exact = std::ldexp(static_cast<double>(x), u);
        if (lost > 0) code = to_e2m1(std::ldexp(x, -lost)).bits;
        double const held = std::ldexp(
            static_cast<double>(to_float(e2m1{static_cast<std::uint8_t>(code)})), u + lost);
        if ((code & 7U) != 0 || (q[group * j + i] & 7U) != 0)
          error = std::max(error, std::fabs(held - exact));
        top = std::max(top, std::fabs(exact));
      }
      put_nibble(to.block, to.nibble(static_cast<std::size_t>(group * j + i)), code);
    }
  }
  if (error > 0) {
    ++counts.rounded_parts;
    counts.largest_error = std::max(counts.largest_error, error / top);
  }
}

}  // namespace

weight_counts prepare_e4m3(weights_desc const& w, weight_rows const& from, std::uint8_t* blocks) {
  weight_counts counts;
  weight_format const& f = w.format;
  std::int64_t const groups = w.groups(), block_k = f.block_k();
  auto const* const nibbles = static_cast<std::uint8_t const*>(from.nibbles);
  for (std::int64_t row = 0; row < w.matrices * w.n; ++row)
    for (std::int64_t kb = 0; kb < w.k_blocks(); ++kb) {
      e4m3_row const to = row_of_block(w, blocks, row, kb);
      std::int64_t const first = kb * block_k, count = std::min(block_k, w.k - first);
      std::array<unsigned, 128> q{};
      for (std::int64_t i = 0; i < count; ++i)
        q[static_cast<std::size_t>(i)] =
            nibbles[(row * w.k + first + i) / 2] >> 4 * ((first + i) % 2) & 15U;
      ++counts.parts;
      if (f.code == weight_code::mxfp4) {
        auto const* const bytes =
            static_cast<std::uint8_t const*>(from.scales) + row * groups + first / f.group;
        int const of_part = static_cast<int>(count / f.group);
        counts.nan_scales += std::count(bytes, bytes + of_part, 255);
        prepare_mxfp4(to, q.data(), bytes, of_part, counts);
        continue;
      }
      std::int64_t const group = row * groups + (f.group == 0 ? 0 : first / f.group);
      float const s = float_of(from.scale, from.scales, group);
      std::memcpy(to.factor(), &s, sizeof s);
      if (f.zeros == weight_zeros::integers)
        *to.zero() = static_cast<std::uint8_t const*>(from.zeros)[group];
      counts.nan_scales += std::isnan(s) && (f.group == 0 ? kb == 0 : first % f.group == 0);
      for (std::int64_t i = 0; i < count; ++i)
        put_nibble(to.block, to.nibble(static_cast<std::size_t>(i)),
                   to.stored(q[static_cast<std::size_t>(i)]));
    }
  return counts;
}

void unprepare_e4m3(weights_desc const& w, void* blocks, weight_rows_out const& to) {
  weight_format const& f = w.format;
  std::int64_t const groups = w.groups(), block_k = f.block_k();
  for (std::int64_t row = 0; row < w.matrices * w.n; ++row)
    for (std::int64_t kb = 0; kb < w.k_blocks(); ++kb) {
      e4m3_row const from = row_of_block(w, blocks, row, kb);
      std::int64_t const first = kb * block_k, count = std::min(block_k, w.k - first);
      for (std::int64_t i = 0; to.nibbles != nullptr && i < count; ++i) {
        std::uint8_t& byte = static_cast<std::uint8_t*>(to.nibbles)[(row * w.k + first + i) / 2];
        unsigned const nibble = nibble_at(from.block, from.nibble(static_cast<std::size_t>(i)));
        unsigned const q = from.in_rows(nibble);
        byte = static_cast<std::uint8_t>(byte | q << 4 * ((first + i) % 2));
      }
      float const factor = from.factor_value();
      if (f.code == weight_code::int4) {
        std::int64_t const at = row * groups + (f.group == 0 ? 0 : first / f.group);
        if (to.scales != nullptr) static_cast<float*>(to.scales)[at] = factor;
        if (to.zeros != nullptr && f.zeros == weight_zeros::integers)
          static_cast<std::uint8_t*>(to.zeros)[at] = *from.zero();
        continue;
      }
      if (to.scales == nullptr) continue;
      for (std::int64_t j = 0; j < count / f.group; ++j) {
        int const e = std::isnan(factor)
                          ? 255
                          : 127 + std::ilogb(factor) + from.scales()[j] - relative_exponent_bias;
        static_cast<std::uint8_t*>(to.scales)[row * groups + first / f.group + j] =
            static_cast<std::uint8_t>(std::clamp(e, 0, 255));
      }
    }
}

e4m3_weight e4m3_weight_at(weights_desc const& w, void const* blocks, std::int64_t matrix,
                           std::int64_t n, std::int64_t k) {
  weight_format const& f = w.format;
  std::int64_t const kb = k / f.block_k();
  e4m3_row const from = row_of_block(w, const_cast<void*>(blocks), matrix * w.n + n, kb);
  auto const in_block = static_cast<std::size_t>(k % f.block_k());
  unsigned const q = nibble_at(from.block, from.nibble(in_block));
  float const x = f.code == weight_code::int4
                      ? static_cast<float>(static_cast<int>(from.in_rows(q)) - from.zero_value())
                      : std::ldexp(to_float(e2m1{static_cast<std::uint8_t>(q)}),
                                   from.scales()[in_block / static_cast<std::size_t>(f.group)] -
                                       relative_exponent_bias);
  // Kernels multiply signed nibbles as q 2^-8.
  float const of_factor = f.is_signed() ? signed_factor : 1;
  return {to_e4m3(x / of_factor, saturation::none), from.factor_value() * of_factor};
}

}  // namespace tw
