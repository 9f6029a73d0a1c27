// SPDX-License-Identifier: Apache-2.0
// bit_kinds.hpp  The kinds of wgmma whose sums are measured, and compared bit for bit.
#pragma once

#include "tests/arch/kernels/accumulator_probe.hpp"
#include "tests/arch/kernels/bit_checks.hpp"

namespace tw::test {

template <class K, class M>
bit_kind<M> bit_kind_of() {
  bit_kind<M> k{text("wgmma n", K::form.n, " ", name(K::form.a_type), " ", name(K::form.b_type),
                     " sums ", name(K::form.sums)),
                check_bits<K, M>, run_bits<K, M>, nullptr};
  if constexpr (!is_integer(K::form.sums)) k.facts = probe_json<K, M>;
  return k;
}

template <class M>
std::vector<bit_kind<M>> bit_kinds() {
  using enum elem;
  return {bit_kind_of<wgmma_kind_kernel<bf16, bf16, float, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<f16, f16, float, 24>, M>(),
          bit_kind_of<wgmma_kind_kernel<f16, f16, tw::f16, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<tf32, tf32, float, 16>, M>(),
          bit_kind_of<wgmma_kind_kernel<e4m3, e4m3, float, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<e5m2, e5m2, float, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<e4m3, e5m2, float, 64>, M>(),
          bit_kind_of<wgmma_kind_kernel<e5m2, e4m3, float, 8, true>, M>(),
          bit_kind_of<wgmma_kind_kernel<e4m3, e4m3, tw::f16, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<e5m2, e5m2, tw::f16, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<s8, s8, std::int32_t, 8>, M>(),
          bit_kind_of<wgmma_kind_kernel<u8, s8, std::int32_t, 8, false, integer_overflow::saturate>,
                      M>()};
}

}  // namespace tw::test
