// SPDX-License-Identifier: Apache-2.0
// bulk.hpp  Bulk copies without a tensor map (emulated). PTX ISA, "cp.async.bulk",
//           "cp.reduce.async.bulk", "cp.async.bulk.prefetch", "prefetch, prefetchu".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/arch/reduce_operand.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

TW_DEVICE void bulk_load(void* smem, void const* global, int bytes, mbarrier& landed,
                         emu::site where = emu::site::here()) {
  emu::bulk_load(smem, global, bytes, &landed, 0, false, where);
}
TW_DEVICE void bulk_load_multicast(void* smem, void const* global, int bytes, mbarrier& landed,
                                   std::uint16_t cta_mask, emu::site where = emu::site::here()) {
  emu::bulk_load(smem, global, bytes, &landed, cta_mask, true, where);
}
TW_DEVICE void bulk_copy_to_peer(void* own, void const* smem, int bytes, mbarrier& landed, int cta,
                                 emu::site where = emu::site::here()) {
  emu::bulk_copy_to_peer(own, smem, bytes, &landed, cta, where);
}
TW_DEVICE void bulk_store(void* global, void const* smem, int bytes,
                          emu::site where = emu::site::here()) {
  emu::bulk_store(global, smem, bytes, where);
}
template <reduce_op Op, class T>
TW_DEVICE void bulk_reduce(T* global, T const* smem, int count,
                           emu::site where = emu::site::here()) {
  detail::check_reduce<Op, T>();
  emu::bulk_reduce(global, smem, count * static_cast<int>(sizeof(T)), Op,
                   detail::reduce_type_of<T>(), where);
}
template <reduce_op Op, class T>
TW_DEVICE void bulk_reduce_to_peer(T* own, T const* smem, int count, mbarrier& landed, int cta,
                                   emu::site where = emu::site::here()) {
  detail::check_reduce_at_peer<Op, T>();
  emu::bulk_reduce_to_peer(own, smem, count * static_cast<int>(sizeof(T)), &landed, cta, Op,
                           detail::reduce_type_of<T>(), where);
}
TW_DEVICE void bulk_prefetch(void const* global, int bytes, emu::site where = emu::site::here()) {
  emu::bulk_prefetch(global, bytes, where);
}
/// The emulator has no L2: only the state space of the address is checked.
TW_DEVICE void prefetch_l2(void const* global, emu::site where = emu::site::here()) {
  emu::prefetch_l2(global, where);
}

}  // namespace tw
