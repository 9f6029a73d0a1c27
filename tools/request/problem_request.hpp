// SPDX-License-Identifier: Apache-2.0
// problem_request.hpp  A problem as `tilewright plan`, `tilewright tune` and shape files give it:
//                    sizes, words and pitches, no matrices.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/request/epilogues.hpp"
#include "tools/request/result_scale_request.hpp"

namespace tw {

struct problem_request {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  elem ab = elem::bf16, d = elem::bf16;
  std::optional<elem> b = {};                         // not given: ab
  std::optional<block_format> format = {};            // then ab is its type
  factor_order scale_order = factor_order::swizzled;  // of its scales
  gemm_precision precision = {};
  ab_table<std::optional<scale_choice>> scales = {};  // of float32
  result_scale_request scale_d = {};
  std::string layout = "TN";  // A is T = (m, k) or N = (k, m), B is N = (n, k) or T = (k, n)
  order d_order = order::row_major;
  std::int64_t lda = 0, ldb = 0, ldd = 0;  // elements; 0: dense
  bench::named_epilogue epilogue = {};
  bool reproducible = false;
  bool add_c = false;  // of D's type, order and pitch, before the activation
  std::optional<group_desc> groups = {};
  weight_format weights = {};  // of B, prepared
};

/// The words of parse_weights(), for messages.
inline constexpr char const* weights_words =
    "mxfp4, nvfp4, int4, int4:GROUP or int4:GROUP:integers or floats";

/// "mxfp4", "nvfp4", "int4", "int4:32", "int4:64:integers": the group, which is 128 if it is not
/// given (0: all K), and the zero points. Scales of int4 have the type of the activations; for e4m3
/// the order is another one. Nothing for other words.
std::optional<weight_format> parse_weights(std::string const& text, elem activations);

/// The matrices of a batch lie one after the other, at their leading dimensions. Refuses (TW0615)
/// `add_c` beside a residual: there is one C.
gemm_problem problem_of(problem_request const& a);

}  // namespace tw
