// SPDX-License-Identifier: Apache-2.0
// repitch.cu  GEMMs on a GPU whose matrices TMA cannot address, against float64: random ones
//             as tests/kernel/odd_pitch_emu_test.cpp has them, and chains of dependent launches.
//             Exit 0 done, 1 wrong, 77 no GPU.
#include <map>

#include "tests/gpu/device_copy.hpp"

namespace tw::test {
namespace {

class Repitch : public testing::Test {
 protected:
  static constexpr std::int64_t workspace_bytes = std::int64_t{128} << 20;
  static void SetUpTestSuite() {
    must(cudaMalloc(&workspace_, workspace_bytes));
    must(cudaMemset(workspace_, 0, workspace_bytes));
  }
  /// `times` launches of one of the plans, mostly of one of the first.
  gemm_plan run(product& p, std::mt19937_64& rng, int times, launch_options const& how) {
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
    gemm_operands o{a.data, b.data, c.data, d.data};
    o.a_array = a.addresses, o.b_array = b.addresses;
    o.c_array = c.addresses, o.d_array = d.addresses;
    o.workspace = workspace_, o.workspace_bytes = workspace_bytes;
    std::vector<gemm_plan> const plans = plan_candidates(p.problem, o, gpu_device());
    std::size_t const most = rng() % 2 != 0 ? std::min<std::size_t>(plans.size(), 3) : plans.size();
    gemm_plan const& plan = plans[rng() % most];
    for (int i = 0; i < times; ++i) gemm(plan, o, nullptr, how);
    must(cudaDeviceSynchronize());
    d.fetch();
    return plan;
  }
  static inline void* workspace_ = nullptr;
};

TEST_F(Repitch, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261122);
  std::map<int, int> ways;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    int const most = i % 10 == 0 ? 1500 : i % 3 == 0 ? 600 : 200;
    product p = random_product(rng, most, i % 4 == 0 ? 9 : 1);
    for (matrix* m : {&p.a, &p.b, &p.c, &p.d})
      if (rng() % 3 != 0) move_base(*m, rng);
    int const times = i % 2 == 0 ? 1 : 3;  // the copies of one while the GEMM before runs
    gemm_plan const plan = run(p, rng, times, {.pdl = i % 4 == 1});
    expect_right(p);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan.kernel;
    ++ways[plan.repitch.a + 2 * plan.repitch.b + 4 * plan.direct_d];
  }
  EXPECT_EQ(ways.size(), 8U) << "some choice of copies and plain stores was not tried";
}

TEST_F(Repitch, LargeUnalignedProblemsKeepTheBound) {
  std::mt19937_64 rng(3);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  for (elem const out : {elem::bf16, elem::f32})
    for (order const ord : {order::row_major, order::col_major}) {
      constexpr int m = 2048, n = 2047, k = 2049;
      product p;
      p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
      p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
      p.d = make_matrix(out, ord, m, n, ord == order::col_major ? 1 : 0, nullptr);
      p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
      gemm_plan const plan = run(p, rng, 2, {.pdl = true});
      expect_right(p);
      ASSERT_FALSE(HasFailure()) << plan.kernel;
    }
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
