// SPDX-License-Identifier: Apache-2.0
// matrix_file.cpp  Suffix to format, in both directions.
#include "tools/io/matrix_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "tools/io/in_quotes.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors.hpp"

namespace tw {
namespace {

std::string output_tensor(matrix_address const& a) { return a.tensor.empty() ? "D" : a.tensor; }

matrix_view view_of(matrix_address const& a, std::span<std::byte const> content, bool stacks,
                    bool vectors) {
  return a.format == file_format::npy ? view_npy(content, a.path, stacks, vectors)
                                      : view_safetensors(content, a.path, a.tensor, vectors);
}

std::string header_of(matrix_address const& a, matrix_view const& m, bool as_stack = false) {
  return a.format == file_format::npy
             ? npy_header(m.type, m.rows, m.cols, as_stack ? m.matrices : 0)
             : safetensors_header(output_tensor(a), m.type, m.rows, m.cols);
}

}  // namespace

matrix_address parse_address(std::string const& text) {
  std::string const suffix = ".safetensors";
  std::size_t const colon = text.find(suffix + ":");
  if (colon != std::string::npos) {
    std::size_t const split = colon + suffix.size();
    return {file_format::safetensors, text.substr(0, split), text.substr(split + 1)};
  }
  if (text.ends_with(suffix)) return {file_format::safetensors, text, {}};
  if (text.ends_with(".npy")) return {file_format::npy, text, {}};
  refuse("TW0611", "name of a matrix file", text.empty() ? "no name" : text,
         "FILE.npy or FILE.safetensors:TENSOR");
}

matrix_file::matrix_file(matrix_address const& address, bool stacks, bool vectors)
    : file_(address.path),
      view_(view_of(address, file_.content(), stacks, vectors)) {}

void check_output(matrix_address const& address) {
  check_writable(address.path);
  header_of(address, {elem::f32, order::row_major, 1, 1, nullptr});  // refuses a bad tensor name
  if (address.format != file_format::safetensors || !std::filesystem::exists(address.path)) return;
  mapped_file const old(address.path);
  for (tensor_entry const& t : list_safetensors(old.content(), address.path).tensors) {
    if (t.name == output_tensor(address)) continue;
    refuse("TW0612", "output " + address.path, fmt::format("a file that holds tensor {:?}", t.name),
           fmt::format("a new file, or one that holds {} alone", in_quotes(output_tensor(address))),
           "writing replaces the whole file");
  }
}

void write_matrix(matrix_address const& address, matrix_view const& matrix, bool as_stack) {
  std::string const header = header_of(address, matrix, as_stack);
  output_file out(address.path);
  out.write(std::as_bytes(std::span(header)));
  out.write({matrix.data, static_cast<std::size_t>(matrix.size().count)});
  out.commit();
}

}  // namespace tw
