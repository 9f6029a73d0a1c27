// SPDX-License-Identifier: Apache-2.0
// device_operands.hpp  The operands of a GEMM on the GPU, copied from host memory and back.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/problem/operand.hpp"
#include "tools/operand/device_memory.hpp"

namespace tw {

/// An operand in host memory: the lines of a matrix, or bytes.
inline matrix_view view_of(gemm_problem const& p, operand_desc const& x, std::byte const* host) {
  matrix_desc const* const m = matrix_of(p, x.is);
  if (m == nullptr || (x.is <= role::b && weights(p, x.is)))
    return {elem::u8, order::row_major, 1, x.bytes(), host};
  bool const rows = m->ord == order::row_major;
  std::int64_t const lines = x.step[0].count;
  return {m->type,
          m->ord,
          rows ? lines : x.run_elems,
          rows ? x.run_elems : lines,
          host,
          m->batch_stride_elems == 0 ? 1 : x.step[1].count};
}

/// Bytes that the copies of all operands take.
inline bytes memory_of_copies(gemm_problem const& p) {
  bytes need{0};
  for (operand_desc const& x : operands_of(p)) need = need + view_of(p, x, nullptr).padded_size();
  return need;
}

/// Copies of operands whose matrices are dense on the host. The lines of the copies are padded, so
/// that no launch copies them. Without a workspace. Matrix has the members of device_matrix, whose
/// errors are thrown.
template <class Matrix = device_matrix>
class copied_operands {
 public:
  copied_operands(gemm_problem const& p, gemm_operands const& host) : problem_(p) {
    for (operand_desc const& x : operands_of(p)) {
      auto* const at = static_cast<std::byte*>(const_cast<void*>(address(host, x.is)));
      auto to = std::make_unique<Matrix>(view_of(p, x, at));
      matrix_desc* const m = matrix_of(problem_, x.is);
      if (!x.written || p.groups) to->upload();  // rows of no group are not written
      bool const bytes_alone = x.is <= role::b && weights(p, x.is);
      if (m != nullptr && !bytes_alone) *m = to->desc();
      set_address(operands_, x.is, to->data());
      copies_.push_back({std::move(to), x.written ? at : nullptr});
    }
  }
  /// The problem with the pitches and strides of the copies.
  gemm_problem const& problem() const { return problem_; }
  gemm_operands const& operands() const { return operands_; }
  /// Copies the results of the GEMM to the host.
  void download() const {
    for (copy const& c : copies_)
      if (c.written_to != nullptr) c.matrix->download(c.written_to);
  }

 private:
  struct copy {
    std::unique_ptr<Matrix> matrix;
    std::byte* written_to;  // on the host; nullptr: an input
  };
  gemm_problem problem_;
  gemm_operands operands_;
  std::vector<copy> copies_;
};

}  // namespace tw
