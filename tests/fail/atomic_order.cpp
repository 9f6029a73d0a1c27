// SPDX-License-Identifier: Apache-2.0
// atomic_order.cpp  A reduction that acquires.
// expect-error: [TW0264]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr mem_order order = mem_order::acq_rel;
#else
constexpr mem_order order = mem_order::release;
#endif
TW_DEVICE void count(int* p) { red_add<order>(p, 1); }
