// SPDX-License-Identifier: Apache-2.0
// scale_file.hpp  Tensors of scales in files, read and written.
#pragma once

#include <string>

#include "tilewright/problem/scale_convention.hpp"
#include "tools/operand/result_files.hpp"

namespace tw {

/// Shapes of files of scales: up to three dimensions, and (a, 1, b, 1).
inline constexpr accepted_shapes scale_shapes{
    .stacks = true, .vectors = true, .scalars = true, .of_scales = true};

/// The array of a file as a tensor of scales. Eight bits without a type ('<V1') are UE8M0.
scale_tensor scale_tensor_of(matrix_view const& file);

std::int64_t elements_of(scale_tensor const& t);

/// "f32 (300, 8)".
std::string shape_text(scale_tensor const& t);

/// The convention of this kind and library in which scales can be written without gaps. Throws
/// `rejected` TW0450 where the library has no such scaling.
scale_convention scales_to_write(scaled_operand const& x, scaling kind, scale_library library,
                                 elem type);

/// `matrices` of them one after another, in C order with an extent in front: where the first index
/// is contiguous the two extents are swapped.
scale_tensor stack_of(scale_tensor const& one, std::int64_t matrices);

/// Such a tensor in a file: in Fortran order where its first index is contiguous, or in a
/// .safetensors file with its extents swapped; `data` has the elements in the order of memory.
result_tensor scale_result(matrix_address const& to, scale_tensor const& t,
                           std::span<std::byte const> data);

}  // namespace tw
