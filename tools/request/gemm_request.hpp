// SPDX-License-Identifier: Apache-2.0
// gemm_request.hpp  Options of `tilewright gemm`.
#pragma once

#include <optional>
#include <string>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/precision.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/request/device_choice.hpp"
#include "tools/request/epilogue_request.hpp"
#include "tools/request/group_files.hpp"
#include "tools/request/rank_options.hpp"
#include "tools/request/result_scales.hpp"

namespace tw {

/// Options of A or of B.
struct factor_request {
  std::string file;        // its address
  bool transpose = false;  // the file holds the transpose
  std::string scale;       // of its scales: the address of a file, or a number; may be empty
  scale_choice scale_as;   // their convention, if the command line names it
  std::optional<factor_order> order;      // of block scales, if it is named
  std::string second;                     // of nvfp4: the address of a file, or a number
  bool second_is_reciprocal = false;      // 1 / the second level
  std::optional<scaling> quantised_with;  // quantise a 16- or 32-bit matrix so first
};

struct gemm_request {
  ab_table<factor_request> of;
  std::string c, d;  // addresses of files; c may be empty
  epilogue_request epilogue;
  float alpha = 1.0F;
  std::optional<float> beta;    // not given: 1 with C, 0 without
  std::optional<elem> dtype;    // operands; not given: see operand_types()
  std::optional<elem> dtype_b;  // of B; not given: as A
  gemm_precision precision;
  bool truncates_tf32 = false;  // the low 13 bits of float32 numbers are ignored
  bool reproducible = false;
  std::optional<block_format> format;  // of block-scaled operands
  result_scale_request scale_d;
  std::optional<elem> out_dtype;  // not given: see default_d()
  device_choice device = device_choice::automatic;
  int threads = 0;              // of the emulator; 0: one per core
  std::string trace, timeline;  // of the emulated run: Chrome trace, SVG; empty: none
  group_request groups;
  rank_request ranks;
  bool batch = false;    // .npy files may hold stacks of matrices
  bool hazards = false;  // of the emulated run
  bool check = false, json = false, quiet = false;
  std::string family = {};  // of the kernel; empty: any
  std::string arch = {};    // "sm100"; empty: that of the device or of the family
};

/// The operands' types: --dtype and --dtype-b, for tf32 f32, which is rounded to tf32 when it is
/// loaded, unless the low bits are to be ignored. Without them those of the files if both are
/// 8-bit floats or both 8-bit integers, bf16 if either file is bf16, f16 if both are f16, else
/// bf16.
constexpr ab_table<elem> operand_types(gemm_request const& r, elem a, elem b) {
  auto const stored = [&](elem type) {
    bool const as_tf32 = is_multiplied_as_tf32(type);
    return !as_tf32 ? type : r.truncates_tf32 ? elem::tf32 : elem::f32;
  };
  if (r.dtype) return {stored(*r.dtype), stored(r.dtype_b.value_or(*r.dtype))};
  bool const own = (is_fp8(a) && is_fp8(b)) || (is_8_bit_integer(a) && is_8_bit_integer(b));
  elem const type = a == elem::f16 && b == elem::f16 ? elem::f16 : elem::bf16;
  return {own ? a : type, r.dtype_b.value_or(own ? b : type)};
}

/// The type to which a bf16, f16 or f32 operand is quantised: the type that the options name; else
/// s8 if the other operand's file has 8-bit integers, otherwise e4m3.
constexpr elem quantised_type(gemm_request const& r, std::optional<elem> own,
                              std::optional<scaling> const& other_scaling, elem other) {
  if (own || r.dtype) return own ? *own : *r.dtype;
  return !other_scaling && is_8_bit_integer(other) ? elem::s8 : elem::e4m3;
}

/// The type of D if no option gives it: that of the operands, of 8-bit floats bf16, of integers
/// the sum, of f32 and tf32 f32. With scales of D e4m3, of integers s8. With scales of A or B
/// integers have bf16, for the sum takes none.
constexpr elem default_d(elem operand, bool scaled_d = false, bool scaled_operands = false) {
  if (scaled_d) return is_8_bit_integer(operand) ? elem::s8 : elem::e4m3;
  if (scaled_operands && is_8_bit_integer(operand)) return elem::bf16;
  return usual_result(operand);
}

}  // namespace tw
