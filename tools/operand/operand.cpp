// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Element by element: exact widening, then one rounding to nearest even.
#include "tools/operand/operand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "tilewright/base/convert.hpp"

namespace tw {
namespace {

/// A double as a float that rounds to a type of 11 significant bits or fewer as the double does:
/// cut off, and odd where something was lost (round to odd).
float rounded_to_odd(double x) {
  float const y = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(y) == x) return y;
  float const toward = std::fabs(static_cast<double>(y)) > std::fabs(x) || std::isinf(y)
                           ? std::nextafter(y, 0.0F)
                           : y;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(toward) | 1U);
}

template <class To>
void convert_doubles(matrix_view const& from, std::byte* to) {
  for (std::int64_t i = 0; i < from.count().count; ++i) {
    double x = 0;
    std::memcpy(&x, from.data + i * std::int64_t{sizeof(double)}, sizeof(double));
    To y;
    if constexpr (std::is_same_v<To, float>)
      y = static_cast<float>(x);
    else if constexpr (std::is_same_v<To, std::int32_t>)
      y = std::isnan(x) ? 0 : static_cast<To>(std::clamp(std::nearbyint(x), -0x1p31, 0x1p31 - 1));
    else
      y = from_float<To>(rounded_to_odd(x));
    std::memcpy(to + i * std::int64_t{sizeof(To)}, &y, sizeof(To));
  }
}

/// Elements [first, first + count) as floats, and back, by the type's name.
constexpr std::int64_t chunk = 512;

template <class T>
void widen(std::byte const* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, from + i * std::int64_t{sizeof(T)}, sizeof(T));
    to[i] = to_float(x);
  }
}

/// Elements of 4 and 6 bits, packed, from element `first` on.
template <class T>
void widen_packed(std::byte const* from, std::int64_t first, std::int64_t count, float* to) {
  constexpr int bits = size_bits(elem_of<T>);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const at = (first + i) * bits;
    unsigned two = std::to_integer<unsigned>(from[at / 8]);
    if (at % 8 + bits > 8) two |= std::to_integer<unsigned>(from[at / 8 + 1]) << 8;
    to[i] = to_float(T{static_cast<std::uint8_t>(two >> at % 8 & ((1U << bits) - 1))});
  }
}

template <class T>
void narrow(float const* from, std::int64_t count, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    T const y = from_float<T>(from[i]);
    std::memcpy(to + i * std::int64_t{sizeof(T)}, &y, sizeof(T));
  }
}

/// The bits of to_bf16(), in a loop that the compiler vectorises: most files are rounded to bf16.
/// operand_test.cpp compares all 2^16 upper halves.
template <>
void narrow<bf16>(float const* from, std::int64_t count, std::byte* to) {
  constexpr std::int64_t at_once = 16;
  std::int64_t i = 0;
  for (; i + at_once <= count; i += at_once) {
    std::uint32_t x[at_once];
    std::uint16_t y[at_once];
    std::memcpy(x, from + i, sizeof x);
    for (int j = 0; j < at_once; ++j) {
      std::uint32_t const up = x[j] + 0x7FFFU + (x[j] >> 16 & 1U);  // ties to even
      bool const is_nan = (x[j] & 0x7FFFFFFFU) > 0x7F800000U;
      y[j] = static_cast<std::uint16_t>(is_nan ? 0x7FFFU : up >> 16);
    }
    std::memcpy(to + i * std::int64_t{sizeof(bf16)}, y, sizeof y);
  }
  for (; i < count; ++i) {
    bf16 const y = to_bf16(from[i]);
    std::memcpy(to + i * std::int64_t{sizeof(bf16)}, &y, sizeof y);
  }
}

void convert(matrix_view const& from, elem type, std::byte* to) {
  float x[chunk];
  for (std::int64_t i = 0, all = from.count().count; i < all; i += chunk) {
    std::int64_t const count = std::min(chunk, all - i);
    with_elem(from.type, [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (size_bits(t.value) < 8)
        widen_packed<T>(from.data, i, count, x);
      else
        widen<T>(from.data + i * std::int64_t{sizeof(T)}, count, x);
    });
    with_elem(type, [&](auto t) {
      using T = typename decltype(t)::type;
      narrow<T>(x, count, to + i * std::int64_t{sizeof(T)});
    });
  }
}

}  // namespace

bool needs_copy(matrix_view const& m, elem type) {
  auto const address = reinterpret_cast<std::uintptr_t>(m.data);
  if (size_bits(type) < 8) return m.type != type;  // packed: there is no alignment
  return m.doubles || m.type != type ||
         address % static_cast<std::uintptr_t>(size_bytes(type)) != 0;
}

operand::operand(matrix_view const& file, elem type) : view_(file) {
  if (!needs_copy(file, type)) return;
  view_.type = type;
  view_.doubles = false;
  copy_ = host_buffer(view_.size());
  view_.data = copy_.data();
  if (file.type == type && !file.doubles) {
    std::memcpy(copy_.data(), file.data, static_cast<std::size_t>(file.size().count));
  } else if (file.doubles) {
    with_elem(type,
              [&](auto t) { convert_doubles<typename decltype(t)::type>(file, copy_.data()); });
  } else {
    convert(file, type, copy_.data());
  }
}

}  // namespace tw
