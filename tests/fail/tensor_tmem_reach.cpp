// SPDX-License-Identifier: Apache-2.0
// tensor_tmem_reach.cpp  More columns than tensor memory has.
// expect-error: TW0154_more_lanes_or_columns_than_tensor_memory_has
// expect-error: 1024000512
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout l = "(128,1024):(1@0,1@1)"_L;
#else
constexpr layout l = "(128,512):(1@0,1@1)"_L;
#endif
auto accumulators(tmem_address base) { return make_tmem_tensor<float, l>(base); }
