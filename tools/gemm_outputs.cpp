// SPDX-License-Identifier: Apache-2.0
// gemm_outputs.cpp  Paths are compared as files; results go to temporary files first.
#include "tools/gemm_outputs.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "tools/guarded.hpp"
#include "tools/io/refuse.hpp"

namespace tw {

void check_apart(std::vector<gemm_output> const& outputs, gemm_request const& r) {
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    gemm_output const& out = outputs[i];
    for (std::size_t before = 0; before < i; ++before)
      if (same_file(outputs[before].path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               fmt::format("the file that {} goes to", outputs[before].content), "a separate file",
               "each result replaces its whole file");
    epilogue_request const& e = r.epilogue;
    for (std::string const& operand :
         {r.a, r.b, r.c, r.scale_a, r.scale_b, r.second_a, r.second_b,
          r.scale_d.computed() ? "" : r.scale_d.text, e.bias, e.row_scale, e.col_scale, e.residual})
      if (!operand.empty() && operand != "-" && same_file(parse_address(operand).path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               "the file of an operand", "a separate file");
  }
}

void gemm_results::add(matrix_address const& to, matrix_view const& m,
                       std::vector<std::int64_t> const& shape) {
  std::string header = array_header(to, m.type, shape);
  std::span<std::byte const> const data(m.data, static_cast<std::size_t>(m.size().count));
  if (to.format == file_format::stream) {
    stdout_header_ = std::move(header), stdout_data_ = data;
    return;
  }
  files_.push_back(std::make_unique<output_file>(to.path));
  files_.back()->write(std::as_bytes(std::span(header)));
  files_.back()->write(data);
}
void gemm_results::add(matrix_address const& to, std::string const& header,
                       matrix_view const& line) {
  files_.push_back(std::make_unique<output_file>(to.path));
  files_.back()->write(std::as_bytes(std::span(header)));
  files_.back()->write({line.data, static_cast<std::size_t>(line.size().count)});
}
void gemm_results::commit() {
  std::fwrite(stdout_header_.data(), 1, stdout_header_.size(), stdout);
  std::fwrite(stdout_data_.data(), 1, stdout_data_.size(), stdout);
  flush_stdout();
  for (auto const& file : files_) file->commit();
}

host_buffer one_to_a_byte(matrix_view const& m) {
  std::int64_t const count = m.count().count;
  host_buffer wide(bytes{count});
  for (std::int64_t i = 0; i < count; ++i)
    wide.data()[i] = m.data[i / 2] >> (i % 2 * 4) & std::byte{0xF};
  return wide;
}

}  // namespace tw
