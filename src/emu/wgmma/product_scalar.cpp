// SPDX-License-Identifier: Apache-2.0
// product_scalar.cpp  No vector version of the multiply: the host is not an x86-64, or TW_AVX is
//                     off.
#include "emu/wgmma/product_isa.hpp"

namespace tw::emu {

product_version const* vector_product(product_isa) { return nullptr; }

}  // namespace tw::emu
