// SPDX-License-Identifier: Apache-2.0
// warp_checks.hpp  Loads of 16 bytes, and the multiply of a warp on exact sums.
#pragma once

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/warp.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

template <class M>
std::string check_load_16(M& m) {
  constexpr int ctas = 3, threads = ctas * load_16_kernel::threads;
  std::vector<std::uint32_t> memory(4 * 1000), want(8 * threads);
  std::mt19937 random(3);
  for (std::uint32_t& x : memory) x = static_cast<std::uint32_t>(random());
  std::vector<int> which(threads);
  for (int& x : which) x = static_cast<int>(random() % 1000);
  auto* const out = upload(m, want);
  run<load_16_kernel>(m, ctas, {upload(m, memory), upload(m, which), out});
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] = memory[4 * static_cast<std::size_t>(which[i / 8]) + i % 4];
  return differences(download(m, out, want.size()), want);
}

template <elem E, int K, bool F16Sums, class M>
std::string check_mma(M& m) {
  std::vector<float> const a = small_integers(16 * 32, 1);
  std::vector<float> b = small_integers(8 * 32, 2);
  if (F16Sums)  // whose integers are exact up to 2048
    for (float& x : b) x = x > 0 ? 1.0F : -1.0F;
  auto const narrow = [](std::vector<float> const& x) {
    std::vector<std::uint16_t> bits;
    for (float const v : x) bits.push_back(E == elem::bf16 ? to_bf16(v).bits : to_f16(v).bits);
    return bits;
  };
  std::vector<float> want(16 * 8);
  float* const d = upload(m, want);
  run<mma_kernel<E, K, F16Sums>>(m, 1, {upload(m, narrow(a)), upload(m, narrow(b)), d});
  for (int i = 0; i < 16 * 8; ++i)
    for (int k = 0; k < 32; ++k) want[i] += a[i / 8 * 32 + k] * b[i % 8 * 32 + k];
  return differences(download(m, d, want.size()), want);
}

template <class M>
std::vector<check<M>> warp_checks() {
  return {{"load_16 and load_16_once", check_load_16<M>},
          {"mma_sync m16n8k16 of bf16", check_mma<elem::bf16, 16, false, M>},
          {"mma_sync m16n8k16 of f16", check_mma<elem::f16, 16, false, M>},
          {"mma_sync m16n8k8 of bf16", check_mma<elem::bf16, 8, false, M>},
          {"mma_sync m16n8k8 of f16", check_mma<elem::f16, 8, false, M>},
          {"mma_sync m16n8k16 with f16 sums", check_mma<elem::f16, 16, true, M>},
          {"mma_sync m16n8k8 with f16 sums", check_mma<elem::f16, 8, true, M>}};
}

}  // namespace tw::test
