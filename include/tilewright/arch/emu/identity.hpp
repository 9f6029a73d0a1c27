// SPDX-License-Identifier: Apache-2.0
// identity.hpp  Which thread am I, and where is my shared memory (emulated).
#pragma once

#include <bit>

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/shuffle.hpp"
#include "tilewright/arch/thread_extents.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

TW_DEVICE int thread_id() { return emu::self->id; }
TW_DEVICE int thread_id_anew() { return thread_id(); }
TW_DEVICE void compiler_fence() {}
TW_DEVICE int lane_id() { return emu::self->id % 32; }
// Shuffles on the GPU: they wait for all lanes of the warp that have not ended.
TW_DEVICE int warp_id(emu::site where = emu::site::here()) {
  emu::first_lane_gives("warp_id", where);
  return emu::self->id / 32;
}
TW_DEVICE int warp_uniform(int x, emu::site where = emu::site::here()) {
  return emu::largest(x, all_lanes, "warp_uniform", where);
}
TW_DEVICE int warpgroup_id(emu::site where = emu::site::here()) {
  emu::first_lane_gives("warpgroup_id", where);
  return emu::self->id / 128;
}
TW_DEVICE int cluster_rank() { return emu::self->cluster_rank; }
TW_DEVICE int cluster_id() { return emu::self->cluster_index_x; }
TW_DEVICE int cluster_count() { return emu::self->cluster_extent_x; }
TW_DEVICE int cta_id() { return emu::self->cta_index.x; }
TW_DEVICE int cta_count() { return emu::self->grid.x; }
TW_DEVICE extents3 cta_index() { return emu::self->cta_index; }
TW_DEVICE extents3 grid_extents() { return emu::self->grid; }
template <class K>
TW_DEVICE extents3 thread_index() {
  return detail::thread_index<K>(thread_id());
}
TW_DEVICE int thread_count() { return emu::self->thread_count; }

/// Names what this thread does from here on, for the emulator's reports; nothing on the GPU.
TW_DEVICE void enter_role(char const* name) { emu::self->role = name; }

/// `bytes` of this CTA's shared memory from `p`, none if that is not positive, hold anything from
/// here on: what the async proxy reads of them decides nothing. They become NaNs, so that it shows
/// if something depends on them; for the hazard checker it is a write, after which nothing is to
/// do.
TW_DEVICE void leave_undefined(void* p, int bytes, emu::site where = emu::site::here()) {
  emu::leave_undefined(p, bytes, where);
}

/// True in exactly one lane of a converged warp (here the first one that has not ended).
TW_DEVICE bool elect_one(emu::site where = emu::site::here()) {
  return lane_id() == std::countr_zero(emu::lanes_that_arrive("elect_one", where));
}

/// The CTA's dynamic shared memory as a typed struct.
template <class Smem>
TW_DEVICE Smem& dynamic_smem() {
  return *reinterpret_cast<Smem*>(emu::self->smem);
}

/// 32-bit shared address of an object in the CTA's shared memory.
TW_DEVICE std::uint32_t smem_addr(void const* p, emu::site where = emu::site::here()) {
  return emu::smem_address(p, where);
}

/// The corresponding object in CTA `cta` of the cluster.
template <class T>
TW_DEVICE T* dsmem(T* own, int cta, emu::site where = emu::site::here()) {
  return static_cast<T*>(emu::peer_address(own, cta, where));
}

}  // namespace tw
