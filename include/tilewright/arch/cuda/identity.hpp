// SPDX-License-Identifier: Apache-2.0
// identity.hpp  Which thread am I, and where is my shared memory.
#pragma once

#include <cstdint>

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/thread_extents.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Thread in its CTA. PTX ISA, "Special Registers: %tid".
TW_DEVICE int thread_id() { return static_cast<int>(threadIdx.x); }
/// thread_id(), read again: what depends on it is computed at its use. The compiler would else
/// compute it ahead of the loop over tiles and spill it there.
TW_DEVICE int thread_id_anew() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}
/// The compiler moves no access to memory across it: it would else issue the loads of a whole
/// unrolled loop first, and spill what they return.
TW_DEVICE void compiler_fence() { asm volatile("" ::: "memory"); }
/// Lane in its warp. CTAs are 1-D, so this is %laneid without reading it.
TW_DEVICE int lane_id() { return thread_id() % 32; }
/// Warp in its CTA. The shuffle makes the value uniform for the compiler, so what
/// depends on it is a uniform branch; all lanes of the warp must call it. PTX ISA, "shfl.sync".
TW_DEVICE int warp_id() { return __shfl_sync(0xFFFFFFFFU, thread_id() / 32, 0); }
/// x, which is the same in all lanes of the warp, in a way that ptxas recognises: a loop that
/// counts to it stays in uniform registers. PTX ISA, "redux.sync".
TW_DEVICE int warp_uniform(int x) { return __reduce_max_sync(0xFFFFFFFFU, x); }
/// Warpgroup (4 warps) in its CTA; as warp_id.
TW_DEVICE int warpgroup_id() { return __shfl_sync(0xFFFFFFFFU, thread_id() / 128, 0); }

/// CTA in the grid, along x. PTX ISA, "Special Registers: %ctaid".
TW_DEVICE int cta_id() { return static_cast<int>(blockIdx.x); }
/// CTAs of the grid, along x. PTX ISA, "Special Registers: %nctaid".
TW_DEVICE int cta_count() { return static_cast<int>(gridDim.x); }
/// CTA in a grid of up to three dimensions. PTX ISA, "Special Registers: %ctaid".
TW_DEVICE extents3 cta_index() {
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
}
/// Extents of the grid. PTX ISA, "Special Registers: %nctaid".
TW_DEVICE extents3 grid_extents() {
  return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)};
}
/// Thread in a CTA that K arranges as K::thread_extents, x first; K::threads counts them.
template <class K>
TW_DEVICE extents3 thread_index() {
  return detail::thread_index<K>(thread_id());
}
/// Threads of the CTA. PTX ISA, "Special Registers: %ntid".
TW_DEVICE int thread_count() { return static_cast<int>(blockDim.x); }

/// CTA in its cluster. PTX ISA, "Special Registers: %cluster_ctarank".
template <class Target = detail::this_target>
TW_DEVICE int cluster_rank() {
  detail::need_sm90<Target>();
  int r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
/// Cluster in the grid, along x. PTX ISA, "Special Registers: %clusterid".
template <class Target = detail::this_target>
TW_DEVICE int cluster_id() {
  detail::need_sm90<Target>();
  int r;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(r));
  return r;
}
/// Clusters of the grid, along x. PTX ISA, "Special Registers: %nclusterid".
template <class Target = detail::this_target>
TW_DEVICE int cluster_count() {
  detail::need_sm90<Target>();
  int r;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(r));
  return r;
}

/// Names what this thread does from here on: for the emulator's reports; nothing here.
TW_DEVICE void enter_role(char const*) {}
/// These bytes of this CTA's shared memory hold anything from here on, and what the async proxy
/// reads of them decides nothing: for the emulator. No instruction on the GPU.
TW_DEVICE void leave_undefined(void*, int) {}

/// True in exactly one lane of a converged warp. PTX ISA, "elect.sync".
template <class Target = detail::this_target>
TW_DEVICE bool elect_one() {
  detail::need_sm90<Target>();
  std::uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xFFFFFFFF;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

/// The CTA's dynamic shared memory as a typed struct, 1024-byte aligned.
template <class Smem>
TW_DEVICE Smem& dynamic_smem() {
  extern __shared__ __align__(1024) unsigned char tw_dynamic_smem[];
  return *reinterpret_cast<Smem*>(tw_dynamic_smem);
}

/// 32-bit shared::cta address of an object in the CTA's shared memory. PTX ISA, "cvta".
TW_DEVICE std::uint32_t smem_addr(void const* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

namespace detail {
/// shared::cluster address of an object's place in CTA `cta`. PTX ISA, "mapa".
TW_DEVICE std::uint32_t peer_addr(void const* own, int cta) {
  std::uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(smem_addr(own)), "r"(cta));
  return address;
}
}  // namespace detail

/// The corresponding object in CTA `cta` of the cluster, as a generic pointer. PTX ISA, "mapa".
template <class T, class Target = detail::this_target>
TW_DEVICE T* dsmem(T* own, int cta) {
  detail::need_sm90<Target>();
  std::uint64_t peer;
  asm("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(reinterpret_cast<std::uint64_t>(own)), "r"(cta));
  return reinterpret_cast<T*>(peer);
}

}  // namespace tw
