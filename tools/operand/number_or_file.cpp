// SPDX-License-Identifier: Apache-2.0
// number_or_file.cpp  std::from_chars, or a file of one element.
#include "tools/operand/number_or_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/reference.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/scale_file.hpp"

namespace tw {
namespace {

/// Element i of an array of any float type.
double number_at(matrix_view const& v, std::int64_t i) {
  matrix_view line = v;
  line.matrices = 1, line.rows = 1, line.cols = v.count().count, line.ord = order::row_major;
  if (!v.doubles) return load_element(line.desc(), line.data, 0, i);
  double x = 0;
  std::memcpy(&x, v.data + i * std::int64_t{sizeof x}, sizeof x);
  return x;
}

}  // namespace

bool is_number(std::string const& text) {
  double x = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return !text.empty() && error != std::errc::invalid_argument && end == text.data() + text.size();
}

std::optional<float> number_in(std::string const& text) {
  float x = 0;
  char const* const end = text.data() + text.size();
  auto const [at, error] = std::from_chars(text.data(), end, x);
  return error == std::errc() && at == end ? std::optional(x) : std::nullopt;
}

float number_or_file(std::string const& text, number_use const& use) {
  auto const finite = [&](float x, std::string const& got) {
    if (!std::isfinite(x)) refuse(use.code, use.what, got, "a finite number that float32 can hold");
    return x;
  };
  if (is_number(text)) return finite(number_in(text).value_or(NAN), text);
  matrix_file const file(parse_address(text), scale_shapes);
  matrix_view const& v = file.view();
  std::string const what = fmt::format("{}, {}", use.what, text);
  std::int64_t const count = v.count().count;
  bool const floats = v.doubles || is_wide_float(v.type);
  if (!floats || (count != 1 && count != use.equals))
    refuse(use.code, what, fmt::format("{} elements of {}", count, type_text(v)), use.need,
           use.hint);
  auto const first = static_cast<float>(number_at(v, 0));
  for (std::int64_t i = 1; i < count; ++i)
    if (auto const other = static_cast<float>(number_at(v, i)); other != first)
      refuse(use.code, what, fmt::format("{} numbers that differ: {:g}, {:g}", count, first, other),
             "one: an operand has one second level for all matrices of a stack", use.when_unequal);
  return finite(first, fmt::format("{:g} in {}", first, text));
}

float divisor_in(std::string const& text, std::string const& what) {
  float const x = number_or_file(text, {"TW0452", what, "one float32, or a number", ""});
  if (!(x > 0)) refuse("TW0452", what, fmt::format("{:g}", x), "a number above 0");
  return x;
}

}  // namespace tw
