// SPDX-License-Identifier: Apache-2.0
// token_barrier.hpp  An mbarrier with the interface of cuda::barrier: arrive returns a token.
#pragma once

#include "tilewright/arch/select.hpp"

namespace ladder {

/// A token names the phase at which a thread arrived, and wait takes it: so every thread that waits
/// has to arrive too, and the phase completes with the last of them. Rung 7 explains the cost.
struct token_barrier {
  tw::mbarrier barrier;

  TW_DEVICE void init(int arrivals) { barrier.init(arrivals); }
  TW_DEVICE tw::mbarrier_token arrive() { return barrier.arrive_token(); }
  TW_DEVICE tw::mbarrier_token arrive_expect_tx(int bytes) {
    return barrier.arrive_expect_tx_token(bytes);
  }
  TW_DEVICE void wait(tw::mbarrier_token t) { barrier.wait_token(t); }
};

}  // namespace ladder
