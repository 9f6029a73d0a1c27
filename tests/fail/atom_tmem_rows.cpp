// SPDX-License-Identifier: Apache-2.0
// atom_tmem_rows.cpp  An accumulator of 96 rows in tensor memory.
// expect-error: TW0218_tensor_memory_does_not_hold_this_shape
// expect-error: 96000128
#include "tilewright/atom/tmem_fragment.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = tmem_accumulator(1, 96, 64, make_shape(1, 1));
#else
constexpr layout l = tmem_accumulator(1, 64, 64, make_shape(1, 1));
static_assert(size(l) == 64 * 64);
#endif
