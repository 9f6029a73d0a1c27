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
// Note the last row: without swizzle an MN-major operand exchanges the two offsets.
// Source: PTX ISA, wgmma, "Leading Dimension Byte Offset", "Stride Dimension Byte Offset" and
// "Canonical Layouts"; the table of the last, with T = 8 elements and c = span / 16 bytes:
//   K-major   no swizzle  ((8,m),(T,2k)):((1T,SBO),(1,LBO))
//             swizzled    ((8,m),(T,2k)):((cT,SBO),(1,T))
//   MN-major  no swizzle  ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
//             swizzled    ((T,c,m),(8,k)):((1,T,LBO),(cT,SBO))
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

/// Extents of a TMA box in elements: contiguous index first.
struct operand_box {
  int inner, outer;
};

/// A tile of K elements along k. Tiles start at multiples of 1024 bytes.
template <elem AB, operand_major Major, swizzle_mode S, int K = traits_of(AB).span()>
struct operand_tile {
  static constexpr elem_traits traits = traits_of(AB);
  static_assert(traits.mma_operand && (Major == operand_major::k || !traits.k_major_only),
                "[TW0208] wgmma has no operands of this type and major");
  static constexpr swizzle_mode mode = S;
  static constexpr int span_bytes = swizzle_span_bytes(S);
  static constexpr int span = traits.in_bytes(span_bytes);  // elements
  static_assert(K % traits.mma_k() == 0 && K % span == 0 && K <= 256,
                "[TW0207] K: whole spans, up to 256");

  /// The box to give the tensor map, whose dimension 0 is the contiguous one.
  TW_HD static constexpr operand_box box(int extent) {
    return Major == operand_major::k ? operand_box{span, extent} : operand_box{span, K};
  }
  TW_HD static constexpr int boxes(int extent) {
    return Major == operand_major::k ? K / span : (extent + span - 1) / span;
  }
  TW_HD static constexpr int box_bytes(int extent) {
    return span_bytes * (Major == operand_major::k ? extent : K);
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
    int const inner = Major == operand_major::k ? k : mn;
    int const outer = Major == operand_major::k ? mn : k;
    int const plain =
        inner / span * box_bytes(extent) + outer * span_bytes + inner % span * size_bytes(AB);
    return static_cast<int>(swizzled(static_cast<std::uint32_t>(plain), S));
  }

  /// From the descriptor of (0, 0) to that of (mn, k), in bytes: desc + start_bytes.
  TW_HD static constexpr int start_bytes(int extent, int mn, int k) {
    int const next_box = box_bytes(extent);
    return Major == operand_major::k
               ? k / span * next_box + mn * span_bytes + k % span * size_bytes(AB)
               : mn / span * next_box + k * span_bytes;
  }

  /// Descriptor of the rows from `mn` and the K of one wgmma from `k`. mn: a multiple of 8
  /// (K-major) or of a span (MN-major); k: a multiple of that K.
  TW_HD static constexpr smem_desc desc(std::uint32_t tile_address, int extent, int mn, int k) {
    constexpr int group = 8 * span_bytes;
    int const next_box = box_bytes(extent), start = start_bytes(extent, mn, k);
    if (Major == operand_major::k)
      return make(tile_address, start, S == swizzle_mode::none ? next_box : 16, group);
    if (S == swizzle_mode::none) return make(tile_address, start, group, next_box);
    return make(tile_address, start, next_box, group);
  }

 private:
  TW_HD static constexpr smem_desc make(std::uint32_t tile_address, int start, int leading_bytes,
                                        int stride_bytes) {
    return make_smem_desc(tile_address + static_cast<std::uint32_t>(start),
                          static_cast<std::uint32_t>(leading_bytes),
                          static_cast<std::uint32_t>(stride_bytes), S);
  }
};

/// The box of a GEMM's operand: K of the tile is one span of the widest swizzle.
TW_HD constexpr operand_box box_of(elem ab, operand_major major, swizzle_mode swizzle, int extent) {
  elem_traits const t = traits_of(ab);
  return {t.in_bytes(swizzle_span_bytes(swizzle)), major == operand_major::k ? extent : t.span()};
}

}  // namespace tw
