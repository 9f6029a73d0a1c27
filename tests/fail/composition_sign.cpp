// SPDX-License-Identifier: Apache-2.0
// composition_sign.cpp  Strides of two signs in one composition.
// expect-error: TW0107_composition_strides_of_B_have_two_signs_or_modes
// expect-error: -2000000
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,-2)"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,2)"_L);
#endif
