// SPDX-License-Identifier: Apache-2.0
// register_a.hpp  A in registers: consumers read a tile that is MN-major in shared memory as
//                 fragments of wgmma, which reads 8-bit and 32-bit operands there K-major only.
//
// A fragment has 64 rows and 32 bytes of K. Thread 32 w + 4 g + c of a warpgroup holds four words:
// those of rows g and 8 + g of its warp's 16, at k = c and 4 + c of a group of 8 words. Source: PTX
// ISA, "Register Fragments for wgmma.mma_async.m64nNk8" and "m64nNk32".
//
//   32 bits  A word is an element. The swizzle puts eight 16-byte chunks of a row in as many banks,
//            differently in each of eight rows: lanes of four k read from different banks if the
//            chunks of their rows are 4 apart (fragment_rows.hpp).
//   8 bits   A word is four elements along k, which are in four rows of shared memory. ldmatrix
//            transposes pairs of bytes: a thread gets rows 2 g and 2 g + 1 at two k from a matrix
//            of 8 k, and prmt sorts the bytes of two matrices. Their k are chosen so that the rows
//            of each lie in different banks.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/fragment_rows.hpp"
#include "tilewright/kernel/sm90/loads.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

template <gemm_config C>
class register_a {
 public:
  static constexpr int mma_k = traits_of(C.a.multiplied).mma_k(), steps = C.tile_k() / mma_k;
  /// A K block of a warpgroup's rows.
  struct block {
    b32<4> part[steps];
  };

  using rows = fragment_rows<C>;
  /// (m, k) -> element.
  static constexpr layout tile = gemm_loads<C>::operand_a::layout_of(C.tile_m);

  /// Word v of a lane in the first fragment of a tile of 32-bit elements: its element in the tile,
  /// whose first row is first_row.
  TW_HD static constexpr int place_of_word(int first_row, int warp, int lane, int v) {
    int const row = rows::row_of(warp, lane) + v % 2 * rows::distance;
    return static_cast<int>(offset<tile>(first_row + row, lane % 4 + v / 2 * 4));
  }
  /// The row of a matrix of pairs of 8-bit elements whose address a lane gives to ldmatrix.
  TW_HD static constexpr int place_of_pairs(int first_row, int warp, int lane) {
    int const matrix = lane / 8, i = lane % 8;
    int const k = 16 * (matrix / 2) + 4 * (i / 2) + 2 * (matrix % 2 ^ i / 4) + i % 2;
    return static_cast<int>(offset<tile>(first_row + rows::row_of(warp, 0), k));
  }

  /// For the rows from first_row of the CTA's tile.
  TW_DEVICE explicit register_a(int first_row) {
    int const lane = lane_id(), warp = thread_id() % warpgroup_threads / warp_threads;
    if constexpr (of_words) {
      unrolled<4>([&](auto v) { place_[v] = place_of_word(first_row, warp, lane, v); });
    } else {
      place_[0] = place_of_pairs(first_row, warp, lane);
      // The lower two k of four come from the first matrix of two, or from the second.
      even_row_ = lane % 4 < 2 ? 0x6420 : 0x2064;
      odd_row_ = lane % 4 < 2 ? 0x7531 : 0x3175;
    }
  }

  /// Reads a K block from its stage, (tile_m, tile_k): the warpgroup's 64 rows.
  TW_DEVICE void read(block& to, std::byte const* stage) const {
    unrolled<steps>([&](auto step) {
      b32<4>& part = to.part[step];
      if constexpr (of_words) {
        auto const* const words = reinterpret_cast<words::b32 const*>(stage) + step * next_step;
        unrolled<4>([&](auto v) { part.r[v] = words[place_[v]]; });
      } else {
        b32<4> const pairs = ldmatrix<4, true>(stage + step * next_step + place_[0]);
        unrolled<2>([&](auto half) {
          std::uint32_t const a = pairs.r[2 * half], b = pairs.r[2 * half + 1];
          part.r[2 * half] = prmt(a, b, even_row_);
          part.r[2 * half + 1] = prmt(a, b, odd_row_);
        });
      }
    });
  }

  /// Issues the wgmmas of a K block that was read from its stage, as a group: acc keeps its sums if
  /// `accumulate`. TMA, in the async proxy, may fill the stage again once these reads are ordered
  /// before it.
  template <class Sums>
  TW_DEVICE static void multiply(Sums& acc, block const& a, std::byte* b, bool accumulate) {
    wgmma_fence(acc);
    smem_desc const b_desc = operand_b::desc(smem_addr(b), loads::b_share, 0, 0);  // (tile_n, K)
    unrolled<steps>([&](auto step) { multiply_step<step>(acc, a.part[step], b_desc, accumulate); });
    wgmma_commit();
    fence_proxy_async();
  }

  /// multiply() of weights that Reader has loaded. It decodes the fragment of each step to `a`,
  /// then issues the wgmma of the step. wgmma needs a fence after the registers are written.
  template <class Reader, class Sums>
  TW_DEVICE static void decode_and_multiply(Sums& acc, block& a,
                                            typename Reader::raw_block const& raw, std::byte* b,
                                            bool accumulate) {
    smem_desc const b_desc = operand_b::desc(smem_addr(b), loads::b_share, 0, 0);  // (tile_n, K)
    unrolled<steps>([&](auto step) {
      Reader::template decode<step>(a.part[step], raw);  // (64, mma_k)
      wgmma_fence(acc);
      multiply_step<step>(acc, a.part[step], b_desc, accumulate);
    });
    wgmma_commit();
    fence_proxy_async();
  }

 private:
  using loads = gemm_loads<C>;
  using operand_b = typename loads::operand_b;
  static constexpr bool of_words = rows::of_words;
  template <int Step, class Sums>
  TW_DEVICE static void multiply_step(Sums& acc, b32<4> const& a, smem_desc b_desc,
                                      bool accumulate) {
    constexpr int k = Step * mma_k;
    wgmma<C.a.multiplied, C.b.major, C.b.multiplied>(
        acc,  // (64, N)
        a,    // (64, mma_k)
        b_desc + operand_b::start_bytes(loads::b_share, 0, k), accumulate || k > 0);
  }

  // The swizzle repeats after 8 of K.
  static constexpr int next_step = static_cast<int>(linear_part(tile)(0, mma_k));

  int place_[of_words ? 4 : 1];  // elements
  std::uint32_t even_row_ = 0, odd_row_ = 0;
};

}  // namespace tw
