// SPDX-License-Identifier: Apache-2.0
// families.hpp  The device kernels, one family per source file.
#pragma once

#include "registry/registry.hpp"

namespace tw::registry {

template <elem AB, elem D, operand_major A, operand_major B>
family<gpu_launcher> gpu_family();  // defined by gemm_TYPE_OUTPUT[_LAYOUT].cu

}  // namespace tw::registry
