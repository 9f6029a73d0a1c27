// SPDX-License-Identifier: Apache-2.0
// weights.cpp  Rows of 4-bit weights to blocks, and back: nibble by nibble through the layouts.
#include "tilewright/kernel/weights/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel/weights/weight_parts.hpp"
#include "tilewright/atom/weight_block.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/layout/evaluate.hpp"
#include "tilewright/problem/signed_nibble.hpp"

namespace tw {
namespace {

constexpr std::array<char, 8> magic = {'T', 'W', 'W', 'E', 'I', 'G', 'H', 'T'};

/// The header in memory, little-endian.
struct header {
  std::array<char, 8> name;
  std::uint32_t version, code, scale, zeros, group;
  std::int32_t shift;
  float factor;
  std::uint32_t order;  // bit 0: for e4m3; above: the gate
  std::int64_t n, k, matrices, bytes;
};
static_assert(sizeof(header) <= weights_header_bytes);

/// Places in a block: 64 x 64 nibbles and scales, by (n, k).
struct block_places {
  std::array<std::uint16_t, 64 * 64> nibble;
  std::array<std::uint16_t, 64 * 4> scale;  // of (n, scale of the row)
};

block_places places_of(weight_format const& f) {
  block_places p{};
  layout const nibbles = weight_nibbles(1, 1, f.block_bytes());
  layout const scales = weight_scales(f.scales_per_row());
  int const each = weight_block / f.scales_per_row();
  for (int n = 0; n < 64; ++n) {
    for (int k = 0; k < 64; ++k)
      p.nibble[static_cast<std::size_t>(64 * n + k)] =
          static_cast<std::uint16_t>(nibbles(make_coord(n, k)));
    for (int j = 0; j < f.scales_per_row(); ++j)
      p.scale[static_cast<std::size_t>(4 * n + j)] =
          static_cast<std::uint16_t>(scales(make_coord(n, j * each)));
  }
  return p;
}

std::uint16_t half_of(elem type, float x) {
  return type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
}

/// The group of scale j of a row of block `k_block`.
std::int64_t group_of(weights_desc const& w, std::int64_t k_block, int j) {
  if (w.format.group == 0) return 0;
  int const each = weight_block / w.format.scales_per_row();
  return (k_block * weight_block + j * each) / w.format.group;
}

rejection not_preparable(std::string what, std::string got, std::string need,
                         std::string hint = "") {
  return {"TW0465", std::move(what), std::move(got), std::move(need), std::move(hint)};
}

/// The number by which exponents of mxfp4 are reduced.
int shift_of(std::uint8_t const* scales, std::int64_t count) {
  int least = 255, most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (scales[i] == 255) continue;
    least = std::min<int>(least, scales[i]);
    most = std::max<int>(most, scales[i]);
  }
  constexpr int largest = 128;  // 2^1
  int const shift = std::max(0, most - largest);
  if (least < shift)
    throw rejected(not_preparable("scales of mxfp4",
                                  fmt::format("2^{} and 2^{}", least - 127, most - 127),
                                  "at most 2^129 times the smallest one in one tensor",
                                  "prepare the matrices that have the larger scales apart"));
  return shift;
}

/// A scale, or a float zero point, as it is stored.
struct stored_scale {
  std::uint16_t bits;
  bool rounded, nan;
};
stored_scale stored(weight_format const& f, elem from, void const* scales, std::int64_t at) {
  if (size_bytes(f.scale) == 1) {
    std::uint8_t const byte = static_cast<std::uint8_t const*>(scales)[at];
    return {byte, false, byte == (f.scale == elem::ue8m0 ? 0xFF : 0x7F)};
  }
  float const x = float_of(from, scales, at);
  std::uint16_t const bits = half_of(f.scale, x);
  float const back = f.scale == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
  return {bits, !std::isnan(x) && back != x, std::isnan(x)};
}

}  // namespace

void write_weights_header(weights_desc const& w, void* to) {
  header const h{magic,
                 version_of(w.format),
                 static_cast<std::uint32_t>(w.format.code),
                 static_cast<std::uint32_t>(w.format.scale),
                 static_cast<std::uint32_t>(w.format.zeros),
                 static_cast<std::uint32_t>(w.format.group),
                 w.shift,
                 w.factor,
                 (w.format.fp8 ? 1U : 0U) | static_cast<std::uint32_t>(w.format.gate) << 1,
                 w.n,
                 w.k,
                 w.matrices,
                 w.bytes()};
  std::memset(to, 0, weights_header_bytes);
  std::memcpy(to, &h, sizeof h);
}

