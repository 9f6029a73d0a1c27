// SPDX-License-Identifier: Apache-2.0
// offset_coordinates.cpp  A kernel address with a coordinate too few.
// expect-error: [TW0110]
// max lines(g++): 15
// max lines(nvcc): 11
#include "tilewright/layout/layout.hpp"
#include "tilewright/layout/offset.hpp"

using namespace tw;

constexpr layout box = "(8,8,2):(8,1,64)"_L;
#ifdef TW_FAIL
[[maybe_unused]] constexpr auto at = offset<box>(1, 2);
#else
constexpr auto at = offset<box>(1, 2, 1);
static_assert(at == 74);
#endif
