// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  The epilogue of a kernel: a type with store(), called by each consumer with its
//               fragments, and finish(), called after the last tile. Each file that this one
//               includes says for which of the registered epilogues (problem/epilogue_kind.hpp).
#pragma once

#include "tilewright/kernel/sm90/epilogue/fused.hpp"
#include "tilewright/kernel/sm90/epilogue/plain.hpp"
#include "tilewright/kernel/sm90/epilogue/quantize.hpp"
#include "tilewright/kernel/sm90/epilogue/quantize_columns.hpp"

namespace tw {

template <gemm_config C>
using epilogue = epilogue_of<C, epilogue_at<C.epilogue>>;

}  // namespace tw
