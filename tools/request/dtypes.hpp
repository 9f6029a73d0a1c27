// SPDX-License-Identifier: Apache-2.0
// dtypes.hpp  The type names of shape files and of `tilewright bench` and `tune`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/precision.hpp"
#include "tools/request/words.hpp"

namespace tw::bench {

/// "bf16_f32": bf16 operands, float32 result. Of 8-bit floats sums are promoted every 128 of K;
/// _64 every 64, _fast never. _row: a scale for each row of A and each column of B; _block: 1x128
/// scales of A, 128x128 scales of B; _1x128 and _128x128: those scales of both. They are float32.
/// mxfp8, mxfp4, nvfp4: the formats of problem/block_scaled.hpp.
struct dtype_row {
  std::string_view name;
  elem ab, d;
  std::optional<elem> b = {};  // nothing: ab
  gemm_precision precision = {};
  ab_table<std::optional<scaling>> scales = {};
  std::optional<block_format> format = {}, format_d = {};  // of A and B; of D
};
inline constexpr gemm_precision fast{.promote_k = 0}, promoted_64{.promote_k = 64},
    f16_sums{.f16_sums = true};
inline constexpr std::array<dtype_row, 45> dtypes = {{
    {"bf16", elem::bf16, elem::bf16},
    {"bf16_f32", elem::bf16, elem::f32},
    {"fp16", elem::f16, elem::f16},
    {"f16", elem::f16, elem::f16},
    {"fp16_f32", elem::f16, elem::f32},
    {"f16_f32", elem::f16, elem::f32},
    {"f16_f16sums", elem::f16, elem::f16, {}, f16_sums},
    {"fp16_f16acc", elem::f16, elem::f16, {}, f16_sums},
    {"fp8", elem::e4m3, elem::bf16},
    {"fp8_fast", elem::e4m3, elem::bf16, {}, fast},
    {"fp8_row", elem::e4m3, elem::bf16, {}, {}, {scaling::row, scaling::row}},
    {"fp8_row_fast", elem::e4m3, elem::bf16, {}, fast, {scaling::row, scaling::row}},
    {"fp8_block", elem::e4m3, elem::bf16, {}, {}, {scaling::block_1x128, scaling::block_128x128}},
    {"fp8_1x128", elem::e4m3, elem::bf16, {}, {}, {scaling::block_1x128, scaling::block_1x128}},
    {"fp8_128x128",
     elem::e4m3,
     elem::bf16,
     {},
     {},
     {scaling::block_128x128, scaling::block_128x128}},
    {"e4m3", elem::e4m3, elem::bf16},
    {"e4m3_bf16", elem::e4m3, elem::bf16},
    {"e4m3_f16", elem::e4m3, elem::f16},
    {"e4m3_f32", elem::e4m3, elem::f32},
    {"e4m3_e4m3", elem::e4m3, elem::e4m3},
    {"e4m3_e5m2", elem::e4m3, elem::e5m2},
    {"e4m3_64", elem::e4m3, elem::bf16, {}, promoted_64},
    {"e4m3_fast", elem::e4m3, elem::bf16, {}, fast},
    {"e4m3_fast_f32", elem::e4m3, elem::f32, {}, fast},
    {"e4m3_fast_e4m3", elem::e4m3, elem::e4m3, {}, fast},
    {"e4m3xe5m2", elem::e4m3, elem::bf16, elem::e5m2},
    {"e4m3xe5m2_fast", elem::e4m3, elem::bf16, elem::e5m2, fast},
    {"e5m2xe4m3", elem::e5m2, elem::bf16, elem::e4m3},
    {"e5m2xe4m3_fast", elem::e5m2, elem::bf16, elem::e4m3, fast},
    {"e5m2", elem::e5m2, elem::bf16},
    {"e5m2_f32", elem::e5m2, elem::f32},
    {"int8", elem::s8, elem::s32},
    {"s8", elem::s8, elem::s32},
    {"s8_f32", elem::s8, elem::f32},
    {"s8_bf16", elem::s8, elem::bf16},
    {"s8_f16", elem::s8, elem::f16},
    {"s8xu8", elem::s8, elem::s32, elem::u8},
    {"u8xs8", elem::u8, elem::s32, elem::s8},
    {"u8", elem::u8, elem::s32},
    {"u8_bf16", elem::u8, elem::bf16},
    {"tf32", elem::tf32, elem::f32},
    {"f32", elem::f32, elem::f32},
    {"mxfp8", elem::e4m3, elem::bf16, {}, {}, {}, block_format::mxfp8},
    {"mxfp4", elem::e2m1, elem::bf16, {}, {}, {}, block_format::mxfp4},
    {"nvfp4", elem::e2m1, elem::bf16, {}, {}, {}, block_format::nvfp4},
}};

/// The row of a name, or of a name and a type of D after it: "fp8_block_e4m3", "nvfp4_mxfp8".
inline std::optional<dtype_row> find_dtype(std::string_view name) {
  auto const listed = [](std::string_view word) -> std::optional<dtype_row> {
    for (auto const& row : dtypes)
      if (row.name == word) return row;
    return std::nullopt;
  };
  if (auto const row = listed(name)) return row;
  std::size_t const end = name.rfind('_');
  if (end == std::string_view::npos) return std::nullopt;
  auto row = listed(name.substr(0, end));
  if (!row) return std::nullopt;
  std::string const d(name.substr(end + 1));
  row->format_d = parse_block_format(d);
  auto const type = row->format_d ? traits_of(*row->format_d).value : parse_elem(d);
  if (!type) return std::nullopt;
  row->d = *type;
  return row;
}

inline std::string dtype_names();

/// The name for find_dtype() of an operand type and a type of D, which may be empty: then that of
/// the row. Throws `rejected` TW0703 for words that are no such types.
inline std::string dtype_name(std::string const& ab, std::string const& d) {
  auto const operands = find_dtype(ab);
  bool const same = d.empty() || (operands && !operands->format_d && name(operands->d) == d);
  std::string const both = same ? ab : ab + "_" + d;
  if (!find_dtype(both))
    throw rejected({"TW0703", "types", ab + " operands and " + d + " results", dtype_names(), ""});
  return both;
}

inline std::string dtype_names() {
  std::string all;
  for (auto const& row : dtypes) all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

}  // namespace tw::bench
