// SPDX-License-Identifier: Apache-2.0
// tensor_map_gpu.hpp  Tensor maps for the GPU: the driver encodes them.
#pragma once

#include "tilewright/arch/tensor_map.hpp"

namespace tw {

/// A CUtensorMap; elements outside the tensor read as zero. Throws `rejected`: TW0310 if the driver
/// refuses, TW0501 in a build without CUDA.
tensor_map encode_tensor_map_gpu(tensor_map_desc const& d);

/// Points a map at another tensor of the same shape, `base` 16-byte aligned. Throws as above.
/// CUDA driver API, "Tensor Map Object Management", cuTensorMapReplaceAddress.
void readdress_tensor_map_gpu(tensor_map& map, void const* base);

}  // namespace tw
