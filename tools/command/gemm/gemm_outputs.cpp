// SPDX-License-Identifier: Apache-2.0
// gemm_outputs.cpp  Paths are compared as files; results go to temporary files first.
#include "tools/command/gemm/gemm_outputs.hpp"

#include <fmt/format.h>

#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/result_files.hpp"

namespace tw {

void check_apart(std::vector<gemm_output> const& outputs, gemm_request const& r) {
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    gemm_output const& out = outputs[i];
    for (std::size_t before = 0; before < i; ++before) {
      gemm_output const& other = outputs[before];
      if (other.array && out.array && share_a_file(*other.array, *out.array)) continue;
      if (same_file(other.path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               fmt::format("the file that {} goes to", other.content), "a separate file",
               "each result replaces its whole file; .safetensors files take them as tensors with "
               "separate names");
    }
    std::vector<std::string> operands{r.c, r.scale_d.computed() ? "" : r.scale_d.text,
                                      r.epilogue.residual};
    for (role const x : a_and_b) {
      factor_request const& of = r.of[x];
      operands.insert(operands.end(), {of.file, of.scale, of.second});
    }
    for (std::string const& vector : r.epilogue.vectors.list) operands.push_back(vector);
    for (std::string const& operand : operands)
      if (!operand.empty() && operand != "-" && !is_number(operand) &&
          same_file(parse_address(operand).path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               "the file of an operand", "a separate file");
  }
}

host_buffer one_to_a_byte(matrix_view const& m) {
  std::int64_t const count = m.count().count;
  host_buffer wide(bytes{count});
  for (std::int64_t i = 0; i < count; ++i)
    wide.data()[i] = m.data[i / 2] >> (i % 2 * 4) & std::byte{0xF};
  return wide;
}

}  // namespace tw
