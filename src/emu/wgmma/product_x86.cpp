// SPDX-License-Identifier: Apache-2.0
// product_x86.cpp  Which of the vector versions of the multiply this x86-64 processor can run.
#include "emu/wgmma/product_isa.hpp"

namespace tw::emu {

product_version const* vector_product(product_isa isa) {
  __builtin_cpu_init();
  if (isa == product_isa::avx512 && __builtin_cpu_supports("avx512f") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return &product_avx512;
  // Processors with AVX2 have F16C, too.
  if (isa == product_isa::avx2 && __builtin_cpu_supports("avx2") != 0 &&
      __builtin_cpu_supports("fma") != 0)
    return &product_avx2;
  return nullptr;
}

}  // namespace tw::emu
