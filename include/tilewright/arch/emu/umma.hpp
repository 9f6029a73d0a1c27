// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiplies of tcgen05, its copy, and their commit (emulated). PTX ISA,
//           "tcgen05.mma", "tcgen05.cp", "tcgen05.commit".
#pragma once

#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/arch/emu/tensor_engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int R>
TW_DEVICE void tma_load_pair(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at,
                             emu::site where = emu::site::here()) {
  emu::tma_load_pair(smem, map, &landed, at.c, R, where);
}

template <int R>
TW_DEVICE void tma_load_pair_multicast(void* smem, tensor_map const& map, mbarrier& landed,
                                       tma_coord<R> at, std::uint16_t cta_mask,
                                       emu::site where = emu::site::here()) {
  emu::tma_load_pair_multicast(smem, map, &landed, at.c, R, cta_mask, where);
}

template <umma_kind K, int Ctas = 1>
TW_DEVICE void umma(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc, bool accumulate,
                    emu::site where = emu::site::here()) {
  emu::umma({K, Ctas, d, false, a.bits, b.bits, idesc, accumulate}, where);
}
template <umma_kind K, int Ctas = 1>
TW_DEVICE void umma_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                       bool accumulate, emu::site where = emu::site::here()) {
  emu::umma({K, Ctas, d, true, a, b.bits, idesc, accumulate}, where);
}
template <umma_kind K, int Block, int Ctas = 1>
TW_DEVICE void umma_scaled(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc,
                           std::uint32_t sfa, std::uint32_t sfb, bool accumulate,
                           emu::site where = emu::site::here()) {
  static_assert(has_scale_block(K, Block),
                "[TW0313] blocks of scale factors are 32 elements, of mxf4nvf4 16 or 32");
  emu::umma({K, Ctas, d, false, a.bits, b.bits, idesc, accumulate, Block, sfa, sfb}, where);
}
template <umma_kind K, int Block, int Ctas = 1>
TW_DEVICE void umma_scaled_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                              std::uint32_t sfa, std::uint32_t sfb, bool accumulate,
                              emu::site where = emu::site::here()) {
  static_assert(has_scale_block(K, Block),
                "[TW0313] blocks of scale factors are 32 elements, of mxf4nvf4 16 or 32");
  emu::umma({K, Ctas, d, true, a, b.bits, idesc, accumulate, Block, sfa, sfb}, where);
}
template <tmem_copy_shape S, int Ctas = 1, tmem_unpack U = tmem_unpack::none>
TW_DEVICE void tmem_copy(std::uint32_t to, umma_desc from, emu::site where = emu::site::here()) {
  emu::tmem_copy({S, U, Ctas, to, from.bits}, where);
}
template <int Ctas = 1>
TW_DEVICE void umma_commit(mbarrier& done, emu::site where = emu::site::here()) {
  emu::umma_commit(&done, Ctas, 0, false, where);
}
template <int Ctas = 1>
TW_DEVICE void umma_commit_multicast(mbarrier& done, std::uint16_t cta_mask,
                                     emu::site where = emu::site::here()) {
  emu::umma_commit(&done, Ctas, cta_mask, true, where);
}

}  // namespace tw
