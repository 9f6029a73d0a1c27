// SPDX-License-Identifier: Apache-2.0
// find.cu  The device kernels that are compiled in.
#include "registry/cuda/families.hpp"
#include "registry/find.hpp"

namespace tw::registry {

namespace {
struct families {
  template <elem AB, elem D, operand_major A, operand_major B>
  static family<gpu_launcher> get() {
    return gpu_family<AB, D, A, B>();
  }
};
}  // namespace

gpu_launcher find_gpu(gemm_config const& c) { return find_in<gpu_launcher, families>(c); }

}  // namespace tw::registry
