// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiply of tcgen05 and its commit (emulated). PTX ISA, "tcgen05.mma",
//           "tcgen05.commit".
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
