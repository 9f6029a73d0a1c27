// SPDX-License-Identifier: Apache-2.0
// tmem_names.hpp  Names of what lies in tensor memory, and the layout of each.
//
//     tmem.ld.16x64b.x4            registers of a load or store of four warps: SHAPE.xCOUNT
//     tmem.d.1cta.m64n32           accumulator; 2cta: one CTA's part of a pair's; ws: of mma.ws
//     tmem.a.1cta.m128.f16         A of one multiply, by the kind of the multiply
//     tmem.sfa.1cta.m128.mxf4      scale factors of A: four of each row
//     tmem.sfb.2cta.m256n128.mxf8f6f4   of B; mxf4nvf4 has blocks of 16 elements, .block32 of 32
//     tmem.cp.32x128b.warpx4       rows that tcgen05.cp copies; .b8x16.b4x16_p64 unpacks elements
// Needs:   shapes that the instructions have [TW0626]
#pragma once

#include <string>
#include <string_view>

#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

enum class tmem_what : std::uint8_t { load, accumulator, operand_a, scales, copy };

/// A name taken apart; fields that it does not have keep their defaults.
struct tmem_name {
  tmem_what what = tmem_what::load;
  std::string text;
  // load
  tmem_shape shape = tmem_shape::l32x32b;
  int count = 1;
  // of an accumulator, of A and of scale factors:
  int ctas = 1;
  bool ws = false;
  int m = 0, n = 0;  // of the instruction
  umma_kind kind = umma_kind::f16;
  char operand = 'A';  // of scales
  int block = 0;
  // copy
  tmem_copy_shape copy = tmem_copy_shape::c128x128b;
  tmem_unpack unpack = tmem_unpack::none;

  int rows() const { return m / ctas; }  // in one CTA
  int factors() const { return umma_k(kind) / block; }
  /// Factors of B for a pair with M = 128: one half of the columns in each half of the lanes.
  bool halves() const { return operand == 'B' && ctas == 2 && m == 128; }
  /// Bits of an element of the layout: 32, or what shares a column.
  int bits() const;
};

bool names_tmem(std::string_view text);
tmem_name parse_tmem(std::string_view text);

/// Coordinates -> place, as atom/tmem_fragment.hpp and atom/tmem_layout.hpp have them.
layout layout_of(tmem_name const& n);
/// The modes of that layout: "(row, k, copies)".
std::string_view modes_of(tmem_name const& n);
/// Columns from the first to the last that it uses.
int columns_of(tmem_name const& n);
/// Can a load or store of this shape begin at lane 16 of a warp's 32?
inline bool has_half_lanes(tmem_shape s) { return s != tmem_shape::l32x32b; }
/// "16x64b.x4"
std::string shape_text(tmem_name const& n);

}  // namespace tw
