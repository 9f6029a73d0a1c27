// SPDX-License-Identifier: Apache-2.0
// tune_ranks.hpp  Measures the paths of calls over the GPUs of this machine; stores the fastest.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/dist/shards.hpp"
#include "tools/request/sizes.hpp"

namespace tw {

/// Measures each GEMM of one GPU (bf16) on every path, over `ranks` GPUs, and adds the fastest to
/// the file of dist/path_table.hpp. Throws `rejected`: TW0715 or TW0503 without the GPUs, TW0908
/// without NCCL, TW0802 if nothing can be stored.
exit_status tune_ranks(std::vector<gemm_size> const& sizes, dist::operation op, int ranks,
                       bool as_json);

}  // namespace tw
