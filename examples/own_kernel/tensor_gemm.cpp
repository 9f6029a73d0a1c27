// SPDX-License-Identifier: Apache-2.0
// tensor_gemm.cpp  The test of the GEMM that is written with tensors and atoms, as a plugin.
#include "tensor_gemm.hpp"

#include "tilewright/arch/emu/plugin.hpp"

using namespace tw;

/// The right result, without the calls for the emulator: they would make it slow.
[[gnu::no_sanitize("thread")]] bf16 dot(float const* a, float const* b, std::int64_t k) {
  float sum = 0;  // exact: the operands are small fractions
  for (std::int64_t x = 0; x < k; ++x) sum += a[x] * b[x];
  return to_bf16(sum);
}

void test_gemm(emu::trial& t) {
  auto const m = t.extent(0), n = t.extent(1), k = t.extent(2);
  std::vector<float> fa(static_cast<std::size_t>(m * k)), fb(static_cast<std::size_t>(n * k));
  std::vector<bf16> a, b;
  for (float& x : fa) a.push_back(to_bf16(x = t.small_fraction()));
  for (float& x : fb) b.push_back(to_bf16(x = t.small_fraction()));
  bf16* const d = t.output<bf16>(m * n);
  int const rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);

  t.run(tensor_gemm{}, static_cast<int>(m / tensor_gemm::bm * (n / tensor_gemm::bn)),
        {t.map(tensor_gemm::map_of(t.input(a), rows, depth, tensor_gemm::a_tile)),
         t.map(tensor_gemm::map_of(t.input(b), columns, depth, tensor_gemm::b_tile)), d, rows,
         columns, depth});

  t.compare(d, m * n,
            [&](std::int64_t i) { return dot(fa.data() + i / n * k, fb.data() + i % n * k, k); });
}

constexpr emu::plugin_shape shapes[] = {{{128, 128, 64}}, {{256, 128, 320}}, {{128, 384, 512}}};
constexpr emu::plugin_kernel kernels[] = {emu::test_of<test_gemm>("tensor_gemm", "M,N,K", shapes)};
constexpr emu::plugin own = emu::plugin_of(kernels);

extern "C" emu::plugin const* tilewright_plugin() { return &own; }
