// SPDX-License-Identifier: Apache-2.0
// matrix_file.cpp  Suffix to format, in both directions.
#include "tools/io/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "tools/io/in_quotes.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/packed_tensor.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors.hpp"
#include "tools/io/safetensors_index.hpp"
#include "tools/io/stream.hpp"

namespace tw {
namespace {

matrix_view view_of(matrix_address const& a, std::span<std::byte const> content,
                    accepted_shapes const& accepted) {
  if (a.format == file_format::npy) return view_npy(content, a.path, accepted);
  return view_safetensors(content, a.path, a.tensor, accepted);
}

/// A stream is a .npy file if it begins as one.
file_format format_of(std::span<std::byte const> content) {
  bool const npy = !content.empty() && content[0] == std::byte{0x93};
  return npy ? file_format::npy : file_format::safetensors;
}

/// "FILE.safetensors:TENSOR" and its like: the path ends with `suffix`.
std::optional<matrix_address> with_tensor(std::string const& text, std::string const& suffix,
                                          file_format format) {
  std::size_t const colon = text.find(suffix + ":");
  if (colon != std::string::npos) {
    std::size_t const split = colon + suffix.size();
    return matrix_address{format, text.substr(0, split), text.substr(split + 1)};
  }
  if (text.ends_with(suffix)) return matrix_address{format, text, {}};
  return std::nullopt;
}

}  // namespace

std::string output_tensor(matrix_address const& a) { return a.tensor.empty() ? "D" : a.tensor; }

matrix_address parse_address(std::string const& text) {
  if (auto const a = with_tensor(text, ".safetensors.index.json", file_format::index)) return *a;
  if (auto const a = with_tensor(text, ".safetensors", file_format::safetensors)) return *a;
  if (text.ends_with(".npy")) return {file_format::npy, text, {}};
  if (std::size_t const colon = text.find(':'); is_stream(text.substr(0, colon)))
    return {file_format::stream, text.substr(0, colon),
            colon == std::string::npos ? "" : text.substr(colon + 1)};
  refuse_gguf(text);
  refuse("TW0611", "name of a matrix file", text.empty() ? "no name" : text,
         "FILE.npy or FILE.safetensors:TENSOR",
         "also FILE.safetensors.index.json:TENSOR, and - for stdin and stdout");
}

matrix_file::matrix_file(matrix_address const& address, accepted_shapes const& accepted) {
  matrix_address at = address;
  if (at.format == file_format::stream) {
    stream_ = read_stream(at.path);
    at.format = format_of(stream_);
    view_ = view_of(at, stream_, accepted);
    return;
  }
  if (at.format == file_format::index)
    at = {file_format::safetensors, file_of_tensor(at.path, at.tensor), at.tensor};
  file_.emplace(at.path);
  view_ = view_of(at, file_->content(), accepted);
}

std::string array_header(matrix_address const& address, elem type,
                         std::vector<std::int64_t> const& shape) {
  return address.format == file_format::safetensors
             ? safetensors_header(output_tensor(address), type, shape)
             : npy_header(type, shape);
}

void check_output(matrix_address const& address, std::vector<matrix_address> const& together) {
  if (address.format == file_format::stream) {
    if (address.path == "-" && address.tensor.empty()) return;
    refuse("TW0612", "output " + address.text(), "a stream",
           "- (a .npy file on stdout), or a file");
  }
  if (address.format == file_format::index)
    refuse("TW0612", "output " + address.text(), "an index of a sharded checkpoint",
           "FILE.npy or FILE.safetensors:TENSOR");
  check_writable(address.path);
  array_header(address, elem::f32, {1, 1});  // refuses a bad tensor name
  if (address.format != file_format::safetensors || !std::filesystem::exists(address.path)) return;
  mapped_file const old(address.path);
  for (tensor_entry const& t : list_safetensors(old.content(), address.path).tensors) {
    bool const replaced = std::ranges::any_of(together, [&](matrix_address const& a) {
      return a.format == address.format && same_file(a.path, address.path) &&
             t.name == output_tensor(a);
    });
    if (replaced || t.name == output_tensor(address)) continue;
    refuse("TW0612", "output " + address.path, "a file that holds tensor " + in_quotes(t.name),
           fmt::format("a new file, or one that holds {} alone", in_quotes(output_tensor(address))),
           "writing replaces the whole file");
  }
}

void write_matrix(matrix_address const& address, matrix_view const& matrix) {
  std::string const header = array_header(address, matrix.type, {matrix.rows, matrix.cols});
  output_file out(address.path);
  out.write(std::as_bytes(std::span(header)));
  out.write({matrix.data, static_cast<std::size_t>(matrix.size().count)});
  out.commit();
}

}  // namespace tw
