// SPDX-License-Identifier: Apache-2.0
// tensor_vec_align.cpp  A vector access to a pointer of which no alignment is known.
// expect-error: TW0141_alignment_in_bytes_is_less_than_the_access_needs
// expect-error: 4000016
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr space in = gmem;
#else
constexpr space in = gmem.aligned(16);
#endif
using packets = decltype(vec<4>(tensor<float, "(4,8):(8,1)"_L, in>{}));
static_assert(size(packets::map) == 8);
