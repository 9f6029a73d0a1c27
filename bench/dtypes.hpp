// SPDX-License-Identifier: Apache-2.0
// dtypes.hpp  The type names of shape files: those the library computes, and those it lacks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::bench {

/// "bf16_f32": bf16 operands, float32 result. All accumulate in float32.
struct dtype_row {
  std::string_view name;
  elem ab, d;
};
inline constexpr std::array<dtype_row, 6> dtypes = {{
    {"bf16", elem::bf16, elem::bf16},
    {"bf16_f32", elem::bf16, elem::f32},
    {"fp16", elem::f16, elem::f16},
    {"f16", elem::f16, elem::f16},
    {"fp16_f32", elem::f16, elem::f32},
    {"f16_f32", elem::f16, elem::f32},
}};

/// A known name that the library does not compute yet, and what that would take.
struct missing_dtype_row {
  std::string_view name, missing;
};
inline constexpr std::array<missing_dtype_row, 6> missing_dtypes = {{
    {"fp16_f16acc", "float16 accumulation"},
    {"fp8", "8-bit operands"},
    {"fp8_row", "8-bit operands with row and column scales"},
    {"fp8_block", "8-bit operands with block scales"},
    {"int8", "integer operands"},
    {"tf32", "tf32 operands"},
}};

constexpr std::optional<dtype_row> find_dtype(std::string_view name) {
  for (auto const& row : dtypes)
    if (row.name == name) return row;
  return std::nullopt;
}

/// Reason why the library does not compute this type; nothing if it does, or if it is unknown.
constexpr std::optional<std::string_view> missing_for(std::string_view name) {
  for (auto const& row : missing_dtypes)
    if (row.name == name) return row.missing;
  return std::nullopt;
}

inline std::string dtype_names();

/// The row of an operand type and a type of D, which may be empty. Throws `rejected` TW0703 for
/// types that no kernel combines.
inline dtype_row find_dtypes(std::string const& ab, std::string const& d) {
  auto const operands = find_dtype(ab);
  bool const same = d.empty() || (operands && name(operands->d) == d);
  auto const row = find_dtype(same ? ab : ab + "_" + d);
  if (!row)
    throw rejected({"TW0703", "types", ab + " operands and " + d + " results", dtype_names(), ""});
  return *row;
}

inline std::string dtype_names() {
  std::string all;
  for (auto const& row : dtypes) all += (all.empty() ? "" : ", ") + std::string(row.name);
  for (auto const& row : missing_dtypes) all += ", " + std::string(row.name);
  return all;
}

}  // namespace tw::bench
