// SPDX-License-Identifier: Apache-2.0
// standard.cpp  Refusals of an older C++ standard.
#include "tilewright/layout/layout.hpp"

// case standard
// Headers that are compiled as C++17.
// expect-error: [TW0318]
// bad standard: 17
// max lines(g++): 4000
// max lines(nvcc): 4000
namespace standard {
#ifdef TW_FAIL
static_assert(tw::size(tw::layout(4, 1)) == 4);
#endif
}  // namespace standard
