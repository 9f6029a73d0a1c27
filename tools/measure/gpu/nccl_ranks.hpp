// SPDX-License-Identifier: Apache-2.0
// nccl_ranks.hpp  NCCL communicators of the GPUs of one process, a thread for each.
#pragma once

#include <string>
#include <vector>

#include "dist/nccl.hpp"

namespace tw::bench {

/// Makes and destroys the communicators. Sets NCCL_NVLS_ENABLE=0: without multicast objects.
class nccl_ranks {
 public:
  /// Ranks 0 .. ranks - 1 on the devices of these numbers. Throws `rejected` TW0908.
  explicit nccl_ranks(int ranks);
  ~nccl_ranks();
  nccl_ranks(nccl_ranks const&) = delete;
  nccl_ranks& operator=(nccl_ranks const&) = delete;

  dist::nccl_functions const& functions() const { return functions_; }
  ncclComm_t comm(int rank) const { return comms_[static_cast<std::size_t>(rank)]; }

 private:
  dist::nccl_functions functions_;
  int (*destroy_)(ncclComm_t) = nullptr;
  std::vector<ncclComm_t> comms_;
};

}  // namespace tw::bench
