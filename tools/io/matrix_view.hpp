// SPDX-License-Identifier: Apache-2.0
// matrix_view.hpp  A matrix lying somewhere in memory, dense, in the order of its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/units.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// rows x cols elements without gaps, or `matrices` of them one after the other: a batch. Does not
/// own its bytes. The reader guarantees that they are all there and that the byte count fits 63
/// bits. An extent may be 0.
struct matrix_view {
  elem type = elem::f32;
  order ord = order::row_major;
  std::int64_t rows = 0, cols = 0;
  std::byte const* data = nullptr;
  std::int64_t matrices = 1;
  bool doubles = false;  // of a file: its elements are float64, to be rounded; `type` is f32
  bool vector = false;   // the array has one dimension: NumPy's meaning of a vector in A B
  bool longs = false;    // of a file: its elements are int64; `type` is s32

  elements count() const { return {matrices * rows * cols}; }
  /// Elements below 8 bits lie packed, also across the ends of rows.
  bytes size() const { return {(bits_of(type, count()).count + 7) / 8}; }
  /// Elements between neighbouring rows (row_major) or columns (col_major).
  std::int64_t pitch_elems() const { return ord == order::row_major ? cols : rows; }
  matrix_desc desc() const { return desc(pitch_elems()); }
  /// With another distance between the lines. A single matrix is the same for a whole batch.
  matrix_desc desc(std::int64_t pitch) const {
    return {type, ord, pitch, matrices == 1 ? 0 : pitch * (ord == order::row_major ? rows : cols)};
  }

  /// Bytes of a row (row_major) or column (col_major), and of one at a pitch that TMA can address:
  /// a multiple of 16 bytes.
  bytes line() const { return bytes_of(type, elements{pitch_elems()}); }
  bytes padded_line() const { return {(line().count + 15) / 16 * 16}; }
  std::int64_t lines() const { return matrices * (ord == order::row_major ? rows : cols); }
  bytes padded_size() const { return padded_line() * lines(); }
};

/// Are the elements floats of 16 bits or more?
inline bool is_wide(matrix_view const& m) { return m.doubles || is_wide_float(m.type); }

/// The transpose of each matrix, in the same memory.
inline matrix_view transposed(matrix_view m) {
  m.ord = m.ord == order::row_major ? order::col_major : order::row_major;
  std::swap(m.rows, m.cols);
  return m;
}

/// "3x5 bf16".
std::string text_of(elem type, std::int64_t rows, std::int64_t cols);

/// "f64" for a matrix of doubles, "s64" for one of int64, else the name of its type.
std::string type_text(matrix_view const& m);

/// Shapes that a reader accepts besides matrices of at least one row and one column.
struct accepted_shapes {
  bool stacks = false;   // three dimensions, in C order: a batch of matrices
  bool vectors = false;  // one dimension: a matrix of one row
  bool empty = false;    // extents of 0
  bool scalars = false;  // no dimension: a matrix of one element
  char const* for_stacks = "add --batch to multiply stacks of matrices";  // where they are not
  bool of_scales = false;    // (a, 1, b, 1) is (a, b): blocks of a and of b with their extents
  bool of_operand = false;   // integers that pack smaller ones are refused
  bool packed_e2m1 = false;  // uint8 is two elements of e2m1, the first in the low half
  bool longs = false;        // int64 too
};

/// A shape in the extents of a matrix or a stack. With of_scales (a, 1, b, 1) becomes (a, b), and
/// (e, a, 1, b, 1) becomes (e, a, b). With packed_e2m1 blocks of 16 bytes are joined along K:
/// (..., g, 16) becomes (..., 16 g). That is done in four dimensions; in three dimensions if no
/// stacks are accepted, or if `name`, the name of the tensor, ends with "blocks".
std::vector<std::int64_t> folded(std::vector<std::int64_t> shape, accepted_shapes const& accepted,
                                 bool is_u8, std::string_view name);

/// Of bytes that hold two elements of e2m1: the view of these.
matrix_view as_packed_e2m1(matrix_view m, std::string const& file);

/// Checks what a file says of a matrix against what it holds: a byte count that fits (TW0606), all
/// bytes present (TW0603), and where it must not be empty extents of at least 1 (TW0607). `file`
/// names the file in messages.
void check_extents(std::string const& file, matrix_view const& m, bytes present, bool empty);

}  // namespace tw
