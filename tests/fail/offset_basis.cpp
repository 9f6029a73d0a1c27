// SPDX-License-Identifier: Apache-2.0
// offset_basis.cpp  A kernel address through a layout of coordinates, which has no offset.
// expect-error: [TW0109]
// max lines(g++): 21
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"
#include "tilewright/layout/offset.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr auto at = offset<"(8,4):(1@0,1@1)"_L>(1, 2);
#else
constexpr auto at = offset<"(8,4):(1,8)"_L>(1, 2);
static_assert(at == 17);
#endif
