// SPDX-License-Identifier: Apache-2.0
// atomic_flag_value.cpp  A double stored to a float flag.
// expect-error: [TW0263]
// max lines(g++): 14
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using value = double;
#else
using value = float;
#endif
TW_DEVICE void raise(float* p) { store_release(p, value{1}); }
