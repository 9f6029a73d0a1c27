// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of the launches that quantise a matrix.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"

namespace tw {

/// The parts of the work: all of it, where a CTA has whole blocks; else, for one block that all
/// CTAs share, its amax, and then its values.
enum class quantize_pass : std::int32_t { whole_blocks, amax, values };

struct quantize_params {
  void const* from;
  void* to;
  void* scales;
  std::uint32_t* amax;              // bits of a float; zero before its pass
  std::int64_t from_outer, from_k;  // strides, elements
  std::int64_t to_outer, to_k;
  std::int64_t scale_outer, scale_k;  // from a block to the next
  std::int64_t outer, k;              // extents
  std::int64_t block_outer, block_k;  // of a block
  std::int64_t k_blocks, blocks;      // along K, and all
  int packed_log2;                    // 2^packed_log2 blocks along K are adjacent in memory
  int team;                           // threads that share a block: a warp or a CTA
  quantize_pass pass;
  elem from_type, to_type;
  int scale_ue8m0, power_of_two, by_fours;  // by_fours: words of four elements along K
  int given;                                // the scale of the one block is read
};

}  // namespace tw
