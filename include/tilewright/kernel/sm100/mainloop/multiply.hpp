// SPDX-License-Identifier: Apache-2.0
// multiply.hpp  The multiplies of a K block in shared memory: one tcgen05.mma for each 32 bytes of
//               K, issued by one thread.
#pragma once

#include <cstdint>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/kernel/sm100/loads.hpp"

namespace tw {

template <sm100_config C, class Roles>
struct sm100_multiply {
  using loads = sm100_loads<C, Roles>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;
  static constexpr int rows = sm100_cta::rows;  // of A in a CTA
  static constexpr int multiply_k = traits_of(C.a.multiplied).mma_k();

  /// A stage's K block to the accumulator at `d` of tensor memory, which keeps its sums if
  /// `accumulate`. Smem: shared memory with the members a and b.
  template <class Smem>
  TW_DEVICE static void k_block(Smem& s, int stage, std::uint32_t d, bool accumulate) {
    std::uint32_t const a = smem_addr(s.a[stage]);  // (rows, tile_k), in each CTA
    std::uint32_t const b = smem_addr(s.b[stage]);  // (b_share, tile_k), in each CTA
    TW_UNROLL
    for (int step = 0; step < C.tile_k() / multiply_k; ++step)
      umma<kind, C.ctas>(d,                                         // (tile_m, tile_n)
                         operand<operand_a, rows>(a, step),         // (tile_m, multiply_k)
                         operand<operand_b, C.b_share()>(b, step),  // (tile_n, multiply_k)
                         idesc, accumulate || step > 0);
  }

 private:
  static constexpr umma_kind kind = umma_kind_of(C.a.multiplied);
  static constexpr std::uint32_t idesc = umma_idesc{.d_format = 1,
                                                    .a_format = idesc_format(kind, C.a.multiplied),
                                                    .b_format = idesc_format(kind, C.b.multiplied),
                                                    .a_major = C.a.major,
                                                    .b_major = C.b.major,
                                                    .n = C.tile_n,
                                                    .m = C.tile_m()}
                                             .bits();

  /// K step `step` of an operand in shared memory: the places that wgmma's descriptor has.
  template <class Operand, int Extent>
  TW_DEVICE static umma_desc operand(std::uint32_t tile, int step) {
    constexpr smem_desc at_0 = Operand::desc(0, Extent, 0, 0);
    constexpr umma_desc places =
        make_umma_desc(0, at_0.leading_bytes(), at_0.stride_bytes(), at_0.swizzle());
    return places + static_cast<int>(tile & 0x3FFFFU) +
           Operand::start_bytes(Extent, 0, step * multiply_k);
  }
};

}  // namespace tw
