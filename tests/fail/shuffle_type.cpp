// SPDX-License-Identifier: Apache-2.0
// shuffle_type.cpp  A shuffle of 12 bytes.
// expect-error: [TW0260]
// max lines(g++): 13
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using value = float[3];
#else
using value = float[2];
#endif
struct several {
  value x;
};
TW_DEVICE several moved(several x) { return shuffle_down(x, 1); }
