// SPDX-License-Identifier: Apache-2.0
// tensor_map_swizzle.cpp  A kernel that gives a tensor map the swizzle in atoms of 32 bytes.
// expect-error: [TW0237]
#include "tilewright/arch/select.hpp"

using namespace tw;

TW_DEVICE void change(tensor_map& map) {
#ifdef TW_FAIL
  tensor_map_set_swizzle<swizzle_mode::b128_base32>(map);
#else
  tensor_map_set_swizzle<swizzle_mode::b128>(map);
#endif
}
