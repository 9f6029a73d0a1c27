// SPDX-License-Identifier: Apache-2.0
// atomic_value.cpp  A float added to an integer word.
// expect-error: [TW0263]
// max lines(g++): 14
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using word = int;
#else
using word = float;
#endif
TW_DEVICE void count(word* p) { red_add(p, 0.25F); }
