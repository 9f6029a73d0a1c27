// SPDX-License-Identifier: Apache-2.0
// gemm_operands.cpp  A GEMM configuration whose A and B have types that no instruction multiplies.
// expect-error: [TW0208] A and B have one type
// max lines(g++): 20
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config c{.a = {elem::e4m3}, .b = {elem::s8}};
#else
constexpr gemm_config c{.a = {elem::e4m3}, .b = {elem::e5m2}};
#endif
static_assert(is_checked<c>());
