// SPDX-License-Identifier: Apache-2.0
// tensor_vec_run.cpp  A vector wider than the contiguous run of the layout.
// expect-error: TW0140_vec_is_wider_than_the_contiguous_run_of_the_layout
// expect-error: 4000008
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using pitched = tensor<bf16, "(4,8):(12,1)"_L, smem.aligned(16)>;
#ifdef TW_FAIL
using packets = decltype(vec<8>(pitched{}));
#else
using packets = decltype(vec<4>(pitched{}));
#endif
