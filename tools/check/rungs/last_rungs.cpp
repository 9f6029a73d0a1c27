// SPDX-License-Identifier: Apache-2.0
// last_rungs.cpp  Rungs 8 to 11: clusters, streaming stores, asynchronous stores, Hilbert order.
#include "ladder/08_clusters.hpp"
#include "ladder/09_streaming_stores.hpp"
#include "ladder/10_async_stores.hpp"
#include "ladder/11_hilbert.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> last_rungs() {
  constexpr config c{.breakable = true};
  return {row<rung_08<c>>(8, "08_clusters", "clusters, TMA multicast", true),
          row<rung_09<c>>(9, "09_streaming_stores", "store order, streaming stores", true),
          row<rung_10<c>>(10, "10_async_stores", "stores by TMA", true),
          row<rung_11<c>>(11, "11_hilbert", "Hilbert order", true)};
}

}  // namespace ladder
