// SPDX-License-Identifier: Apache-2.0
// cp_async.hpp  Copies of 4, 8 or 16 bytes that a thread does not wait for (emulated). PTX ISA,
//               "cp.async".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int Bytes>
TW_DEVICE void cp_async(void* smem, void const* global, emu::site where = emu::site::here()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16");
  emu::cp_async(smem, global, Bytes, Bytes, where);
}
template <int Bytes>
TW_DEVICE void cp_async(void* smem, void const* global, int valid_bytes,
                        emu::site where = emu::site::here()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16");
  emu::cp_async(smem, global, Bytes, valid_bytes, where);
}
/// As cp_async<16>: the emulator has no caches.
TW_DEVICE void cp_async_cg(void* smem, void const* global, emu::site where = emu::site::here()) {
  emu::cp_async(smem, global, 16, 16, where);
}
TW_DEVICE void cp_async_cg(void* smem, void const* global, int valid_bytes,
                           emu::site where = emu::site::here()) {
  emu::cp_async(smem, global, 16, valid_bytes, where);
}
TW_DEVICE void cp_async_mbarrier_arrive(mbarrier& landed, emu::site where = emu::site::here()) {
  emu::cp_async_mbarrier_arrive(&landed, true, where);
}
TW_DEVICE void cp_async_mbarrier_arrive_noinc(mbarrier& landed,
                                              emu::site where = emu::site::here()) {
  emu::cp_async_mbarrier_arrive(&landed, false, where);
}
TW_DEVICE void cp_async_commit(emu::site where = emu::site::here()) { emu::cp_async_commit(where); }
template <int Pending>
TW_DEVICE void cp_async_wait(emu::site where = emu::site::here()) {
  emu::cp_async_wait(Pending, where);
}

}  // namespace tw
