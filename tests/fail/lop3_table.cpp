// SPDX-License-Identifier: Apache-2.0
// lop3_table.cpp  A table of lop3 that has more than 8 bits.
// expect-error: [TW0265]
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr int table = 0x1EA;
#else
constexpr int table = 0xEA;
#endif
TW_DEVICE std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return lop3<table>(a, b, c);
}
