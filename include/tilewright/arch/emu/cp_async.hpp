// SPDX-License-Identifier: Apache-2.0
// cp_async.hpp  Copies of 4, 8 or 16 bytes that a thread does not wait for (emulated). PTX ISA,
//               "cp.async".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int Bytes>
TW_DEVICE void cp_async(void* smem, void const* global, emu::site where = emu::site::here()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16");
  emu::cp_async(smem, global, Bytes, where);
}
TW_DEVICE void cp_async_commit(emu::site where = emu::site::here()) { emu::cp_async_commit(where); }
template <int Pending>
TW_DEVICE void cp_async_wait(emu::site where = emu::site::here()) {
  emu::cp_async_wait(Pending, where);
}

}  // namespace tw
