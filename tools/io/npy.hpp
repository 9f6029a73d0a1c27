// SPDX-License-Identifier: Apache-2.0
// npy.hpp  NumPy's .npy files, versions 1.0 to 3.0: a matrix view of one, and the header of one.
//
// float16 is '<f2', float32 '<f4', float64 '<f8', integers '|i1', '|u1' and '<i4'. bfloat16 is what
// ml_dtypes makes NumPy write: '<V2' (NumPy itself reads that back as '|V2', both are accepted);
// so are 8-bit floats (file_types.hpp). Format: NumPy, numpy.lib.format.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/io/matrix_view.hpp"

namespace tw {

/// The matrix that the bytes of a .npy file hold; `file` names it in messages. Throws `rejected`:
/// TW0602 header, TW0603 truncated, TW0604 element type, TW0605 rank, TW0606 and TW0607 sizes.
matrix_view view_npy(std::span<std::byte const> content, std::string const& file,
                     accepted_shapes const& accepted = {});

/// Magic, version 1.0 and header of a row-major matrix, padded to a multiple of 64 bytes as NumPy
/// does. The elements follow it. `stack` > 0: of so many matrices, three dimensions. The second
/// form takes any number of extents, and Fortran order.
std::string npy_header(elem type, std::int64_t rows, std::int64_t cols, std::int64_t stack = 0);
std::string npy_header(elem type, std::vector<std::int64_t> const& shape, bool fortran = false);

}  // namespace tw
