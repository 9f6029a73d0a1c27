// SPDX-License-Identifier: Apache-2.0
// engine.hpp  Functions of the engine in src/emu that the emulated vocabulary calls.
//             Kernel authors use the headers beside this one, not these functions.
#pragma once

#include <cstdint>

#include "tilewright/arch/atomic_operand.hpp"
#include "tilewright/arch/emu/site.hpp"
#include "tilewright/arch/launch_response.hpp"
#include "tilewright/arch/reduce_operand.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/arch/wgmma_kind.hpp"

namespace tw::emu {

/// The running CUDA thread, as its identity functions see it.
struct thread_face {
  int id = 0;   // in the CTA
  int cta = 0;  // in the grid, counted along x, then y, then z
  extents3 cta_index{0, 0, 0}, grid;
  int thread_count = 0;                           // of the CTA
  int cluster_rank = 0, cluster = 0;              // the cluster in the grid, counted as cta
  int cluster_index_x = 0, cluster_extent_x = 0;  // along x
  char const* role = "";                          // as the kernel names it
  std::byte* smem = nullptr;                      // dynamic shared memory of the CTA
  std::uint32_t wgmma_known_done = 0;             // groups of its warpgroup that it has waited for
};
extern thread_local constinit thread_face* self;

/// Shared addresses start here, as on the GPU with dynamic shared memory only.
inline constexpr std::uint32_t smem_base = 0x400;

std::uint32_t smem_address(void const* p, site where);
void* peer_address(void* own, int cta, site where);
void leave_undefined(void* p, int bytes, site where);

void mbarrier_init(void* bar, int arrivals, site where);
void mbarrier_inval(void* bar, site where);
void mbarrier_arrive(void* bar, int count, site where);
void mbarrier_arrive_relaxed(void* bar, site where);
/// Arrives once; the bits of an mbarrier_token.
std::uint64_t mbarrier_arrive_token(void* bar, site where);
enum class arrive_order : std::uint8_t { relaxed_cluster, release_cta, release_cluster };
void mbarrier_arrive_remote(void* bar, int cta, arrive_order order, site where);
void mbarrier_expect_tx(void* bar, int bytes, site where);
void mbarrier_expect_tx_remote(void* bar, int cta, int bytes, site where);
void mbarrier_arrive_expect_tx(void* bar, int bytes, site where);
bool mbarrier_try_wait(void* bar, std::uint32_t parity, scope s, site where);
bool mbarrier_test_wait(void* bar, std::uint32_t parity, scope s, site where);
void mbarrier_wait(void* bar, std::uint32_t parity, scope s, site where);
void mbarrier_wait_relaxed(void* bar, std::uint32_t parity, site where);

/// Requests a cluster that has not been launched. The answer is written to `answer` of this CTA, or
/// with `multicast` of every CTA of the cluster, and completes a transaction of 16 bytes on `bar`.
void launch_cancel(launch_response* answer, void* bar, bool multicast, site where);
bool launch_cancelled(launch_response const* answer, site where);
extents3 launch_cancelled_cta(launch_response const* answer, site where);
/// 4, 8 or 16 bytes, written at once: only the barrier's phase says that they are there.
void store_async(void* own, void const* value, int bytes, void* bar, int cta, site where);

void fence_proxy_async(site where);
void fence_mbarrier_init(site where);
void cta_sync(site where);
void warp_sync(site where);
void named_barrier(int id, int threads, bool wait, site where);
void cluster_arrive(bool release, site where);
void cluster_wait(site where);
void backoff(site where);

void tma_load(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
              std::uint32_t cta_mask, bool multicast, site where);
void tma_store(tensor_map const& map, void const* smem, int const* at, int rank, site where);
void tma_reduce(tensor_map const& map, void const* smem, int const* at, int rank, reduce_op op,
                site where);
void tma_prefetch(tensor_map const& map, int const* at, int rank, site where);
void tma_store_commit(site where);
void tma_store_wait(int pending, bool read_only, site where);
void tma_check_map(tensor_map const& map, site where);
// Without a tensor map: bytes that lie together.
void bulk_load(void* smem, void const* global, int bytes, void* bar, std::uint32_t cta_mask,
               bool multicast, site where);
void bulk_copy_to_peer(void* own, void const* smem, int bytes, void* bar, int cta, site where);
void bulk_store(void* global, void const* smem, int bytes, site where);
void bulk_reduce(void* global, void const* smem, int bytes, reduce_op op,
                 tw::detail::reduce_type type, site where);
void bulk_reduce_to_peer(void* own, void const* smem, int bytes, void* bar, int cta, reduce_op op,
                         tw::detail::reduce_type type, site where);
void bulk_prefetch(void const* global, int bytes, site where);
void prefetch_l2(void const* global, site where);
void tensor_map_set_address(tensor_map& map, void const* tensor, site where);
void tensor_map_release(site where);
void tensor_map_acquire(tensor_map const& map, site where);

/// One thread's registers of an accumulator.
struct accumulator_state {
  std::uint32_t busy_group = 0;  // number, from 1, of the last wgmma group that writes them
  site busy_at;                  // that wgmma
  bool touched = true;           // read or written since the last wgmma_fence
  site touched_at;
};
struct accumulator_storage {
  void* tile;  // 64 x N words, column-major: float, std::int32_t, or pairs of f16
  accumulator_state* state;
};
accumulator_storage accumulator_open(elem sums, int n, site where);
void accumulator_close();
/// Registers that wgmma still writes are touched.
void accumulator_misused(accumulator_state const& a, int element, site where);
void wgmma_fence(accumulator_state& a, site where);
struct wgmma_call {
  wgmma_form form;
  void* d;
  accumulator_state* registers;
  smem_desc a, b;
  bool a_in_registers, accumulate;
};
/// watched: the registers of A are a variable, which must not change before the wait.
void wgmma_record(wgmma_call const& call, std::uint32_t const* a_regs, bool watched, site where);
void wgmma_commit(site where);
void wgmma_wait(int pending, site where);

void stmatrix(void* row, std::uint32_t const* regs, int count, bool transposed, site where);
void ldmatrix(void const* row, std::uint32_t* regs, int count, bool transposed, site where);

/// 16 bytes of global memory, as a thread's ordinary load: its address is a multiple of 16.
void load_16(void const* from, std::uint32_t* regs, site where);

/// One instruction of a warp in which each lane gives `count` words, at most 8, and then has those
/// of all: words[lane][i].
struct warp_words {
  std::uint32_t words[32][8];
  std::uint32_t took_part;  // lanes
};
/// Of all 32 lanes.
void exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all, site where);
/// Of the lanes of `mask` that have not ended.
void exchange_among(std::uint32_t mask, std::uint32_t const* mine, int count, char const* name,
                    warp_words& all, site where);
