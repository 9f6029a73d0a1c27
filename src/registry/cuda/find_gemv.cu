// SPDX-License-Identifier: Apache-2.0
// find_gemv.cu  The GEMV kernels for the device that are compiled in.
#include "registry/cuda/gemv_families.hpp"

namespace tw::registry {

namespace {
struct families {
  template <elem AB, elem D>
  static gemv_family<gemv_gpu_launcher> get() {
    return gpu_gemv_family<AB, D>();
  }
};
}  // namespace

gemv_gpu_launcher find_gpu(gemv_config const& c) {
  return find_gemv_in<gemv_gpu_launcher, families>(c);
}

}  // namespace tw::registry
