// SPDX-License-Identifier: Apache-2.0
// data.hpp  Fills device memory with random elements: a function of seed and position alone.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tools/measure/options.hpp"

namespace tw::bench {

/// `count` elements, an even number.
void fill(void* data, std::int64_t count, elem type, data_kind kind, std::uint64_t seed,
          cudaStream_t stream);

/// `count` scales of f32, ue8m0 or ue4m3, each 1/2, 1 or 2: the reference multiplies elements by
/// them exactly.
void fill_scales(void* data, std::int64_t count, elem type, std::uint64_t seed,
                 cudaStream_t stream);

}  // namespace tw::bench
