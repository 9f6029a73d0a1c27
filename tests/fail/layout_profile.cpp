// SPDX-License-Identifier: Apache-2.0
// layout_profile.cpp  Shape and stride with different parentheses.
// expect-error: TW0110_profiles_do_not_match
// expect-error: 3000002
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout(make_tree(4, 8), make_tree(8, 1, 0));
#else
[[maybe_unused]] constexpr layout result = make_layout(make_tree(4, 8), make_tree(8, 1));
#endif
