// SPDX-License-Identifier: Apache-2.0
// loads.hpp  A CTA's parts of A and B of one stage, box by box: of batches by strides and by
//            pointers, and of a B that has gates and what they multiply.
#pragma once

#include <cstddef>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/params.hpp"

namespace tw {

/// Roles: sm100_roles, of which load_box() takes the barrier of the even CTA of a pair.
template <sm100_config C, class Roles>
struct sm100_loads {
  using operand_a = operand_tile<C.a.stored, C.a.major, swizzle_mode::b128>;
  using operand_b = operand_tile<C.b.stored, C.b.major, swizzle_mode::b128>;

  /// A's rows from `first` on, which are of tile `tile`.
  TW_DEVICE static void load_a(std::byte* to, sm100_params const& p, mbarrier& landed, int tile,
                               int first, int k, tma_place at) {
    if constexpr (C.by_pointers())
      load_placed<operand_a, Roles::rows, C.a.major>(to, p.a, landed, first, k, at,
                                                     {tile * C.tile_m(), p.epilogue.m});
    else
      load_boxes<operand_a, Roles::rows>(to, p.a, landed, first, k, at.units);
  }
  /// A CTA's part of B: with a gate one CTA has gates, then what they multiply; in a pair the even
  /// CTA has gates, and the odd one what they multiply.
  TW_DEVICE static void load_b(std::byte* to, sm100_params const& p, mbarrier& landed, int tile,
                               int k, tma_place at) {
    if constexpr (C.gated()) {
      constexpr int columns = C.d_cols();
      TW_UNROLL
      for (int i = 0; i < 2 / C.ctas; ++i)
        load_boxes<operand_b, columns>(to + i * operand_b::bytes(columns), p.b, landed,
                                       tile * columns, k, C.ctas == 1 ? i : Roles::rank(),
                                       at.units);
    } else {
      int const n = tile * C.tile_n + Roles::rank() * C.b_share();
      if constexpr (C.by_pointers())
        load_placed<operand_b, C.b_share(), C.b.major>(to, p.b, landed, n, k, at,
                                                       {tile * C.tile_n, p.epilogue.n});
      else
        load_boxes<operand_b, C.b_share()>(to, p.b, landed, n, k, at.units);
    }
  }

 private:
  /// A CTA's part of an operand of one stage, from index `first` of M or N on; `matrix`: the
  /// coordinates of the map after the first two.
  template <class Operand, int Extent, class... Matrix>
  TW_DEVICE static void load_boxes(std::byte* to, tensor_map const& map, mbarrier& landed,
                                   int first, int k, Matrix... matrix) {
    TW_UNROLL
    for (int i = 0; i < Operand::boxes(Extent); ++i) {
      tma_coord<2> const at = Operand::box_at(first, k, i);
      Roles::load_box(to + Operand::box_offset_bytes(Extent, i), map, landed,
                      tma_coord{at.c[0], at.c[1], matrix...});
    }
  }
  /// Along M or N: the first index of the tile, and the extent of the matrix.
  struct inside {
    int tile, end;
  };
  /// Loads by a map that reaches all memory. The kernel would stop at a box without an element
  /// of its matrix (E0023). Such a box would be for rows or columns beyond D, which are not stored,
  /// so the first box of the tile is loaded instead.
  template <class Operand, int Extent, operand_major Major>
  TW_DEVICE static void load_placed(std::byte* to, tensor_map const& map, mbarrier& landed,
                                    int first, int k, tma_place matrix, inside along) {
    constexpr int mn = Major == operand_major::k ? 1 : 0;
    TW_UNROLL
    for (int i = 0; i < Operand::boxes(Extent); ++i) {
      tma_coord<2> at = Operand::box_at(first, k, i);
      if (at.c[mn] >= along.end) at.c[mn] = along.tile;
      Roles::load_box(to + Operand::box_offset_bytes(Extent, i), map, landed,
                      tma_coord{at.c[0], at.c[1], matrix.units, matrix.spans});
    }
  }
};

}  // namespace tw
