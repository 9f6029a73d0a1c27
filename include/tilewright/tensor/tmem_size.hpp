// SPDX-License-Identifier: Apache-2.0
// tmem_size.hpp  Tensor memory of a CTA: 128 lanes of 512 columns of 32 bits.
// Source:   PTX ISA, "Tensor Memory"
#pragma once

namespace tw {

inline constexpr int tmem_lanes = 128;
inline constexpr int tmem_columns = 512;  // of 32 bits

}  // namespace tw
