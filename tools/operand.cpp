// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Element by element: exact widening, then one rounding to nearest even.
#include "tools/operand.hpp"

#include <cstdint>
#include <cstring>

#include "tilewright/base/convert.hpp"

namespace tw {
namespace {

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
  if (from.type == elem::f32) return convert<float, To>(from, to);
  if (from.type == elem::f16) return convert<f16, To>(from, to);
  convert<bf16, To>(from, to);
}

}  // namespace

bool needs_copy(matrix_view const& m, elem type) {
  auto const address = reinterpret_cast<std::uintptr_t>(m.data);
  return m.type != type || address % static_cast<std::uintptr_t>(size_bytes(type)) != 0;
}

operand::operand(matrix_view const& file, elem type) : view_(file) {
  if (!needs_copy(file, type)) return;
  view_.type = type;
  copy_ = host_buffer(view_.size());
  view_.data = copy_.data();
  if (file.type == type) {
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
