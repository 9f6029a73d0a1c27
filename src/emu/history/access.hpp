// SPDX-License-Identifier: Apache-2.0
// access.hpp  The kinds of memory accesses and what each one is: one row per kind. A new kind is
//             one row here, and the place in the emulator that makes these accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tw::emu::hazard {

enum class access : std::uint8_t {
  plain_read,
  plain_write,
  stmatrix,
  ldmatrix,
  tma_write,       // the destination of a TMA load
  answer_write,    // of the answer to a launch_cancel
  peer_write,      // of a bulk copy from a peer
  tma_store_read,  // the source of a TMA store
  wgmma_read,
  cp_async_write,  // the destination of a cp.async
  async_write,     // of store_async()
  undefined,       // leave_undefined()
  // In global memory
  cp_async_read,    // the source of a cp.async
  tma_load_read,    // the source of a TMA load
  tma_store_write,  // the destination of a TMA store
  tma_reduce,       // the destination of a TMA reduction
  engine_read,      // the source of a copy by a copy engine
  engine_write,     // its destination
  // In either
  atomic_read,
  atomic_write,
  map_read,        // a TMA copy's tensor map
  bulk_copy_read,  // in shared memory, the source of a copy to a peer's
  bulk_reduce,     // in a peer's shared memory, the destination of a reduction
  // Of tcgen05
  umma_read,        // operands in shared memory
  umma_write,       // the accumulator
  umma_a_read,      // A in tensor memory
  umma_scale_read,  // scale factors in tensor memory
  tmem_copy_read,   // the source of a tcgen05.cp
  tmem_copy_write,  // its destination
  tmem_load,
  tmem_store,
  tmem_free,  // tcgen05.dealloc
};
inline constexpr std::size_t access_kinds = 32;

enum class space : std::uint8_t { shared, global, either, tensor };

/// The path to memory. PTX ISA, "Memory Consistency Model", "Proxies": cp.async and st.async use
/// the generic proxy; cp.async.bulk, cp.reduce.async.bulk and wgmma.mma_async the async proxy.
enum class proxy : std::uint8_t { generic, async };

/// The event that shows that the access has been carried out: the component of its record
/// (clock.hpp).
enum class completion : std::uint8_t {
  program_order,   // of its thread
  mbarrier_phase,  // PTX ISA, "cp.async.bulk": complete_tx on an mbarrier
  bulk_group,      // PTX ISA, "cp.async.bulk.wait_group"
  wgmma_group,     // PTX ISA, "wgmma.wait_group"
  copy_group,      // PTX ISA, "cp.async.wait_group"
  tensor_commit,   // PTX ISA, "tcgen05.commit"
  tensor_wait,     // PTX ISA, "tcgen05.wait"
};

struct access_traits {
  access what;
  space where;
  bool write;
  hazard::proxy path;
  completion completes;
  bool atomic;         // indivisible among accesses of its kind: nothing has to order the two
  bool names_actor;    // the report's "now" line says which thread made it
  int cycles;          // of a warp, in the timeline's model; 0: the engine that carries it out has
                       // separate costs (trace/costs.hpp)
  char const* now;     // "An ordinary load reads", the begin of a report's first sentence
  char const* noun;    // "an ordinary load"
  char const* did;     // "has read"
  char const* did_by;  // "read" in "read at file:line by thread 3"
};

