// SPDX-License-Identifier: Apache-2.0
// wgmma_n_integer.cpp  An integer wgmma whose N is a multiple of 8 and not of 16.
// expect-error: [TW0201]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr int n = 40;
#else
constexpr int n = 48;
#endif
static_assert(accumulator<n, std::int32_t>::size == n / 2);
