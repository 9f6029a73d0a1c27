// SPDX-License-Identifier: Apache-2.0
// redux_type.cpp  A reduction of floats by an instruction for integers.
// expect-error: [TW0261]
// max lines(nvcc): 12
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using value = float;
#else
using value = int;
#endif
TW_DEVICE value largest(value x) { return redux_max(x); }
