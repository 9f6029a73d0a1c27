// SPDX-License-Identifier: Apache-2.0
// npy.cpp  The frame of a .npy file: magic, version, header length, dictionary, elements.
#include "tools/io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>

#include "tools/io/file_types.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/npy_dict.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

std::string_view as_text(std::span<std::byte const> b) {
  return {reinterpret_cast<char const*>(b.data()), b.size()};
}

/// The type and whether the elements have 64 bits, in a view without a shape.
matrix_view typed_view(std::string const& descr, std::string const& file, bool longs) {
  if (longs && descr == "<i8") return {.type = elem::s32, .longs = true};
  if (descr == "<f8") return {.type = elem::f32, .doubles = true};
  if (auto const type = type_of_descr(descr)) return {.type = *type};
  bool const big =
      descr == ">f4" || descr == ">f2" || descr == ">V2" || descr == ">f8" || descr == ">i4";
  refuse("TW0604", "element type of " + file, "descr " + in_quotes(descr),
         "'<f2' (float16), '<V2' (bfloat16 by ml_dtypes), '<f4' (float32), '<f8' (float64), '<V1' "
         "and '<f1' (float8_e4m3fn and float8_e5m2 by ml_dtypes), '|i1', '|u1' or '<i4'",
         big ? "big-endian data: convert with a.astype(a.dtype.newbyteorder('<'))"
             : "convert with a.astype(numpy.float32)");
}

/// Where the dictionary lies, and where the elements begin.
struct frame {
  std::string_view dict;
  std::size_t data_at;
};

frame frame_of(std::string_view content, std::string const& file) {
  if (content.size() < 10) {
    refuse("TW0603", "header of " + file, fmt::format("{} bytes", content.size()),
           "at least 10 bytes", "the file is truncated, or no .npy file");
  }
  if (!content.starts_with(magic)) {
    refuse("TW0602", "magic of " + file, in_quotes(content.substr(0, 6)), "\"\\x93NUMPY\"",
           "this is no .npy file");
  }
  int const major = static_cast<unsigned char>(content[6]);
  int const minor = static_cast<unsigned char>(content[7]);
  if (major < 1 || major > 3 || minor != 0) {
    refuse("TW0602", "version of " + file, fmt::format("{}.{}", major, minor), "1.0, 2.0 or 3.0");
  }
  std::size_t const length_bytes = major == 1 ? 2 : 4;
  std::size_t const dict_at = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < content.size(); ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(content[8 + i])) << (8 * i);
  }
  if (content.size() < dict_at + length) {
    refuse("TW0603", "header of " + file, fmt::format("a file of {} bytes", content.size()),
           fmt::format("{} bytes for the header alone", dict_at + length), "the file is truncated");
  }
  return {content.substr(dict_at, length), dict_at + length};
}

}  // namespace

matrix_view view_npy(std::span<std::byte const> content, std::string const& file,
                     accepted_shapes const& accepted) {
  frame const f = frame_of(as_text(content), file);
  npy_dict const dict = parse_npy_dict(f.dict, file);
  matrix_view m = typed_view(dict.descr, file, accepted.longs);
  bool const bytes_of_two = accepted.packed_e2m1 && m.type == elem::u8;
  std::vector<std::int64_t> const shape = folded(dict.shape, accepted, m.type == elem::u8, "");
  if (shape.size() == 3 && accepted.stacks) {
    if (dict.fortran_order)
      refuse("TW0605", "shape in " + file, "3 dimensions in Fortran order",
             "3 dimensions in C order",
             "its matrices are interleaved element by element: numpy.ascontiguousarray(a)");
    m.matrices = shape[0], m.rows = shape[1], m.cols = shape[2];
  } else if (shape.size() == 2) {
    m.rows = shape[0], m.cols = shape[1];
    m.ord = dict.fortran_order ? order::col_major : order::row_major;
  } else if (shape.size() == 1 && accepted.vectors) {
    m.rows = 1, m.cols = shape[0], m.vector = true;
  } else if (shape.empty() && accepted.scalars) {
    m.rows = m.cols = 1, m.vector = true;
  } else {
    refuse("TW0605", "shape in " + file,
           fmt::format("{} dimension{}", shape.size(), shape.size() == 1 ? "" : "s"),
           accepted.stacks ? "2 or 3 dimensions" : "2 dimensions",
           shape.size() == 3 ? accepted.for_stacks
                             : "reshape it to a matrix, for example a.reshape(1, -1)");
  }
  std::span<std::byte const> const data = content.subspan(f.data_at);
  check_extents(file, m, bytes{static_cast<std::int64_t>(data.size())}, accepted.empty);
  m.data = data.data();
  return bytes_of_two ? as_packed_e2m1(m, file) : m;
}

std::string npy_header(elem type, std::int64_t rows, std::int64_t cols, std::int64_t stack) {
  if (stack > 0) return npy_header(type, {stack, rows, cols});
  return npy_header(type, {rows, cols});
}

std::string npy_header(elem type, std::vector<std::int64_t> const& shape, bool fortran) {
  char const* const descr = in_files(type).descr;
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", descr,
                  fortran ? "True" : "False", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::size_t const frame_bytes = magic.size() + 4;
  std::size_t const used = frame_bytes + dict.size() + 1;
  dict.append((64 - used % 64) % 64, ' ').push_back('\n');
  std::string header(magic);
  header +=
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace tw