weight_counts prepare_weights(weights_desc& w, weight_rows const& from, void* to) {
  if (auto const why = accept(w)) throw rejected(*why);
  weight_format const& f = w.format;
  bool const bytes = f.code != weight_code::int4;
  if (bytes ? from.scale != f.scale : !is_wide_float(from.scale))
    throw rejected(not_preparable("type of the scales", name(from.scale),
                                  bytes ? name(f.scale) : "bf16, f16 or f32"));
  std::int64_t const groups = w.groups(), count = w.matrices * w.n * groups;
  auto const* const scales = static_cast<std::uint8_t const*>(from.scales);
  w.shift = f.code == weight_code::mxfp4 && !f.fp8 ? shift_of(scales, count) : 0;
  w.factor = std::ldexp(w.factor, w.shift);
  if (f.code == weight_code::nvfp4)
    if (auto const* const bad =
            std::find_if(scales, scales + count, [](auto s) { return s > 127; });
        bad != scales + count)
      throw rejected(not_preparable("a scale of nvfp4", fmt::format("the byte {}", *bad),
                                    "0 to 127: scales are not negative"));
  if (f.zeros == weight_zeros::integers) {
    auto const* const zeros = static_cast<std::uint8_t const*>(from.zeros);
    if (auto const* const bad = std::find_if(zeros, zeros + count, [](auto z) { return z > 16; });
        bad != zeros + count)
      throw rejected(not_preparable("a zero point of int4", fmt::format("{}", *bad), "0 to 16"));
  }

  if (f.is_signed())
    for (std::int64_t i = 0; i < count; ++i)
      if (float const s = std::fabs(float_of(from.scale, from.scales, i)); s > largest_signed_scale)
        throw rejected(not_preparable("a scale of int4 for e4m3", fmt::format("{}", s),
                                      fmt::format("at most {}", largest_signed_scale),
                                      "divide the scales and multiply alpha"));

  auto* const out = static_cast<std::uint8_t*>(to);
  std::memset(out, 0, static_cast<std::size_t>(w.bytes()));
  write_weights_header(w, out);
  if (f.fp8) return prepare_e4m3(w, from, out + weights_header_bytes);

  weight_counts counts;
  block_places const p = places_of(f);
  auto const* const nibbles = static_cast<std::uint8_t const*>(from.nibbles);
  for (std::int64_t row = 0; row < w.matrices * w.n; ++row) {
    std::int64_t const matrix = row / w.n, n = w.place(row % w.n);
    for (std::int64_t kb = 0; kb < w.k_blocks(); ++kb) {
      std::uint8_t* const block = out + weights_header_bytes + block_at(w, matrix, n / 64, kb);
      auto const r = static_cast<std::size_t>(n % 64);
      std::int64_t const first = kb * 64, end = std::min<std::int64_t>(first + 64, w.k);
      for (std::int64_t k = first; k < end; ++k) {
        unsigned const q = nibbles[(row * w.k + k) / 2] >> 4 * (k % 2) & 15U;
        unsigned const at = p.nibble[64 * r + static_cast<std::size_t>(k - first)];
        put_nibble(block, at, q);
      }
      int const each = weight_block / f.scales_per_row();
      for (int j = 0; j < f.scales_per_row() && first + j * each < w.k; ++j) {
        std::int64_t const group = row * groups + group_of(w, kb, j);
        unsigned const at = p.scale[4 * r + static_cast<std::size_t>(j)];
        std::uint8_t* const zero =
            block + f.nibble_bytes() + f.scale_bytes() + at * f.zero_bytes_each();
        stored_scale s = stored(f, from.scale, from.scales, group);
        bool const first_of_group =
            f.group == 0 ? kb == 0 && j == 0 : (first + j * each) % f.group == 0;
        if (f.code == weight_code::mxfp4 && !s.nan)
          s.bits = static_cast<std::uint16_t>(s.bits - w.shift);
        std::memcpy(block + f.nibble_bytes() + at * static_cast<unsigned>(size_bytes(f.scale)),
                    &s.bits, static_cast<std::size_t>(size_bytes(f.scale)));
        counts.rounded += first_of_group && s.rounded;
        counts.nan_scales += first_of_group && s.nan;
        if (f.zeros == weight_zeros::integers) {
          *zero = static_cast<std::uint8_t const*>(from.zeros)[group];
        } else if (f.zeros == weight_zeros::floats) {
          stored_scale const z = stored(f, from.scale, from.zeros, group);
          std::memcpy(zero, &z.bits, sizeof z.bits);
          counts.rounded += first_of_group && z.rounded;
        }
      }
    }
  }
  return counts;
}

