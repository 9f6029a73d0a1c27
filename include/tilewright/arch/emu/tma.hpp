// SPDX-License-Identifier: Apache-2.0
// tma.hpp  Bulk tensor copies (emulated). PTX ISA, "cp.async.bulk.tensor",
//          "cp.reduce.async.bulk.tensor", "tensormap.replace".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int R>
TW_DEVICE void tma_load(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at,
                        emu::site where = emu::site::here()) {
  emu::tma_load(smem, map, &landed, at.c, R, 0, false, where);
}
/// A hint that the emulator, which has no L2, takes and drops.
struct l2_policy {};
TW_DEVICE l2_policy evict_first_policy() { return {}; }
TW_DEVICE l2_policy evict_normal_policy() { return {}; }
template <int R>
TW_DEVICE void tma_load_hinted(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at,
                               l2_policy, emu::site where = emu::site::here()) {
  tma_load(smem, map, landed, at, where);
}
/// Writes the box to the same offset in every CTA of the mask and signals the barrier there.
template <int R>
TW_DEVICE void tma_load_multicast(void* smem, tensor_map const& map, mbarrier& landed,
                                  tma_coord<R> at, std::uint16_t cta_mask,
                                  emu::site where = emu::site::here()) {
  emu::tma_load(smem, map, &landed, at.c, R, cta_mask, true, where);
}
template <int R>
TW_DEVICE void tma_store(tensor_map const& map, void const* smem, tma_coord<R> at,
                         emu::site where = emu::site::here()) {
  emu::tma_store(map, smem, at.c, R, where);
}
template <int R>
TW_DEVICE void tma_store_hinted(tensor_map const& map, void const* smem, tma_coord<R> at, l2_policy,
                                emu::site where = emu::site::here()) {
  tma_store(map, smem, at, where);
}
template <int R>
TW_DEVICE void tma_reduce_add(tensor_map const& map, void const* smem, tma_coord<R> at,
                              emu::site where = emu::site::here()) {
  emu::tma_reduce(map, smem, at.c, R, reduce_op::add, where);
}
template <reduce_op Op, int R>
TW_DEVICE void tma_reduce(tensor_map const& map, void const* smem, tma_coord<R> at,
                          emu::site where = emu::site::here()) {
  emu::tma_reduce(map, smem, at.c, R, Op, where);
}
/// The emulator has no L2: only the map and the coordinates are checked.
template <int R>
TW_DEVICE void tma_prefetch(tensor_map const& map, tma_coord<R> at,
                            emu::site where = emu::site::here()) {
  emu::tma_prefetch(map, at.c, R, where);
}
TW_DEVICE void tma_store_commit(emu::site where = emu::site::here()) {
  emu::tma_store_commit(where);
}
template <int Pending>
TW_DEVICE void tma_store_wait_read(emu::site where = emu::site::here()) {
  emu::tma_store_wait(Pending, true, where);
}
template <int Pending>
TW_DEVICE void tma_store_wait(emu::site where = emu::site::here()) {
  emu::tma_store_wait(Pending, false, where);
}
TW_DEVICE void tma_prefetch_map(tensor_map const& map, emu::site where = emu::site::here()) {
  emu::tma_check_map(map, where);
}
TW_DEVICE void tensor_map_set_address(tensor_map& map, void const* tensor,
                                      emu::site where = emu::site::here()) {
  emu::tensor_map_set_address(map, tensor, where);
}
TW_DEVICE void tensor_map_release(emu::site where = emu::site::here()) {
  emu::tensor_map_release(where);
}
TW_DEVICE void tensor_map_acquire(tensor_map const& map, emu::site where = emu::site::here()) {
  emu::tensor_map_acquire(map, where);
}

}  // namespace tw
