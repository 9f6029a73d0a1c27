// SPDX-License-Identifier: Apache-2.0
// typed.cu  GEMMs of 8-bit floats, integers, tf32 and f16 sums on a GPU: random ones against
//           float64, and bit for bit against the emulator, which adds as the tensor cores do.
//           Exit 0 done, 1 wrong, 77 no GPU.
#include <set>

#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/typed_cases.hpp"

namespace tw::test {
namespace {

class TypedGpu : public testing::TestWithParam<types> {
 protected:
  static constexpr std::int64_t workspace_bytes = std::int64_t{128} << 20;
  static void SetUpTestSuite() {
    if (workspace_ != nullptr) return;
    must(cudaMalloc(&workspace_, workspace_bytes));
    must(cudaMemset(workspace_, 0, workspace_bytes));
  }
  /// One of the plans, and its kernel's result in p.d.
  gemm_plan run(typed_product& p, std::mt19937_64& rng) {
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
    gemm_operands o{a.data, b.data, c.data, d.data};
    o.workspace = workspace_, o.workspace_bytes = workspace_bytes;
    std::vector<gemm_plan> const plans = plan_candidates(p.problem, o, gpu_device());
    std::size_t const most = rng() % 2 != 0 ? std::min<std::size_t>(plans.size(), 3) : plans.size();
    gemm_plan const plan = plans[rng() % most];
    gemm(plan, o, nullptr);
    must(cudaDeviceSynchronize());
    d.fetch();
    return plan;
  }
  static inline void* workspace_ = nullptr;
};

TEST_P(TypedGpu, RandomProblemsKeepTheBoundAndTheEmulatorsBits) {
  types const t = GetParam();
  std::mt19937_64 rng(20261126 + 64 * static_cast<int>(t.a) + 8 * static_cast<int>(t.b) +
                      static_cast<int>(t.d));
  std::set<std::string> kernels;
  emu_workspace space;
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    typed_product p = random_typed(rng, t, i % 8 == 7 ? 900 : i % 3 == 0 ? 400 : 150);
    gemm_plan const plan = run(p, rng);
    kernels.insert(plan.kernel);
    expect_right(p);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan.kernel << ", " << plan.why;
    if (i % 8 == 7) continue;  // too large to be emulated in a moment
    std::vector<std::byte> const on_gpu = p.d.bytes;
    std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
    gemm_operands o = p.operands();
    space.give(o);
    emu_options exact;
    exact.exact_sums = true;
    exact.hazards = false;
    gemm_emulated(plan, o, exact);
    EXPECT_TRUE(on_gpu == p.d.bytes)
        << "case " << i << ": the emulator's bits differ, " << plan.kernel << ", " << p.text();
  }
  for (std::string const& kernel : kernels) std::printf("  %s\n", kernel.c_str());
}

INSTANTIATE_TEST_SUITE_P(Types, TypedGpu, testing::ValuesIn(all_types()),
                         [](auto const& i) { return text_of(i.param); });

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
