// SPDX-License-Identifier: Apache-2.0
// nccl_collectives.hpp  The collectives of a communicator, on the stream of a rank's calls.
#pragma once

#include <functional>
#include <vector>

#include "dist/membership.hpp"
#include "dist/nccl.hpp"

namespace tw::dist {

class nccl_collectives final : public collectives {
 public:
  /// Both outlive the object. *stream: of the call in progress.
  nccl_collectives(nccl_arena const& arena, cudaStream_t const* stream)
      : arena_(arena),
        stream_(stream) {}

  // Throw TW0908 if NCCL fails. Unequal parts take a call for each rank, in one group of calls.
  void gather(void const* own, std::byte* all, std::vector<range> const& parts) override;
  void reduce_scatter(void const* all, void* to, std::vector<range> const& parts,
                      elem type) override;
  void all_reduce(void const* from, void* to, std::int64_t count, elem type) override;

 private:
  void check(int result, char const* call) const;
  void in_a_group(std::function<void()> const& calls) const;
  bool are_even(std::vector<range> const& parts) const;

  nccl_arena const& arena_;
  cudaStream_t const* stream_;
};

}  // namespace tw::dist
