// SPDX-License-Identifier: Apache-2.0
// atomic_word.cpp  The maximum of floats, for which there is no instruction.
// expect-error: [TW0262]
// max lines(g++): 12
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using word = float;
#else
using word = int;
#endif
TW_DEVICE word most(word* p, word x) { return atomic_max(p, x); }
