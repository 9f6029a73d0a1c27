// SPDX-License-Identifier: Apache-2.0
// arch_shuffle.cpp  Refusals of values of shuffles.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case redux_type
// A reduction of floats by an instruction for integers.
// expect-error: [TW0261]
// max lines(nvcc): 12
namespace redux_type {
#ifdef TW_FAIL
using value = float;
#else
using value = int;
#endif
TW_DEVICE value largest(value x) { return redux_max(x); }
}  // namespace redux_type

// case shuffle_type
// A shuffle of 12 bytes.
// expect-error: [TW0260]
// max lines(g++): 13
namespace shuffle_type {
#ifdef TW_FAIL
using value = float[3];
#else
using value = float[2];
#endif
struct several {
  value x;
};
TW_DEVICE several moved(several x) { return shuffle_down(x, 1); }
}  // namespace shuffle_type
