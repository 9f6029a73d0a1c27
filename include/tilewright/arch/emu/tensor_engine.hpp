// SPDX-License-Identifier: Apache-2.0
// tensor_engine.hpp  Functions of the engine in src/emu that the emulated vocabulary of tcgen05
//                    calls. Kernel authors use tmem.hpp and umma.hpp, not these functions.
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/tensor_memory.hpp"

namespace tw::emu {

void tmem_alloc(std::uint32_t* address, int columns, int ctas, site where);
void tmem_dealloc(std::uint32_t address, int columns, int ctas, site where);
void tmem_relinquish(int ctas, site where);

/// A load or store of a whole warp.
struct tmem_form {
  tmem_shape shape;
  int count;
  bool packed;
  int split;
  bool operator==(tmem_form const&) const = default;
};
void tmem_load(tmem_form const& f, std::uint32_t address, std::uint32_t* regs, site where);
void tmem_store(tmem_form const& f, std::uint32_t address, std::uint32_t const* regs, site where);
void tmem_wait_load(site where);
void tmem_wait_store(site where);
void tcgen05_fence_before(site where);
void tcgen05_fence_after(site where);

/// tma_load; the barrier is that of the pair's even CTA.
void tma_load_pair(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                   site where);

/// tma_load_multicast; each barrier is that of the even CTA of a pair.
void tma_load_pair_multicast(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                             std::uint32_t cta_mask, site where);

struct umma_call {
  umma_kind kind;
  int ctas;
  std::uint32_t d;  // in tensor memory
  bool a_in_tmem;
  std::uint64_t a, b;  // descriptors; a: an address where A is in tensor memory
  std::uint32_t idesc;
  bool accumulate;
  int block = 0;  // elements of a scale factor; 0: none
  std::uint32_t sfa = 0, sfb = 0;
};
struct tmem_copy_call {
  tmem_copy_shape shape;
  tmem_unpack unpack;
  int ctas;
  std::uint32_t to;
  std::uint64_t from;  // a descriptor
};
void tmem_copy(tmem_copy_call const& call, site where);
void umma(umma_call const& call, site where);
/// mask: the CTAs of the cluster whose barrier gets the arrive; 0: the own CTA alone.
void umma_commit(void* bar, int ctas, std::uint32_t mask, bool multicast, site where);

}  // namespace tw::emu