inline constexpr std::array<access_traits, access_kinds> access_table{{
    {access::plain_read, space::either, false, proxy::generic, completion::program_order, false,
     true, 4, "An ordinary load reads", "an ordinary load", "has read", "read"},
    {access::plain_write, space::either, true, proxy::generic, completion::program_order, false,
     true, 4, "An ordinary store writes", "an ordinary store", "has written", "written"},
    {access::stmatrix, space::shared, true, proxy::generic, completion::program_order, false, true,
     16, "stmatrix writes", "stmatrix", "has written", "written with stmatrix"},
    {access::ldmatrix, space::shared, false, proxy::generic, completion::program_order, false, true,
     16, "ldmatrix reads", "ldmatrix", "has read", "read with ldmatrix"},
    {access::tma_write, space::shared, true, proxy::async, completion::mbarrier_phase, false, true,
     0, "A TMA load writes", "a TMA load", "has written", "written by a TMA load"},
    {access::answer_write, space::shared, true, proxy::async, completion::mbarrier_phase, false,
     true, 0, "An answer to launch_cancel writes", "an answer to launch_cancel", "has written",
     "written by an answer to launch_cancel"},
    {access::peer_write, space::shared, true, proxy::async, completion::mbarrier_phase, false, true,
     0, "A bulk copy to a peer writes", "a bulk copy to a peer", "has written",
     "written by a bulk copy to a peer"},
    {access::tma_store_read, space::shared, false, proxy::async, completion::bulk_group, false,
     false, 0, "A TMA store reads", "a TMA store", "has read", "read by a TMA store"},
    {access::wgmma_read, space::shared, false, proxy::async, completion::wgmma_group, false, false,
     0, "wgmma reads", "wgmma", "has read", "read by wgmma"},
    {access::cp_async_write, space::shared, true, proxy::generic, completion::copy_group, false,
     false, 0, "cp.async writes", "cp.async", "has written", "written by cp.async"},
    {access::async_write, space::shared, true, proxy::generic, completion::mbarrier_phase, false,
     true, 0, "store_async writes", "store_async", "has written", "written by store_async"},
    {access::undefined, space::shared, true, proxy::generic, completion::program_order, false, true,
     0, "leave_undefined() changes", "leave_undefined()", "has changed", "left undefined"},
    {access::cp_async_read, space::global, false, proxy::generic, completion::copy_group, false,
     true, 0, "cp.async reads", "cp.async", "has read", "read by a cp.async"},
    {access::tma_load_read, space::global, false, proxy::async, completion::mbarrier_phase, false,
     true, 0, "A TMA load reads", "a TMA load", "has read", "read by a TMA load"},
    {access::tma_store_write, space::global, true, proxy::async, completion::bulk_group, false,
     true, 0, "A TMA store writes", "a TMA store", "has written", "written by a TMA store"},
    {access::tma_reduce, space::global, true, proxy::async, completion::bulk_group, true, true, 0,
     "A TMA reduction changes", "a TMA reduction", "has changed", "changed by a TMA reduction"},
    {access::engine_read, space::global, false, proxy::generic, completion::program_order, false,
     true, 0, "A copy engine reads", "a copy engine", "has read", "read by a copy engine"},
    {access::engine_write, space::global, true, proxy::generic, completion::program_order, false,
     true, 0, "A copy engine writes", "a copy engine", "has written", "written by a copy engine"},
    {access::atomic_read, space::either, false, proxy::generic, completion::program_order, true,
     true, 0, "An atomic load reads", "an atomic load", "has read", "read atomically"},
    {access::atomic_write, space::either, true, proxy::generic, completion::program_order, true,
     true, 0, "An atomic operation changes", "an atomic operation", "has changed",
     "changed atomically"},
    // Of the tensormap proxy, which tensor_map_acquire serves (E0049): no other fence concerns it.
    {access::map_read, space::global, false, proxy::generic, completion::mbarrier_phase, false,
     true, 0, "A TMA copy reads the tensor map in", "a TMA copy", "has read",
     "read as a tensor map by a TMA copy"},
    {access::bulk_copy_read, space::shared, false, proxy::async, completion::mbarrier_phase, false,
     true, 0, "A bulk copy to a peer reads", "a bulk copy to a peer", "has read",
     "read by a bulk copy"},
    {access::bulk_reduce, space::shared, true, proxy::async, completion::mbarrier_phase, true, true,
     0, "A bulk reduction to a peer changes", "a bulk reduction to a peer", "has changed",
     "changed by a bulk reduction"},
    {access::umma_read, space::shared, false, proxy::async, completion::tensor_commit, false, true,
     0, "tcgen05.mma reads", "tcgen05.mma", "has read", "read by tcgen05.mma"},
    {access::umma_write, space::tensor, true, proxy::async, completion::tensor_commit, false, true,
     0, "tcgen05.mma writes", "tcgen05.mma", "has written", "written by tcgen05.mma"},
    {access::umma_a_read, space::tensor, false, proxy::async, completion::tensor_commit, false,
     true, 0, "tcgen05.mma reads A from", "tcgen05.mma", "has read", "read by tcgen05.mma"},
    {access::umma_scale_read, space::tensor, false, proxy::async, completion::tensor_commit, false,
     true, 0, "tcgen05.mma reads scale factors from", "tcgen05.mma", "has read",
     "read by tcgen05.mma"},
    {access::tmem_copy_read, space::shared, false, proxy::async, completion::tensor_commit, false,
     true, 0, "tcgen05.cp reads", "tcgen05.cp", "has read", "read by tcgen05.cp"},
    {access::tmem_copy_write, space::tensor, true, proxy::async, completion::tensor_commit, false,
     true, 0, "tcgen05.cp writes", "tcgen05.cp", "has written", "written by tcgen05.cp"},
    {access::tmem_load, space::tensor, false, proxy::async, completion::tensor_wait, false, true, 0,
     "tcgen05.ld reads", "tcgen05.ld", "has read", "read by tcgen05.ld"},
    {access::tmem_store, space::tensor, true, proxy::async, completion::tensor_wait, false, true, 0,
     "tcgen05.st writes", "tcgen05.st", "has written", "written by tcgen05.st"},
    {access::tmem_free, space::tensor, true, proxy::async, completion::program_order, false, true,
     0, "tcgen05.dealloc gives back", "tcgen05.dealloc", "has given back", "given back"},
}};
static_assert([] {
  for (std::size_t i = 0; i < access_kinds; ++i)
    if (access_table[i].what != static_cast<access>(i)) return false;
  return true;
}());

/// Why two atomic accesses of one word race.
inline constexpr char const* narrow_atomic_cause =
    "two atomic operations are indivisible to each other where the scope of each holds both "
    "threads; "
    "the scope of one of these does not hold the other's CTA";
inline constexpr char const* narrow_atomic_remedy =
    "scope::gpu, which is the default, or scope::cluster between CTAs of one cluster";

constexpr access_traits const& traits(access a) {
  return access_table[static_cast<std::size_t>(a)];
}
constexpr bool is_write(access a) { return traits(a).write; }
/// Is it the destination of a copy that completes on an mbarrier?
constexpr bool lands_on_mbarrier(access a) {
  return a == access::tma_write || a == access::answer_write || a == access::peer_write ||
         a == access::bulk_reduce;
}
constexpr bool is_async(access a) { return traits(a).path == proxy::async; }

}  // namespace tw::emu::hazard
