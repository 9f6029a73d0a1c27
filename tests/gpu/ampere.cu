// SPDX-License-Identifier: Apache-2.0
// ampere.cu  The Ampere GEMM kernels on a GPU of compute capability 8.0 or later: random problems
//            against float64 until each kernel of this build has run, batches by pointers, gates
//            and auxiliary outputs included. Exit 0 done, 1 wrong, 77 no GPU.
#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/gpu/built_plans.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"

namespace tw::test {
namespace {

/// The names of the kernels of this build with float32 sums, with a fused epilogue or without.
std::set<std::string> ampere_kernels(bool fused) {
  gemm_family const& f = *find_family("sm80_gemm");
  std::set<std::string> names;
  for (int i = 0; i < f.kernel_count(); ++i)
    if (f.built(i) && f.facts(i).epilogue.ops == fused && !f.facts(i).precision.f16_sums)
      names.insert(f.name(i));
  return names;
}

/// The plans by such kernels; none if no family has a kernel for this GPU.
std::vector<gemm_plan> ampere_plans(gemm_problem const& p, gemm_operands const& o) {
  try {
    std::vector<gemm_plan> plans = built_plans(p, o);
    std::erase_if(plans, [](gemm_plan const& x) { return x.family->id() != "sm80_gemm"; });
    return plans;
  } catch (rejected const&) {
    return {};
  }
}

class Ampere : public testing::Test {
 protected:
  static constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
  static void SetUpTestSuite() {
    must(cudaMalloc(&workspace_, workspace_bytes));
    must(cudaMemset(workspace_, 0, workspace_bytes));
  }

  /// Runs a kernel that has not run yet, or any, with tiles in any order. Its name; empty where
  /// this build has none.
  template <class Product>
  static std::string run(Product& p, std::set<std::string> const& ran, std::mt19937_64& rng) {
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
    gemm_operands o{a.data, b.data, c.data, d.data, workspace_, workspace_bytes};
    o.a_array = a.addresses, o.b_array = b.addresses;
    o.c_array = c.addresses, o.d_array = d.addresses;
    if constexpr (std::is_same_v<Product, fused_product>) {
      device_copy const bias(p.bias), rows(p.row_scale), cols(p.col_scale), aux(p.aux);
      o.bias = bias.data, o.aux = aux.data;
      o.row_scale = static_cast<float const*>(rows.data);
      o.col_scale = static_cast<float const*>(cols.data);
      std::string const kernel = launch(p, o, ran, rng);
      if (p.problem.aux) aux.fetch();
      d.fetch();
      if (!kernel.empty()) expect_fused_right(p);
      return kernel;
    } else {
      std::string const kernel = launch(p, o, ran, rng);
      d.fetch();
      if (!kernel.empty()) expect_right(p);
      return kernel;
    }
  }

  static inline void* workspace_ = nullptr;

 private:
  static std::string launch(product const& p, gemm_operands const& o,
                            std::set<std::string> const& ran, std::mt19937_64& rng) {
    std::vector<gemm_plan> plans = ampere_plans(p.problem, o);
    if (plans.empty()) return {};
    auto const is_new = [&](gemm_plan const& x) { return !ran.contains(x.kernel); };
    auto const unused = std::ranges::find_if(plans, is_new);
    gemm_plan& plan = unused != plans.end() ? *unused : plans[rng() % plans.size()];
    plan.schedule.raster = static_cast<order_kind>(rng() % 3);
    plan.schedule.band = 1 << rng() % 4;
    if (rng() % 2 == 0) plan.schedule.clusters = 1 + plan.schedule.clusters / 2;
    gemm(plan, o, nullptr);
    must(cudaDeviceSynchronize());
    return plan.kernel;
  }
};

TEST_F(Ampere, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261126);
  std::set<std::string> const built = ampere_kernels(false);
  std::set<std::string> ran;
  int by_pointers = 0;
  for (int i = 0; (i < 200 || (i < 2000 && ran != built)) && !HasFailure(); ++i) {
    product p = random_product(rng,
                               i % 10 == 0  ? 1500
                               : i % 3 == 0 ? 600
                                            : 200,
                               i % 4 == 0 ? 4 : 1);
    std::string const kernel = run(p, ran, rng);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << kernel;
    if (kernel.empty()) continue;
    ran.insert(kernel);
    by_pointers += p.problem.has_pointers();
  }
  EXPECT_EQ(ran, built);
  EXPECT_GE(by_pointers, 5);
  std::printf("%zu kernels ran, %d problems were batches by pointers\n", ran.size(), by_pointers);
}

TEST_F(Ampere, RandomEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261127);
  std::set<std::string> const built = ampere_kernels(true);
  std::set<std::string> ran;
  int gates = 0, aux = 0;
  for (int i = 0; (i < 300 || (i < 3000 && ran != built)) && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 10 == 0 ? 1500 : i % 3 == 0 ? 600 : 200);
    std::string const kernel = run(p, ran, rng);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << kernel;
    if (kernel.empty()) continue;
    ran.insert(kernel);
    gates += p.problem.epilogue.gate != gating::none;
    aux += p.problem.aux.has_value();
  }
  EXPECT_EQ(ran, built);
  EXPECT_GE(gates, 5);
  EXPECT_GE(aux, 5);
  std::printf("%zu kernels ran, %d gates, %d auxiliary outputs\n", ran.size(), gates, aux);
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
