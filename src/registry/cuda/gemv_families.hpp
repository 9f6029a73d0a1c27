// SPDX-License-Identifier: Apache-2.0
// gemv_families.hpp  The GEMV kernels for the device, one family per source file.
#pragma once

#include "registry/gemv.hpp"

namespace tw::registry {

template <elem AB, elem D>
gemv_family<gemv_gpu_launcher> gpu_gemv_family();  // defined by gemv_TYPE_OUTPUT.cu

}  // namespace tw::registry
