// SPDX-License-Identifier: Apache-2.0
// gemv_rows.cpp  A GEMV configuration whose rows mma.sync does not have.
// expect-error: [TW0223]
#include "tilewright/kernel/gemv/gemv.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemv_config config{.rows = 8, .cols = 4};
#else
constexpr gemv_config config{.rows = 8, .cols = 2};
#endif
static_assert(gemv<config>::smem_bytes > 0);
using multiply = gemv<config>::multiply;
static_assert(sizeof(multiply) > 0);
