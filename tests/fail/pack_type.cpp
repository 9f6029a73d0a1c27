// SPDX-License-Identifier: Apache-2.0
// pack_type.cpp  Packing two values of a type that is no float of 8 or 16 bits.
// expect-error: [TW0202]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr elem type = elem::s8;
#else
constexpr elem type = elem::bf16;
#endif
TW_DEVICE std::uint32_t packed() { return pack2<type>(1.0F, 2.0F); }
