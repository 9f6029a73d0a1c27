// SPDX-License-Identifier: Apache-2.0
// launch_range.hpp  An NVTX range with the kernel's name around a launch, for Nsight Systems and
//                   Nsight Compute.
//
// NVTX version 3 is headers alone, of the CUDA Toolkit. Without a tool that listens the domain is
// null, found once in a process, and a launch costs a comparison.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace tw {

class launch_range {
 public:
  explicit launch_range(char const* kernel) {
    if (domain() == nullptr) return;
    nvtxEventAttributes_t what{};
    what.version = NVTX_VERSION;
    what.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    what.messageType = NVTX_MESSAGE_TYPE_ASCII;
    what.message.ascii = kernel;
    nvtxDomainRangePushEx(domain(), &what);
  }
  ~launch_range() {
    if (domain() != nullptr) nvtxDomainRangePop(domain());
  }
  launch_range(launch_range const&) = delete;
  launch_range& operator=(launch_range const&) = delete;

 private:
  static nvtxDomainHandle_t domain() {
    static nvtxDomainHandle_t const tilewright = nvtxDomainCreateA("tilewright");
    return tilewright;
  }
};

}  // namespace tw
