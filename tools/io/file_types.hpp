// SPDX-License-Identifier: Apache-2.0
// file_types.hpp  Element types by the names that .npy and .safetensors files give them.
//
// ml_dtypes makes NumPy write float8_e5m2 as '<f1', and float8_e4m3fn as '<V1', which are 8 bits of
// a type without a name: they are read as e4m3, and as UE8M0 in a file of scales. NumPy reads '<V1'
// back as '|V1'. Its types of 4 and 6 bits are '<V1' too, a byte for each element; .safetensors
// files have them packed, the first element in the low bits. Without ml_dtypes NumPy reads neither.
// Measured with NumPy 2.4, ml_dtypes 0.6 (tests/tools/data/make.py); safetensors, README, "Format".
#pragma once

#include <optional>
#include <string_view>

#include "tilewright/base/elem.hpp"

namespace tw {

struct file_type {
  elem type;
  char const* descr;        // of .npy files
  char const* descr_again;  // that NumPy writes too
  char const* dtype;        // of .safetensors files
};

inline constexpr file_type file_types[] = {
    {elem::f32, "<f4", "<f4", "F32"},       {elem::f16, "<f2", "<f2", "F16"},
    {elem::bf16, "<V2", "|V2", "BF16"},     {elem::e4m3, "<V1", "|V1", "F8_E4M3"},
    {elem::e5m2, "<f1", "|f1", "F8_E5M2"},  {elem::s8, "|i1", "<i1", "I8"},
    {elem::u8, "|u1", "<u1", "U8"},         {elem::s32, "<i4", "<i4", "I32"},
    {elem::ue8m0, "<V1", "|V1", "F8_E8M0"}, {elem::ue4m3, "<V1", "|V1", "F8_E4M3"},
    {elem::e2m1, "<V1", "|V1", "F4"},       {elem::e2m3, "<V1", "|V1", "F6_E2M3"},
    {elem::e3m2, "<V1", "|V1", "F6_E3M2"},
};

/// The type that NumPy's bytes without a name, '<V1', are read as.
inline constexpr elem unnamed_byte = elem::e4m3;

constexpr std::optional<elem> type_of_descr(std::string_view descr) {
  for (file_type const& t : file_types)
    if (descr == t.descr || descr == t.descr_again) return t.type;
  return std::nullopt;
}
static_assert(type_of_descr("<V1") == unnamed_byte);
constexpr std::optional<elem> type_of_dtype(std::string_view dtype) {
  for (file_type const& t : file_types)
    if (dtype == t.dtype) return t.type;
  return std::nullopt;
}

/// True for the types of AMD's 8-bit floats in .safetensors files. Their bits mean other numbers
/// than the bits of e4m3 and e5m2.
constexpr bool is_fnuz(std::string_view dtype) { return dtype.ends_with("FNUZ"); }

/// The row of a type; the row of f32 if files have no name for the type.
constexpr file_type const& in_files(elem type) {
  for (file_type const& t : file_types)
    if (t.type == type) return t;
  return file_types[0];
}

}  // namespace tw
