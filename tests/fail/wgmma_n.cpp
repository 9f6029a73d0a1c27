// SPDX-License-Identifier: Apache-2.0
// wgmma_n.cpp  A wgmma whose N is no multiple of 8.
// expect-error: [TW0201]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr int n = 20;
#else
constexpr int n = 24;
#endif
static_assert(accumulator<n>::size == n / 2);
