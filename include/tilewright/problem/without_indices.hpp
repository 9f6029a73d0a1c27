// SPDX-License-Identifier: Apache-2.0
// without_indices.hpp  Groups with index arrays as groups without them: copies of the rows of A, C
//                      and D in the order of the groups, for references.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// The first number of an index array of an accepted problem that names no row; of scatter also one
/// that names a row for the second time. Arrays in this process's memory.
struct bad_index {
  bool of_scatter = false;
  std::int64_t index = 0, number = 0;
  bool twice = false;
};
std::optional<bad_index> first_bad_index(gemm_problem const& p, gemm_operands const& o);
/// Why that number is not possible (TW0496), if there is one.
std::optional<rejection> refuse_indices(gemm_problem const& p, gemm_operands const& o);

/// An accepted problem with operands in this process's memory, D as the GEMM wrote it. Rows that no
/// index of A names are zeros. A row of D that is not written has the bytes of row 0.
class without_indices {
 public:
  without_indices(gemm_problem const& p, gemm_operands const& o);
  gemm_problem const& problem() const { return problem_; }
  gemm_operands const& operands() const { return operands_; }

 private:
  using bytes = std::vector<std::byte>;
  gemm_problem problem_;
  gemm_operands operands_;
  bytes rows_, results_, scales_, vector_, weights_, addends_;
};

}  // namespace tw
