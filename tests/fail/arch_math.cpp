// SPDX-License-Identifier: Apache-2.0
// arch_math.cpp  Refusals of packed arithmetic.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case lop3_table
// A table of lop3 that has more than 8 bits.
// expect-error: [TW0265]
namespace lop3_table {
#ifdef TW_FAIL
constexpr int table = 0x1EA;
#else
constexpr int table = 0xEA;
#endif
TW_DEVICE std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return lop3<table>(a, b, c);
}
}  // namespace lop3_table

// case pack_type
// Packing two values of a type that is no float of 8 or 16 bits.
// expect-error: [TW0202]
namespace pack_type {
#ifdef TW_FAIL
constexpr elem type = elem::s8;
#else
constexpr elem type = elem::bf16;
#endif
TW_DEVICE std::uint32_t packed() { return pack2<type>(1.0F, 2.0F); }
}  // namespace pack_type
