// SPDX-License-Identifier: Apache-2.0
// accept.hpp  Whether a problem can be computed at all, independent of device and pointers.
#pragma once

#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Nothing, or the first rule that the problem breaks: TW0401 extents, TW0402 pitch, TW0403 size,
/// TW0404 and TW0405 types, TW0406 and TW0407 alpha and beta, TW0411 to TW0413 and TW0415 the
/// epilogue, TW0420 to TW0425 batches.
std::optional<rejection> accept(gemm_problem const& p);

}  // namespace tw
