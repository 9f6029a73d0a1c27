// SPDX-License-Identifier: Apache-2.0
// arch_atomic.cpp  Refusals of atomic operations.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case atomic_flag_value
// A double stored to a float flag.
// expect-error: [TW0263]
// max lines(g++): 14
namespace atomic_flag_value {
#ifdef TW_FAIL
using value = double;
#else
using value = float;
#endif
TW_DEVICE void raise(float* p) { store_release(p, value{1}); }
}  // namespace atomic_flag_value

// case atomic_order
// A reduction that acquires.
// expect-error: [TW0264]
namespace atomic_order {
#ifdef TW_FAIL
constexpr mem_order order = mem_order::acq_rel;
#else
constexpr mem_order order = mem_order::release;
#endif
TW_DEVICE void count(int* p) { red_add<order>(p, 1); }
}  // namespace atomic_order

// case atomic_value
// A float added to an integer word.
// expect-error: [TW0263]
// max lines(g++): 14
namespace atomic_value {
#ifdef TW_FAIL
using word = int;
#else
using word = float;
#endif
TW_DEVICE void count(word* p) { red_add(p, 0.25F); }
}  // namespace atomic_value

// case atomic_word
// The maximum of floats, for which there is no instruction.
// expect-error: [TW0262]
// max lines(g++): 12
namespace atomic_word {
#ifdef TW_FAIL
using word = float;
#else
using word = int;
#endif
TW_DEVICE word most(word* p, word x) { return atomic_max(p, x); }
}  // namespace atomic_word
