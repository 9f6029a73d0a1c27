// SPDX-License-Identifier: Apache-2.0
// tensor_vec_bytes.cpp  A vector of 32 bytes.
// expect-error: TW0142_bytes_of_one_access_are_not_1_2_4_8_or_16
// expect-error: 32000016
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using row = tensor<float, "(8):(1)"_L, rmem.aligned(32)>;
#ifdef TW_FAIL
using packets = decltype(vec<8>(row{}));
#else
using packets = decltype(vec<4>(row{}));
#endif
