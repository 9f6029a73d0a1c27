// SPDX-License-Identifier: Apache-2.0
// gemv.cpp  Refusals of configurations of GEMV.
#include "tilewright/kernel/gemv/gemv.hpp"

using namespace tw;

// case gemv_rows
// A GEMV configuration whose rows mma.sync does not have.
// expect-error: [TW0223]
namespace gemv_rows {
#ifdef TW_FAIL
constexpr gemv_config config{.rows = 8, .cols = 4};
#else
constexpr gemv_config config{.rows = 8, .cols = 2};
#endif
static_assert(gemv<config>::smem_bytes > 0);
using multiply = gemv<config>::multiply;
static_assert(sizeof(multiply) > 0);
}  // namespace gemv_rows
