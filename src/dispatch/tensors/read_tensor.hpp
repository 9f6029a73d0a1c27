// SPDX-License-Identifier: Apache-2.0
// read_tensor.hpp  Parts of gemm_of_tensors(): scale tensors, words, texts of refusals.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tilewright/dispatch/tensors.hpp"
#include "tilewright/problem/block_scale_convention.hpp"

namespace tw {

[[noreturn]] inline void refuse_argument(char const* code, std::string what, std::string got,
                                         std::string need, std::string hint = {}) {
  throw rejected({code, std::move(what), std::move(got), std::move(need), std::move(hint)});
}

/// "(128, 64)"; nullptr: of strides in C order.
std::string list_text(std::int64_t const* list, int rank);

/// Stride of a dimension, in elements of the tensor.
std::int64_t stride_of(tensor_argument const& t, int dimension);

/// A tensor of up to three extents. Throws `rejected` TW0481, TW0483.
scale_tensor scale_tensor_of(tensor_argument const& t, char const* argument);

/// Throws `rejected` TW0485 if the tensor is on another device.
void check_place(tensor_argument const& t, char const* argument, tensor_place at);

/// The groups of the arguments; p has the extents of A and B, of which the length of `gather`
/// replaces one. Throws `rejected` TW0482, TW0483, TW0484, TW0486, TW0616.
void read_groups(gemm_arguments const& g, tensor_matrix const& a, tensor_matrix const& b,
                 gemm_problem& p);
/// Of groups: a vector for each group along the extent that they do not divide.
void read_bias_of_groups(tensor_argument const& t, gemm_problem& p);
/// groups.scatter_to: the rows, or columns, of D (or C, which has them too), which `scatter` names.
void read_scatter(tensor_matrix const& d, char const* name, gemm_problem& p);
/// A value for each row, or column, of D that groups divide. Needs groups.scatter_to.
void read_row_weight(tensor_argument const& t, gemm_problem& p);
/// The word of the status of groups.
std::uint32_t* status_word(gemm_arguments const& g, tensor_place at);
/// Prepared weights as B in the type of A: (k, n), column-major. p.alpha is multiplied by their
/// factor. Throws `rejected` TW0466, TW0482, TW0616.
tensor_matrix read_weights(gemm_arguments const& g, elem multiplied, gemm_problem& p);

/// A word of an argument, or TW0486 with the words that it may be.
block_format format_of_word(std::string_view word, char const* argument);

/// Scales of A or of B. Throws `rejected` TW0450, TW0451, TW0486.
scale_desc read_scale(gemm_arguments const& g, gemm_problem const& p, role of,
                      std::optional<block_format> format);

/// The block-scaled format of A and B: as given, or by types and scales; nothing if they have
/// none. p: its extents, and the types of A and B.
std::optional<block_format> format_of_arguments(gemm_arguments const& g, gemm_problem const& p);

/// The words of scale_d_as.
struct result_scale_word {
  std::optional<block_format> format;
  factor_order order = factor_order::swizzled;
  std::optional<scaling> kind;  // row or block_1x128; nothing: one scale is given
  std::optional<scale_library> library;
};
result_scale_word parse_result_scale(std::string_view text);

/// Scales of D in the tensor scale_d. Throws `rejected`.
output_scales read_result_scale(gemm_arguments const& g, gemm_problem const& p);

/// The tensor of scales of D without gaps that a word describes, of one matrix; of a block-scaled
/// D a vector of bytes. `rank` 0: one scale.
scale_tensor dense_result_scales(result_scale_word const& w, gemm_problem const& p);

}  // namespace tw
