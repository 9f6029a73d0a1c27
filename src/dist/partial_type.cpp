// SPDX-License-Identifier: Apache-2.0
// partial_type.cpp  The type of partial results.
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {

elem partial_type(gemm_problem const& p, bool float32_partials) {
  if (is_8_bit_integer(p.a.type) && !has_scales(p)) return elem::s32;
  return float32_partials || !is_wide_float(p.d.type) ? elem::f32 : p.d.type;
}

}  // namespace tw::dist
