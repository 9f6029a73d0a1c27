// SPDX-License-Identifier: Apache-2.0
// matrix_view.cpp  The checks that every reader makes before it hands out a view.
#include "tools/io/matrix_view.hpp"

#include <fmt/format.h>

#include "tools/io/refuse.hpp"

namespace tw {

std::string text_of(elem type, std::int64_t rows, std::int64_t cols) {
  return fmt::format("{}x{} {}", rows, cols, name(type));
}

std::string type_text(matrix_view const& m) {
  return m.doubles ? "f64" : m.longs ? "s64" : std::string(name(m.type));
}

std::vector<std::int64_t> folded(std::vector<std::int64_t> shape, accepted_shapes const& accepted,
                                 bool is_u8, std::string_view name) {
  std::size_t const rank = shape.size();
  if (accepted.of_scales && (rank == 4 || rank == 5) && shape[rank - 1] == 1 &&
      shape[rank - 3] == 1) {
    shape.erase(shape.end() - 1);
    shape.erase(shape.end() - 2);
    return shape;
  }
  constexpr std::int64_t block_bytes = 16;  // 32 elements
  bool const blocks = rank == 4 || (rank == 3 && (!accepted.stacks || name.ends_with("blocks")));
  std::int64_t row = 0;
  if (accepted.packed_e2m1 && is_u8 && blocks && shape[rank - 1] == block_bytes &&
      !__builtin_mul_overflow(shape[rank - 2], block_bytes, &row)) {
    shape.pop_back();
    shape.back() = row;
  }
  return shape;
}

matrix_view as_packed_e2m1(matrix_view m, std::string const& file) {
  if (m.ord == order::col_major)
    refuse("TW0605", "shape in " + file, "uint8 in Fortran order",
           "C order: two elements of e2m1 of a byte are neighbours in a row",
           "numpy.ascontiguousarray(a)");
  m.type = elem::e2m1;
  if (__builtin_mul_overflow(m.cols, std::int64_t{2}, &m.cols))
    refuse("TW0606", "shape in " + file, "two elements of e2m1 for each byte",
           "a size in bytes below 2^63", "the header is corrupt");
  return m;
}

void check_extents(std::string const& file, matrix_view const& m, bytes present, bool empty) {
  std::string const stack = m.matrices == 1 ? "" : fmt::format("{}x", m.matrices);
  std::string const shape = fmt::format("{}{}x{} {}", stack, m.rows, m.cols, type_text(m));
  std::int64_t needed = m.doubles || m.longs ? 64 : size_bits(m.type), lines = 0;
  bool too_large = __builtin_mul_overflow(m.matrices, m.rows, &lines);
  for (std::int64_t const extent : {m.matrices, m.rows, m.cols})
    too_large = __builtin_mul_overflow(needed, extent, &needed) || too_large;
  needed = needed / 8 + (needed % 8 != 0 ? 1 : 0);
  if (too_large)
    refuse("TW0606", "shape in " + file, shape, "a size in bytes below 2^63",
           "the header is corrupt");
  if (!empty && (m.matrices < 1 || m.rows < 1 || m.cols < 1))
    refuse("TW0607", "shape in " + file, shape, "at least one row and one column");
  if (present.count < needed) {
    refuse("TW0603", "data of " + file, fmt::format("{} bytes", present.count),
           fmt::format("{} bytes for {}", needed, shape), "the file is truncated");
  }
}

}  // namespace tw
