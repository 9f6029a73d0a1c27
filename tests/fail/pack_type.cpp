// SPDX-License-Identifier: Apache-2.0
// pack_type.cpp  Packing two values of a type that is neither bf16 nor f16.
// expect-error: [TW0202]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr elem type = elem::e4m3;
#else
constexpr elem type = elem::bf16;
#endif
TW_DEVICE std::uint32_t packed() { return pack2<type>(1.0F, 2.0F); }
