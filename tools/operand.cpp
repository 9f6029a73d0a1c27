// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Element by element: exact widening, then one rounding to nearest even.
#include "tools/operand.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
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
    else
      y = from_float<To>(rounded_to_odd(x));
    std::memcpy(to + i * std::int64_t{sizeof(To)}, &y, sizeof(To));
  }
}

template <class From, class To>
void convert(matrix_view const& from, std::byte* to) {
  for (std::int64_t i = 0; i < from.count().count; ++i) {
    From x;
    std::memcpy(&x, from.data + i * std::int64_t{sizeof(From)}, sizeof(From));
    To const y = from_float<To>(to_float(x));
    std::memcpy(to + i * std::int64_t{sizeof(To)}, &y, sizeof(To));
  }
}

template <class To>
void convert_to(matrix_view const& from, std::byte* to) {
  if (from.doubles) return convert_doubles<To>(from, to);
  if (from.type == elem::f32) return convert<float, To>(from, to);
  if (from.type == elem::f16) return convert<f16, To>(from, to);
  convert<bf16, To>(from, to);
}

}  // namespace

bool needs_copy(matrix_view const& m, elem type) {
  auto const address = reinterpret_cast<std::uintptr_t>(m.data);
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
  } else if (type == elem::f32) {
    convert_to<float>(file, copy_.data());
  } else if (type == elem::f16) {
    convert_to<f16>(file, copy_.data());
  } else {
    convert_to<bf16>(file, copy_.data());
  }
}

}  // namespace tw
