// SPDX-License-Identifier: Apache-2.0
// tree_nesting.cpp  An empty tuple inside a tuple.
// expect-error: TW0103_nested_too_deep_or_empty_inside
// expect-error: 1
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr tree result = make_tree(tree(), 2);
#else
[[maybe_unused]] constexpr tree result = make_tree(tree(3), 2);
#endif
