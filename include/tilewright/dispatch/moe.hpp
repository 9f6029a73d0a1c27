// SPDX-License-Identifier: Apache-2.0
// moe.hpp  The launches around the GEMMs of a mixture of experts, on a GPU or in the emulator:
//          pairs (token, choice) sorted by expert, rows gathered in that order, and the rows of a
//          token's choices added. The GEMMs between them take `ends` as their groups
//          (gemm_problem::groups). docs/groups.md has a layer.
#pragma once

#include <cstdint>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/elem.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// Tokens, of which each goes to `choices` experts of `experts`; rows of `cols` elements.
struct moe_problem {
  std::int64_t tokens = 0, choices = 1, experts = 1, cols = 0;
  elem type = elem::bf16;  // of rows: bf16, f16 or f32
  /// Elements between neighbouring rows of tokens, and of pairs; 0: cols.
  std::int64_t token_pitch = 0, pair_pitch = 0;
  bool scattered = false;  // combine: the rows of pairs are in the order of the pairs
};

/// Addresses on the device that runs the launch. pairs: tokens * choices.
struct moe_operands {
  std::int32_t const* chosen = nullptr;  // (tokens, choices): experts; outside of 0 .. : none
  std::int32_t* counts = nullptr;        // (experts), or nullptr
  std::int32_t* ends = nullptr;          // (experts): places of an expert end before it
  std::int32_t* source = nullptr;        // (pairs): the pair at each place
  std::int32_t* place = nullptr;         // (pairs): the place of each pair, or -1
  float const* weights = nullptr;        // (tokens, choices), or nullptr: all are 1
  void const* from = nullptr;            // gather: rows of tokens; combine: rows of pairs
  void* to = nullptr;                    // gather: rows of pairs; combine: rows of tokens
};

/// Sorts pairs by expert: stable, in one launch, without atomics. Writes counts, ends, source and
/// place. Throws `rejected` before the launch: TW0497 for extents, TW0408 and TW0409 for addresses,
/// TW05xx without a GPU.
void moe_sort(moe_problem const& p, moe_operands const& o, cudaStream_t stream);
void moe_sort_emulated(moe_problem const& p, moe_operands const& o,
                       emu::options const& options = {});

/// Copies the row of each place's token; reads ends and source. Rows after the last place are not
/// written. Throws as moe_sort().
void moe_gather(moe_problem const& p, moe_operands const& o, cudaStream_t stream);
void moe_gather_emulated(moe_problem const& p, moe_operands const& o,
                         emu::options const& options = {});

/// Row t of `to` = the sum over the choices of token t, in order, of weight times the row at its
/// place (scattered: at its number), in float32, rounded once: deterministic. Pairs without an
/// expert take no part. Throws as moe_sort().
void moe_combine(moe_problem const& p, moe_operands const& o, cudaStream_t stream);
void moe_combine_emulated(moe_problem const& p, moe_operands const& o,
                          emu::options const& options = {});

}  // namespace tw
