// SPDX-License-Identifier: Apache-2.0
// batch_maps.hpp  A batch by pointers: writes a tensor map for each matrix, before the GEMM.
//
// TMA needs a map per base address, and the addresses are known to the GPU alone. A thread copies
// the operand's map and sets the matrix's address in it; the GEMM acquires the map of a product
// when it comes to it. PTX ISA, "tensormap.replace".
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/batch_maps_params.hpp"

namespace tw {

struct batch_maps {
  using params = batch_maps_params;
  static constexpr int threads = 128;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = 0;
  static constexpr int ctas(int batch) { return (batch + threads - 1) / threads; }

  TW_DEVICE static void run(params const& p) {
    int const product = cta_id() * threads + thread_id();
    if (product >= p.batch) return;
    TW_UNROLL
    for (int i = 0; i < 3; ++i) {
      batch_maps_of const& of = p.operand[i];
      if (of.maps == nullptr) continue;
      of.maps[product] = of.like;
      tensor_map_set_address(of.maps[product], of.addresses[product]);
    }
    tensor_map_release();
  }
};

}  // namespace tw