/// All lanes of the warp that have not ended are here: which ones.
std::uint32_t lanes_that_arrive(char const* name, site where);
/// All live lanes are here, and lane 0 is one of them: every lane gets its value.
void first_lane_gives(char const* name, site where);
enum class shuffle_mode : std::uint8_t { index, up, down, exclusive_or };
/// `count` words, at most 2, from the lane that b and width name.
void shuffle(shuffle_mode mode, std::uint32_t* words, int count, int b, int width,
             std::uint32_t mask, site where);
/// D of mma_sync with k (8 or 16) elements along K for this lane, from all lanes' k / 4 words of A
/// and k / 8 of B. sums: f32, or f16, whose values d has; the caller rounds.
void multiply_16x8(elem type, elem sums, int k, warp_words const& all, float* d);

void set_max_regs(int registers, bool more, site where);  // more: setmaxnreg.inc

void fence_proxy_async_global(site where);
void fence_acq_rel(scope s, site where);
void fence_sc(scope s, site where);
/// Atomic accesses of `bytes` (4 or 8) in global or shared memory; the value's bits are the low
/// ones.
std::uint64_t atomic_load(void const* p, int bytes, mem_order o, scope s, site where);
void atomic_store(void* p, std::uint64_t value, int bytes, mem_order o, scope s, site where);
enum class atomic_op : std::uint8_t {
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_exchange
};
/// Returns the old value. compare: of compare_exchange alone.
std::uint64_t atomic(void* p, atomic_op op, tw::detail::atomic_type type, int bytes,
                     std::uint64_t value, std::uint64_t compare, mem_order o, scope s, site where);

/// `valid` bytes are copied, zeros fill the rest.
void cp_async(void* smem, void const* global, int bytes, int valid, site where);
void cp_async_commit(site where);
/// counted: the phase waits for this arrive besides those that init() announced (not .noinc).
void cp_async_mbarrier_arrive(void* bar, bool counted, site where);
void cp_async_wait(int pending, site where);

void grid_dependency_wait(site where);

}  // namespace tw::emu
