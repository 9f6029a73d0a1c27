// SPDX-License-Identifier: Apache-2.0
// wgmma_kind_test.cpp  The kinds of wgmma that kernels can call are those of the atom table, and A
//                      in registers has the layout of the atom.
#include "tilewright/arch/wgmma_kind.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "emu/wgmma/product_operands.hpp"
#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

mma_atom atom_of(elem a, elem b, elem sums, int n) {
  mma_atom atom{.arch = mma_arch::sm90,
                .m = 64,
                .n = n,
                .k = traits_of(a).mma_k(),
                .d = mma_type_of(sums),
                .a = mma_type_of(a),
                .b = mma_type_of(b)};
  return atom;
}

TEST(WgmmaKind, TypesAndNAreThoseOfTheAtomTable) {
  int kinds = 0;
  for (int a = 0; a < elem_count; ++a)
    for (int b = 0; b < elem_count; ++b)
      for (elem sums : {elem::f32, elem::f16, elem::bf16, elem::s32})
        for (int n = 4; n <= 264; n += 4) {
          elem const x{static_cast<std::uint8_t>(a)}, y{static_cast<std::uint8_t>(b)};
          if (size_bits(x) < 8) continue;
          bool const exists = has_wgmma(x, y, sums) && has_wgmma_n(sums, n);
          kinds += exists ? 1 : 0;
          ASSERT_EQ(exists, find_row(atom_of(x, y, sums, n)) >= 0)
              << name(x) << " " << name(y) << " sums " << name(sums) << " n " << n;
        }
  EXPECT_EQ(kinds, 12 * 32 + 4 * 18);
}

TEST(WgmmaKind, MajorsAreThoseOfTheAtomTable) {
  for (elem type :
       {elem::bf16, elem::f16, elem::tf32, elem::e4m3, elem::e5m2, elem::s8, elem::u8}) {
    mma_atom atom = atom_of(type, type, is_integer(type) ? elem::s32 : elem::f32, 64);
    atom.a_from = mma_source::shared;
    atom.b_major = operand_major::mn;
    EXPECT_EQ(find_row(atom) >= 0, !traits_of(type).k_major_only) << name(type);
  }
}

/// linearise_fragment, through which the emulator reads A, against layout_a: each thread's
/// registers contain the numbers of their bytes in the 64 x 32 bytes of K.
TEST(WgmmaKind, FragmentsOfAHaveTheLayoutOfTheAtom) {
  for (elem type : {elem::bf16, elem::tf32, elem::e4m3, elem::u8}) {
    mma_atom const atom = atom_of(type, type, is_integer(type) ? elem::s32 : elem::f32, 64);
    layout const a = layout_a(atom);
    int const bytes = size_bytes(type), values = 16 / bytes;
    std::vector<std::uint32_t> regs(128 * 4);
    for (int t = 0; t < 128; ++t)
      for (int v = 0; v < values; ++v)
        for (int byte = 0; byte < bytes; ++byte) {
          auto const place = static_cast<int>(a(t, v));  // m + 64 k
          auto const tag = static_cast<std::uint8_t>(place % 64 * 7 + (place / 64 * bytes + byte));
          std::memcpy(reinterpret_cast<std::byte*>(regs.data()) + 16 * t + v * bytes + byte, &tag,
                      1);
        }
    std::uint8_t linear[64][32];
    emu::linearise_fragment(linear, 32, regs.data());
    for (int row = 0; row < 64; ++row)
      for (int byte = 0; byte < 32; ++byte)
        ASSERT_EQ(linear[row][byte], static_cast<std::uint8_t>(row * 7 + byte))
            << name(type) << " row " << row << " byte " << byte;
  }
}

}  // namespace
}  // namespace tw