bool is_prepared(std::span<std::byte const> bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

weights_desc read_weights_header(std::span<std::byte const> prepared) {
  return read_weights_header(prepared, static_cast<std::int64_t>(prepared.size()));
}

namespace {

[[noreturn]] void refuse_header(std::string what, std::string got, std::string need) {
  throw rejected({"TW0466", std::move(what), std::move(got), std::move(need),
                  "`tilewright prepare` writes prepared weights"});
}

/// The header of possible weights.
weights_desc parsed_header(std::span<std::byte const> prepared) {
  header h{};
  if (!is_prepared(prepared) || prepared.size() < weights_header_bytes)
    refuse_header("prepared weights", fmt::format("{} bytes without their header", prepared.size()),
                  "a header of 256 bytes that begins with TWWEIGHT");
  std::memcpy(&h, prepared.data(), sizeof h);
  weights_desc w{h.n,
                 h.k,
                 h.matrices,
                 {static_cast<weight_code>(h.code), static_cast<elem>(h.scale),
                  static_cast<weight_zeros>(h.zeros), static_cast<int>(h.group), h.order % 2 == 1,
                  static_cast<gating>(h.order / 2)},
                 h.shift,
                 h.factor};
  if (h.code > static_cast<std::uint32_t>(weight_code::int4) || h.scale >= elem_count ||
      h.zeros > static_cast<std::uint32_t>(weight_zeros::floats) || h.group > 1U << 30 ||
      h.order / 2 > static_cast<std::uint32_t>(gating::split))
    refuse_header("format of prepared weights", fmt::format("{} {} {}", h.code, h.scale, h.zeros),
                  "a format of this version");
  if (h.version != version_of(w.format))
    refuse_header("version of prepared weights", fmt::format("{}", h.version),
                  fmt::format("{}", version_of(w.format)));
  if (auto const why = accept(w)) refuse_header(why->what, why->got, why->need);
  if (h.bytes != w.bytes())
    refuse_header("size of prepared weights", fmt::format("{} bytes", h.bytes),
                  fmt::format("{} bytes for {} x ({}, {})", w.bytes(), w.matrices, w.n, w.k));
  return w;
}

}  // namespace

weights_desc read_weights_header(std::span<std::byte const> prepared, std::int64_t bytes) {
  weights_desc const w = parsed_header(prepared);
  if (bytes != w.bytes())
    refuse_header("size of prepared weights", fmt::format("{} bytes", bytes),
                  fmt::format("{} bytes for {} x ({}, {})", w.bytes(), w.matrices, w.n, w.k));
  return w;
}

void check_weights_header(weights_desc const& wanted, void const* at) {
  weights_desc const w =
      parsed_header({static_cast<std::byte const*>(at), std::size_t{weights_header_bytes}});
  if (w.n == wanted.n && w.k == wanted.k && w.matrices >= wanted.matrices &&
      w.format == wanted.format)
    return;
  auto const text = [](weights_desc const& x) {
    return fmt::format("{} x ({}, {}), {}", x.matrices, x.n, x.k, text_of(x.format));
  };
  refuse_header("prepared weights of a GEMM", text(w), text(wanted));
}

void unprepare_weights(weights_desc const& w, void const* prepared, weight_rows_out const& to) {
  weight_format const& f = w.format;
  auto const* const blocks = static_cast<std::uint8_t const*>(prepared) + weights_header_bytes;
  auto* const nibbles = static_cast<std::uint8_t*>(to.nibbles);
  auto* const scales = static_cast<std::uint8_t*>(to.scales);
  auto* const zeros = static_cast<std::uint8_t*>(to.zeros);
  auto const scale_size = static_cast<std::size_t>(size_bytes(f.scale));
  auto const zero_size = static_cast<std::size_t>(f.zero_bytes_each());
  if (nibbles != nullptr)
    std::memset(nibbles, 0, static_cast<std::size_t>(w.matrices * w.n * w.k / 2));
  if (f.fp8) return unprepare_e4m3(w, const_cast<std::uint8_t*>(blocks), to);
  block_places const p = places_of(f);
  for (std::int64_t row = 0; row < w.matrices * w.n; ++row)
    for (std::int64_t kb = 0; kb < w.k_blocks(); ++kb) {
      std::int64_t const n = w.place(row % w.n);
      std::uint8_t const* const block = blocks + block_at(w, row / w.n, n / 64, kb);
      auto const r = static_cast<std::size_t>(n % 64);
      std::int64_t const first = kb * 64, end = std::min<std::int64_t>(first + 64, w.k);
      for (std::int64_t k = first; nibbles != nullptr && k < end; ++k) {
        unsigned const at = p.nibble[64 * r + static_cast<std::size_t>(k - first)];
        unsigned const q = nibble_at(block, at);
        std::uint8_t& byte = nibbles[(row * w.k + k) / 2];
        byte = static_cast<std::uint8_t>(byte | q << 4 * (k % 2));
      }
      int const each = weight_block / f.scales_per_row();
      for (int j = 0; j < f.scales_per_row() && first + j * each < w.k; ++j) {
        auto const group = static_cast<std::size_t>(row * w.groups() + group_of(w, kb, j));
        std::size_t const at = p.scale[4 * r + static_cast<std::size_t>(j)];
        std::uint8_t const* const s = block + f.nibble_bytes();
        if (scales != nullptr)
          std::memcpy(scales + group * scale_size, s + at * scale_size, scale_size);
        if (scales != nullptr && f.code == weight_code::mxfp4 && scales[group] != 255)
          scales[group] = static_cast<std::uint8_t>(scales[group] + w.shift);
        if (zeros != nullptr && zero_size > 0)
          std::memcpy(zeros + group * zero_size, s + f.scale_bytes() + at * zero_size, zero_size);
      }
    }
}

namespace {

/// a + b, odd if it lies between two doubles: rounding it again is rounding a + b.
double sum_to_odd(double a, double b) {
  double const s = a + b, of_b = s - a, rest = (a - (s - of_b)) + (b - of_b);
  if (!std::isfinite(s) || rest == 0 || (std::bit_cast<std::uint64_t>(s) & 1U) != 0) return s;
  return std::nextafter(s, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// A weight of a block: its nibble and its scale, as they are counted there.
double weight_in(weight_format const& f, std::uint8_t const* block, std::size_t nibble,
                 std::size_t scale) {
  unsigned const q = nibble_at(block, nibble);
  auto const at = static_cast<std::int64_t>(scale);
  double const s = static_cast<double>(float_of(f.scale, block + f.nibble_bytes(), at));
  if (f.code != weight_code::int4)
    return static_cast<double>(to_float(e2m1{static_cast<std::uint8_t>(q)})) * s;
  std::uint8_t const* const zeros = block + f.nibble_bytes() + f.scale_bytes();
  switch (f.zeros) {
    case weight_zeros::integers: return (static_cast<int>(q) - zeros[at]) * s;
    case weight_zeros::floats:
      return sum_to_odd((static_cast<int>(q) - 8) * s,
                        static_cast<double>(float_of(f.scale, zeros, at)));
    default: return (static_cast<int>(q) - 8) * s;
  }
}

}  // namespace

double weight_at(weights_desc const& w, void const* blocks, std::int64_t matrix, std::int64_t n,
                 std::int64_t k) {
  if (w.format.fp8) {
    e4m3_weight const x = e4m3_weight_at(w, blocks, matrix, n, k);
    return static_cast<double>(to_float(x.code)) * static_cast<double>(x.factor);
  }
  std::int64_t const row = w.place(n);
  auto const* const block =
      static_cast<std::uint8_t const*>(blocks) + block_at(w, matrix, row / 64, k / 64);
  auto const in_block = make_coord(row % 64, k % 64);
  return weight_in(w.format, block,
                   static_cast<std::size_t>(weight_nibbles(1, 1, w.format.block_bytes())(in_block)),
                   static_cast<std::size_t>(weight_scales(w.format.scales_per_row())(in_block)));
}

void decode_weights(weights_desc const& w, void const* blocks, std::int64_t matrix, elem to,
                    void* out) {
  auto* const bits = static_cast<std::uint16_t*>(out);
  block_places const p = places_of(w.format);
  int const each = weight_block / w.format.scales_per_row();
  for (std::int64_t n = 0; n < w.n; ++n)
    for (std::int64_t k = 0; k < w.k; ++k) {
      std::int64_t const at = w.place(n);
      auto const* const block =
          static_cast<std::uint8_t const*>(blocks) + block_at(w, matrix, at / 64, k / 64);
      auto const row = static_cast<std::size_t>(at % 64), col = static_cast<std::size_t>(k % 64);
      double const x = weight_in(w.format, block, p.nibble[64 * row + col],
                                 p.scale[4 * row + col / static_cast<std::size_t>(each)]);
      // A float holds all weights but those with float zero points, which are rounded to odd.
      auto y = static_cast<float>(x);
      if (static_cast<double>(y) != x && std::isfinite(x)) {
        if (std::fabs(static_cast<double>(y)) > std::fabs(x)) y = std::nextafter(y, 0.0F);
        y = std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) | 1U);
      }
      bits[n * w.k + k] = half_of(to, y);
    }
}

}  // namespace tw
