// SPDX-License-Identifier: Apache-2.0
// tma_map.hpp  Derived TMA parameters as the description that the driver and the emulator take.
//
// Needs:    a type with as many bits as the elements of the parameters [TW0230]
// Ensures:  check_tensor_map accepts the description where its base is aligned
// Example:  tests/atom/tma_params_test.cpp
#pragma once

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/atom/tma_params.hpp"

namespace tw {

inline tensor_map_desc make_tensor_map_desc(tma_params const& p, elem type, void* base) {
  if (size_bits(type) != p.element_bits) refuse_split_value(size_bits(type), p.element_bits);
  tensor_map_desc d;
  d.base = base;
  d.type = type;
  d.rank = p.dims;
  for (int i = 0; i < p.dims; ++i) {
    d.dim[i] = p.global_dim[i];
    d.box[i] = static_cast<std::int32_t>(p.box[i]);
    if (i > 0) d.stride_bytes[i - 1] = p.stride_bytes[i];
  }
  d.swizzle = mode_of(p.swizzle);
  return d;
}

}  // namespace tw
