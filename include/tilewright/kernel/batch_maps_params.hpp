// SPDX-License-Identifier: Apache-2.0
// batch_maps_params.hpp  What the launch that writes the maps of a batch by pointers is given.
#pragma once

#include "tilewright/arch/types.hpp"

namespace tw {

/// The maps of one operand.
struct batch_maps_of {
  tensor_map like;               // of a matrix at any address
  tensor_map* maps;              // in global memory, one for each product; nullptr: none wanted
  void const* const* addresses;  // in global memory
};

struct batch_maps_params {
  batch_maps_of operand[3];
  int batch;
};

}  // namespace tw
