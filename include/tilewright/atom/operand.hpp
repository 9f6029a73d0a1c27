// SPDX-License-Identifier: Apache-2.0
// operand.hpp  How TMA lays out a wgmma operand tile in shared memory, and its descriptors.
//
// A tile is (extent, K): extent along M (A) or N (B), K elements along k. TMA writes it as boxes
// one swizzle span wide, one after the other. E = elements in a span, span = its bytes (128, 64,
// 32; 16 without swizzle), 16-bit elements:
//
//             box (inner, outer)  boxes         leading offset       stride offset
//   K-major   (E of k, extent)    K / E         unused; none: the    8 rows of M or N: 8 * span
//                                               next 8 of k: a box
//   MN-major  (E of mn, K)        extent / E    the next E of mn:    the next 8 of k: 8 * span
//                                               a box
//   MN-major,                                   the next 8 of k:     the next 8 of mn: a box
//   no swizzle                                  128
//
// Note the last row: without swizzle an MN-major operand exchanges the two offsets. All of this
// follows from the tile's layout, layout_of(): descriptors, offsets and boxes are derived from it.
// Source: PTX ISA, wgmma, "Leading Dimension Byte Offset", "Stride Dimension Byte Offset" and
// "Canonical Layouts"; the table of the last, with T = 8 elements and c = span / 16 bytes:
//   K-major   no swizzle  ((8,m),(T,2k)):((1T,SBO),(1,LBO))
//             swizzled    ((8,m),(T,2k)):((cT,SBO),(1,T))
//   MN-major  no swizzle  ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
//             swizzled    ((T,c,m),(8,k)):((1,T,LBO),(cT,SBO))
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/layout/tile_to_shape.hpp"

namespace tw {

/// Extents of a TMA box in elements: contiguous index first.
struct operand_box {
  int inner, outer;
};

/// A tile of K elements along k. Tiles start at multiples of 1024 bytes.
template <elem AB, operand_major Major, swizzle_mode S, int K = traits_of(AB).span()>
struct operand_tile {
  static constexpr elem_traits traits = traits_of(AB);
  static_assert(traits.mma_operand, "[TW0208] wgmma has no operands of this type");
  static constexpr int span = traits.in_bytes(swizzle_span_bytes(S));  // elements
  static_assert(K % traits.mma_k() == 0 && K % span == 0 && K <= 256,
                "[TW0207] K: whole spans, up to 256");

  /// The tile in shared memory, (mn, k) -> element: the atom of the swizzle, repeated across the
  /// spans first, so that all rows of a span are one TMA box. An MN-major extent is rounded up to
  /// whole spans.
  TW_HD static constexpr layout layout_of(int extent) {
    if (Major == operand_major::k)
      return tile_to_shape(smem_atom(Major, smem_swizzle_of(S), traits.bits), make_shape(extent, K),
                           make_tree(0, 1));
    return tile_to_shape(smem_atom(Major, smem_swizzle_of(S), traits.bits),
                         make_shape((extent + span - 1) / span * span, K), make_tree(1, 0));
  }

 private:
  /// Tiles of two and of three atoms along M or N: what does not depend on the extent is read from
  /// the first, and how far an atom moves the leading offset from both.
  static constexpr int atom_extent =
      static_cast<int>(size(tw::mode(smem_atom(Major, smem_swizzle_of(S), traits.bits), 0)));
  static constexpr layout sample = layout_of(2 * atom_extent);
  TW_HD static constexpr operand_places places_of(layout const& l) {
    return places_of_operand(operand_step(l, traits.bits, 0), Major, traits.bits);
  }
  static constexpr operand_places places = places_of(sample);
  static constexpr i64 leading_per_atom =
      places_of(layout_of(3 * atom_extent)).leading_bytes - places.leading_bytes;
  TW_HD static constexpr int plain_bytes(int mn, int k) {
    return static_cast<int>(linear_part(sample)(mn, k) * traits.bits / 8);
  }
  /// From a row of a span to the next, and of an MN-major tile from a span to the next.
  static constexpr int row_bytes =
      Major == operand_major::k ? plain_bytes(1, 0) : plain_bytes(0, 1);
  static constexpr int next_span_bytes = Major == operand_major::k ? 0 : plain_bytes(span, 0);

 public:
  static constexpr swizzle_mode mode = mode_of(smem_swizzle_of(sample, traits.bits));
  static constexpr int span_bytes = row_bytes;

  /// The box to give the tensor map, whose dimension 0 is the contiguous one.
  TW_HD static constexpr operand_box box(int extent) {
    return Major == operand_major::k ? operand_box{span, extent} : operand_box{span, K};
  }
  TW_HD static constexpr int boxes(int extent) {
    return Major == operand_major::k ? K / span : (extent + span - 1) / span;
  }
  TW_HD static constexpr int box_bytes(int extent) {
    return Major == operand_major::k ? row_bytes * extent : next_span_bytes;
  }
  /// Shared memory of the tile. An MN-major extent is rounded up to whole spans.
  TW_HD static constexpr int bytes(int extent) { return boxes(extent) * box_bytes(extent); }

  /// Where box i lies in the tile, and in the matrix: the tile starts at index `first` of M or N
  /// and at `k`.
  TW_HD static constexpr int box_offset_bytes(int extent, int i) { return i * box_bytes(extent); }
  TW_HD static constexpr tma_coord<2> box_at(int first, int k, int i) {
    if (Major == operand_major::k) return {{k + i * span, first}};
    return {{first + i * span, k}};
  }

  /// Where element (mn, k) lies in the tile.
  TW_HD static constexpr int offset_bytes(int extent, int mn, int k) {
    return static_cast<int>(layout_of(extent)(mn, k) * traits.bits / 8);
  }

  /// From the descriptor of (0, 0) to that of (mn, k), in bytes: desc + start_bytes.
  TW_HD static constexpr int start_bytes(int extent, int mn, int k) {
    return Major == operand_major::k
               ? k / span * box_bytes(extent) + mn * row_bytes + k % span * traits.bits / 8
               : mn / span * next_span_bytes + k * row_bytes;
  }

  /// Descriptor of the rows from `mn` and the K of one wgmma from `k`. mn: a multiple of 8
  /// (K-major) or of a span (MN-major); k: a multiple of that K.
  TW_HD static constexpr smem_desc desc(std::uint32_t tile_address, int extent, int mn, int k) {
    static_assert(Major == operand_major::k || !traits.k_major_only,
                  "[TW0208] wgmma reads no MN-major operands of this type from shared memory");
    // Without swizzle the next 8 of k of a K-major tile lie a whole extent away.
    i64 const leading = places.leading_bytes + (extent / atom_extent - 2) * leading_per_atom;
    return make_smem_desc(tile_address + static_cast<std::uint32_t>(start_bytes(extent, mn, k)),
                          static_cast<std::uint32_t>(leading),
                          static_cast<std::uint32_t>(places.stride_bytes), mode);
  }
};

/// The box of a GEMM's operand: K of the tile is one span of the widest swizzle.
TW_HD constexpr operand_box box_of(elem ab, operand_major major, swizzle_mode swizzle, int extent) {
  elem_traits const t = traits_of(ab);
  return {t.in_bytes(swizzle_span_bytes(swizzle)), major == operand_major::k ? extent : t.span()};
}

}  // namespace tw
