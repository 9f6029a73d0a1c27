// SPDX-License-Identifier: Apache-2.0
// execute_test.cpp  Atoms are executed: the GEMM of the example, and one written with cp.async,
//                   ldmatrix and mma.sync atoms, in the emulator.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "examples/own_kernel/tensor_gemm.hpp"

namespace tw {
namespace {

/// D[32,32] = A[32,32] B[32,32]^T: cp.async to shared memory, ldmatrix to fragments, mma.sync.
struct warp_gemm {
  static constexpr int threads = 128, cluster = 1, size_mn = 32, depth = 32;
  static constexpr tiled_mma mma =
      make_tiled_mma(find_mma("mma.sm80.m16n8k16.f32.bf16.bf16"), make_layout(make_shape(2, 2, 1)),
                     tile(32, 32, 16));
  static constexpr tiled_copy load =
      make_tiled_copy(in_values(copy_atom_named("copy.sm80.cp_async.ca.128"), 16), "(32,4):(4,1)"_L,
                      "(1,8):(0,1)"_L);
  static constexpr tiled_copy load_b =
      make_tiled_copy(in_values(copy_atom_named("copy.sm80.cp_async.cg.128"), 16), "(32,4):(4,1)"_L,
                      "(1,8):(0,1)"_L);
  static constexpr tiled_copy read_a =
      make_tiled_copy_a(in_values(copy_atom_named("copy.sm75.ldmatrix.x4"), 16), mma);
  static constexpr tiled_copy read_b =
      make_tiled_copy_b(in_values(copy_atom_named("copy.sm75.ldmatrix.x2"), 16), mma);
  static constexpr layout s_tile = swizzled(make_swizzle(2, 3, 3), "(32,32):(32,1)"_L);
  struct smem {
    alignas(1024) bf16 a[size_mn * depth];
    alignas(1024) bf16 b[size_mn * depth];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    bf16 const* a;
    bf16 const* b;
    float* d;
  };

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const thread = thread_id();
    auto const sA = make_tensor<s_tile>(make_smem_ptr<1024>(s.a));
    auto const sB = make_tensor<s_tile>(make_smem_ptr<1024>(s.b));
    auto const gA = make_tensor<"(32,32):(32,1)"_L>(make_gmem_ptr<16>(p.a));
    auto const gB = make_tensor<"(32,32):(32,1)"_L>(make_gmem_ptr<16>(p.b));
    copy<load>(partition_s<load>(gA, thread), partition_d<load>(sA, thread));
    copy<load_b>(partition_s<load_b>(gB, thread), partition_d<load_b>(sB, thread));
    cp_async_commit();
    cp_async_wait<0>();
    cta_sync();

    fragment<bf16, make_layout_left(make_shape(8, 1, 2))> a;
    fragment<bf16, make_layout_left(make_shape(4, 2, 2))> b;
    fragment<float, make_layout_left(make_shape(4, 1, 2))> c;
    clear(c);
    copy<read_a>(partition_s<read_a>(sA, thread), a);
    copy<read_b>(partition_s<read_b>(sB, thread), b);
    gemm<mma>(a, b, c);
    auto const out =
        partition_c<mma>(make_tensor<"(32,32):(32,1)"_L>(make_gmem_ptr<16>(p.d)), thread);
    copy(c, out);
  }
};

struct operands {
  std::vector<float> fa, fb;
  std::vector<bf16> a, b;

  operands(int m, int n, int k) {
    std::mt19937 random(20261125);
    auto const fill = [&](std::vector<float>& f, std::vector<bf16>& x, int count) {
      for (int i = 0; i < count; ++i) {
        f.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8) / 8.0F);
        x.push_back(to_bf16(f.back()));
      }
    };
    fill(fa, a, m * k);
    fill(fb, b, n * k);
  }
  float right(int row, int column, int k) const {  // exact: small fractions
    float sum = 0;
    for (int x = 0; x < k; ++x) {
      sum +=
          fa[static_cast<std::size_t>(row * k + x)] * fb[static_cast<std::size_t>(column * k + x)];
    }
    return sum;
  }
};

TEST(Execute, CopiesAndMmasOfAWarp) {
  operands const o(32, 32, 32);
  std::vector<float> d(32 * 32, -1.0F);
  launch<warp_gemm>(1, {o.a.data(), o.b.data(), d.data()}, emu::options{});
  for (int i = 0; i < 32 * 32; ++i) {
    ASSERT_EQ(d[static_cast<std::size_t>(i)], o.right(i / 32, i % 32, 32))
        << i / 32 << "," << i % 32;
  }
}

TEST(Execute, TheExampleIsAGemm) {
  for (auto const& [m, n, k] : {std::array{128, 128, 64}, std::array{256, 384, 448}}) {
    operands o(m, n, k);
    std::vector<bf16> d(static_cast<std::size_t>(m * n), to_bf16(-1.0F));
    tensor_gemm::params const p{
        make_tensor_map(tensor_gemm::map_of(o.a.data(), m, k, tensor_gemm::a_tile), target::emu),
        make_tensor_map(tensor_gemm::map_of(o.b.data(), n, k, tensor_gemm::b_tile), target::emu),
        d.data(),
        m,
        n,
        k};
    launch<tensor_gemm>(m / 128 * (n / 128), p, emu::options{});
    for (int i = 0; i < m * n; ++i) {
      ASSERT_EQ(d[static_cast<std::size_t>(i)], to_bf16(o.right(i / n, i % n, k)))
          << m << "x" << n << "x" << k << ": " << i / n << "," << i % n;
    }
  }
}

}  // namespace
}  // namespace tw
