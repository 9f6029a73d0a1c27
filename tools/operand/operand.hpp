// SPDX-License-Identifier: Apache-2.0
// operand.hpp  A matrix of a file in the type the GEMM needs: the file's own bytes if it is
// that type already, else a converted copy in the same order.
#pragma once

#include "tools/io/matrix_view.hpp"
#include "tools/operand/memory.hpp"

namespace tw {

/// True when `m` must be copied to be used as `type`: another type, or an address that is no
/// multiple of the element (an old .safetensors file may begin its data anywhere).
bool needs_copy(matrix_view const& m, elem type);

/// A view of `type`; it owns the copy if there is one.
class operand {
 public:
  operand(matrix_view const& file, elem type);
  matrix_view const& view() const { return view_; }

 private:
  host_buffer copy_;
  matrix_view view_;
};

}  // namespace tw
