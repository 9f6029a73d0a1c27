// SPDX-License-Identifier: Apache-2.0
// tmem.hpp  Tensor memory (emulated). PTX ISA, "Tensorcore 5th Generation Family Instructions".
#pragma once

#include "tilewright/arch/emu/tensor_engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int Ctas = 1>
TW_DEVICE void tmem_alloc(std::uint32_t* address, int columns,
                          emu::site where = emu::site::here()) {
  emu::tmem_alloc(address, columns, Ctas, where);
}
template <int Ctas = 1>
TW_DEVICE void tmem_dealloc(std::uint32_t address, int columns,
                            emu::site where = emu::site::here()) {
  emu::tmem_dealloc(address, columns, Ctas, where);
}
template <int Ctas = 1>
TW_DEVICE void tmem_relinquish(emu::site where = emu::site::here()) {
  emu::tmem_relinquish(Ctas, where);
}

template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE tmem_words<S, Count> tmem_load(std::uint32_t address,
                                         emu::site where = emu::site::here()) {
  tmem_words<S, Count> v;
  emu::tmem_load({S, Count, false, Split}, address, v.r, where);
  return v;
}
template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE tmem_words<S, Count> tmem_load_packed(std::uint32_t address,
                                                emu::site where = emu::site::here()) {
  tmem_words<S, Count> v;
  emu::tmem_load({S, Count, true, Split}, address, v.r, where);
  return v;
}
template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE void tmem_store(std::uint32_t address, tmem_words<S, Count> const& v,
                          emu::site where = emu::site::here()) {
  emu::tmem_store({S, Count, false, Split}, address, v.r, where);
}
template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE void tmem_store_unpacked(std::uint32_t address, tmem_words<S, Count> const& v,
                                   emu::site where = emu::site::here()) {
  emu::tmem_store({S, Count, true, Split}, address, v.r, where);
}

TW_DEVICE void tmem_wait_load(emu::site where = emu::site::here()) { emu::tmem_wait_load(where); }
template <int N>
TW_DEVICE void tmem_wait_load(b32<N>&, emu::site where = emu::site::here()) {
  emu::tmem_wait_load(where);
}
template <int N1, int N2>
TW_DEVICE void tmem_wait_load(b32<N1>&, b32<N2>&, emu::site where = emu::site::here()) {
  emu::tmem_wait_load(where);
}
TW_DEVICE void tmem_wait_store(emu::site where = emu::site::here()) { emu::tmem_wait_store(where); }
TW_DEVICE void tcgen05_fence_before(emu::site where = emu::site::here()) {
  emu::tcgen05_fence_before(where);
}
TW_DEVICE void tcgen05_fence_after(emu::site where = emu::site::here()) {
  emu::tcgen05_fence_after(where);
}

}  // namespace tw
