// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  The epilogue of a kernel: a type with store(), called by each consumer with its
//               fragments, and finish(), called after the last tile.
#pragma once

#include <type_traits>

#include "tilewright/kernel/epilogue/fused.hpp"
#include "tilewright/kernel/epilogue/plain.hpp"

namespace tw {

template <gemm_config C>
using epilogue = std::conditional_t<C.fused == fusion::none, plain_epilogue<C>, fused_epilogue<C>>;

}  // namespace tw
