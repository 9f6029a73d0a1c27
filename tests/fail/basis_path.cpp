// SPDX-License-Identifier: Apache-2.0
// basis_path.cpp  A basis stride at position 15, beyond what a path can say.
// expect-error: TW0117_basis_strides_do_not_form_one_coordinate
// expect-error: 15000014
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    make_identity_layout("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"_L.shape);
#else
[[maybe_unused]] constexpr layout result =
    make_identity_layout("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"_L.shape);
#endif
