// SPDX-License-Identifier: Apache-2.0
// device_scales.hpp  Scales of an operand of the tests on a GPU.
#pragma once

#include <optional>

#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"

namespace tw::test {

class device_scales {
 public:
  explicit device_scales(std::optional<scales> const& s) {
    if (!s) return;
    must(cudaMalloc(&data, s->memory.size()));
    must(cudaMemcpy(data, s->memory.data(), s->memory.size(), cudaMemcpyHostToDevice));
  }
  ~device_scales() { static_cast<void>(cudaFree(data)); }
  device_scales(device_scales const&) = delete;
  device_scales& operator=(device_scales const&) = delete;
  void* data = nullptr;
};

}  // namespace tw::test
