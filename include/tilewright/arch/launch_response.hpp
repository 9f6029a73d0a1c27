// SPDX-License-Identifier: Apache-2.0
// launch_response.hpp  The answer to launch_cancel(), in shared memory.
#pragma once

#include <cstdint>

namespace tw {

/// 16 bytes that launch_cancel() fills and launch_cancelled() reads. PTX ISA,
/// "clusterlaunchcontrol.try_cancel": an opaque value.
struct alignas(16) launch_response {
  std::uint64_t bits[2];
};

}  // namespace tw
