// SPDX-License-Identifier: Apache-2.0
// result_files.cpp  One file for each path; in a .safetensors file wide elements come first, so
//                   that all are aligned.
#include "tools/operand/result_files.hpp"

#include <algorithm>
#include <cstdio>

#include "tools/io/npy.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/number_or_file.hpp"

namespace tw {
namespace {

std::span<std::byte const> bytes_of_text(std::string const& text) {
  return std::as_bytes(std::span(text));
}

std::string header_of_result(result_tensor const& t) {
  if (t.to.format == file_format::safetensors) return array_header(t.to, t.type, t.shape);
  return npy_header(t.type, t.shape, t.fortran);
}

void print_bytes(std::span<std::byte const> data) {
  std::fwrite(data.data(), 1, data.size(), stdout);
}

}  // namespace

bool share_a_file(matrix_address const& a, matrix_address const& b) {
  return a.format == file_format::safetensors && b.format == file_format::safetensors &&
         output_tensor(a) != output_tensor(b) && same_file(a.path, b.path);
}

void check_outputs(std::vector<matrix_address> const& all) {
  for (matrix_address const& to : all) check_output(to, all);
}

void check_apart(matrix_address const& from, std::string const& scale,
                 std::vector<matrix_address> const& all) {
  bool const scale_file = !scale.empty() && !is_number(scale);
  for (std::size_t i = 1; i < all.size(); ++i) {
    matrix_address const& to = all[i];
    std::string const output = "output " + to.text();
    if (to.format == file_format::stream)
      refuse("TW0612", output, "a stream", "FILE.npy or FILE.safetensors:TENSOR",
             "stdout takes one array, the values");
    for (std::size_t j = 0; j < i; ++j)
      if (all[j].format != file_format::stream && !share_a_file(to, all[j]) &&
          same_file(to.path, all[j].path))
        refuse("TW0612", output, j == 0 ? "the file of the values" : "the file of another result",
               "a separate file",
               "each result replaces its whole file; .safetensors files take them as tensors with "
               "separate names");
    if (from.format != file_format::stream && same_file(from.path, to.path))
      refuse("TW0612", output, "the file of the matrix", "a separate file");
    if (scale_file && same_file(parse_address(scale).path, to.path))
      refuse("TW0612", output, "the file of the scale that is given", "a separate file");
  }
}

void result_files::write() {
  std::vector<bool> done(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    result_tensor const& first = tensors_[i];
    if (done[i] || first.to.format == file_format::stream) continue;
    std::vector<result_tensor const*> of_file{&first};
    for (std::size_t j = i + 1; j < tensors_.size(); ++j)
      if (share_a_file(first.to, tensors_[j].to)) of_file.push_back(&tensors_[j]), done[j] = true;
    std::ranges::stable_sort(of_file, std::ranges::greater{},
                             [](result_tensor const* t) { return size_bits(t->type); });
    std::string header = header_of_result(first);
    if (of_file.size() > 1) {
      std::vector<named_tensor> names;
      for (result_tensor const* t : of_file)
        names.push_back({output_tensor(t->to), t->type, t->shape});
      header = safetensors_header(names);
    }
    files_.push_back(std::make_unique<output_file>(first.to.path));
    files_.back()->write(bytes_of_text(header));
    for (result_tensor const* t : of_file) files_.back()->write(t->data);
  }
}

void result_files::commit() {
  for (result_tensor const& t : tensors_)
    if (t.to.format == file_format::stream) {
      std::string const header = header_of_result(t);
      print_bytes(bytes_of_text(header));
      print_bytes(t.data);
    }
  flush_stdout();
  for (auto const& file : files_) file->commit();
}

std::string name_beside(matrix_address const& out, std::string const& what) {
  char const* const suffix = out.format == file_format::npy ? ".npy" : ".safetensors";
  if (out.format == file_format::stream)
    refuse("TW0612", "output " + out.text(), "a stream, which has one array",
           "a file for the scales: --scale-out FILE");
  std::string path = out.path;
  path.insert(path.size() - std::string(suffix).size(), what);
  return out.tensor.empty() ? path : path + ":" + out.tensor;
}

}  // namespace tw
