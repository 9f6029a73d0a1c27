// SPDX-License-Identifier: Apache-2.0
// gemm_outputs.hpp  The files that `tilewright gemm` writes: apart from each other and from the
//                   operands, and all of them or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/gemm_request.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/matrix_view.hpp"
#include "tools/io/output_file.hpp"
#include "tools/memory.hpp"

namespace tw {

/// A result, before it is there.
struct gemm_output {
  std::string text, path;  // as given; of the file
  char const *option, *content;
};

/// The first is D, which may replace an operand; what else is written may not. Refuses (TW0612) two
/// results in one file: the second would replace the first.
void check_apart(std::vector<gemm_output> const& outputs, gemm_request const& r);

/// Results: written first, visible after commit(). The matrices must live until then.
class gemm_results {
 public:
  void add(matrix_address const& to, matrix_view const& m, std::vector<std::int64_t> const& shape);
  void add(matrix_address const& to, std::string const& header, matrix_view const& line);
  void commit();

 private:
  std::vector<std::unique_ptr<output_file>> files_;
  std::string stdout_header_;
  std::span<std::byte const> stdout_data_;
};

/// Elements of 4 bits in a .npy file, as ml_dtypes has them: a byte for each.
host_buffer one_to_a_byte(matrix_view const& m);

}  // namespace tw
