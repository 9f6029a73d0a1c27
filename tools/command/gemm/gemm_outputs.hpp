// SPDX-License-Identifier: Apache-2.0
// gemm_outputs.hpp  The files that `tilewright gemm` writes: apart from each other and from the
//                   operands, and all of them or none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/io/matrix_file.hpp"
#include "tools/io/matrix_view.hpp"
#include "tools/operand/memory.hpp"
#include "tools/request/gemm_request.hpp"

namespace tw {

/// A result, before it is there.
struct gemm_output {
  std::string text, path;  // as given; of the file
  char const *option, *content;
  std::optional<matrix_address> array = std::nullopt;  // nothing: no file of arrays
};

/// The first is D, which may replace an operand; what else is written may not. Refuses (TW0612) two
/// results in one file that are no tensors of it: the second would replace the first.
void check_apart(std::vector<gemm_output> const& outputs, gemm_request const& r);

/// Elements of 4 bits in a .npy file, as ml_dtypes has them: a byte for each.
host_buffer one_to_a_byte(matrix_view const& m);

}  // namespace tw
