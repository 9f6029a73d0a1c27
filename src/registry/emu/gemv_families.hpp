// SPDX-License-Identifier: Apache-2.0
// gemv_families.hpp  The emulated GEMV kernels, one family per source file.
#pragma once

#include "registry/gemv.hpp"

namespace tw::registry {

template <elem AB, elem D>
gemv_family<gemv_emu_launcher> emu_gemv_family();  // defined by gemv_TYPE_OUTPUT.cpp

}  // namespace tw::registry
