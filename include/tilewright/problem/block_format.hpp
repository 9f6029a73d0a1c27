// SPDX-License-Identifier: Apache-2.0
// block_format.hpp  The block-scaled formats as a table, and the orders of their factors.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

enum class block_format : std::uint8_t { mxfp8, mxfp4, nvfp4 };

struct block_format_traits {
  char const* name;
  elem value, factor;  // of mxfp8 operands of a GEMM may have values of e5m2 too
  int block;
  float limit;  // of a value
};
TW_HD constexpr block_format_traits traits_of(block_format f) {
  switch (f) {
    case block_format::mxfp8: return {"mxfp8", elem::e4m3, elem::ue8m0, 32, 448.0F};
    case block_format::mxfp4: return {"mxfp4", elem::e2m1, elem::ue8m0, 32, 6.0F};
    case block_format::nvfp4: break;
  }
  return {"nvfp4", elem::e2m1, elem::ue4m3, 16, 6.0F};
}

/// The order of the factors in memory (atom/scale_factors.hpp): a row after another, or as
/// tcgen05 reads them, which torch calls SWIZZLE_32_4_4.
enum class factor_order : std::uint8_t { linear, swizzled };

}  // namespace tw
