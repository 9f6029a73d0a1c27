// SPDX-License-Identifier: Apache-2.0
// offered.cu  Whatever combination of types, sums, scales, orders and epilogue the planner accepts
//             is computed on a GPU: every seventh combination, TW_OFFERED_ALL=1: each of them, is
//             compared with float64. Exit 0 done, 1 wrong, 77 no GPU.
#include <cstdlib>
#include <set>

#include "tests/gpu/device_copy.hpp"
#include "tests/tools/operand/offered_cases.hpp"
#include "tools/check/check.hpp"

namespace {

using namespace tw_test;
using tw::test::must;

/// Copies of host memory on the device, which come back.
class device_memory {
 public:
  device_memory() { must(cudaMalloc(&base_, size)); }
  ~device_memory() { static_cast<void>(cudaFree(base_)); }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;

  void clear() { copies_.clear(), used_ = 0; }
  void* copy(std::span<std::byte> host) {
    std::byte* const to = static_cast<std::byte*>(base_) + used_;
    used_ += (host.size() + 255) / 256 * 256;
    if (used_ > size) std::exit(1);
    must(cudaMemcpy(to, host.data(), host.size(), cudaMemcpyHostToDevice));
    copies_.push_back({host, to});
    return to;
  }
  void fetch() const {
    for (auto const& [host, from] : copies_)
      must(cudaMemcpy(host.data(), from, host.size(), cudaMemcpyDeviceToHost));
  }

 private:
  static constexpr std::size_t size = std::size_t{16} << 20;
  struct piece {
    std::span<std::byte> host;
    std::byte* from;
  };
  void* base_ = nullptr;
  std::size_t used_ = 0;
  std::vector<piece> copies_;
};

TEST(OfferedGpu, EveryAcceptedCombinationIsComputed) {
  bool const all = std::getenv("TW_OFFERED_ALL") != nullptr;
  std::vector<offered> const combinations = all_combinations();
  constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
  void* workspace = nullptr;
  must(cudaMalloc(&workspace, workspace_bytes));
  must(cudaMemset(workspace, 0, workspace_bytes));
  device_memory memory;
  std::set<std::string> kernels;
  int ran = 0, refused = 0, not_built = 0, wrong = 0;
  for (std::size_t i = 0; i < combinations.size() && wrong < 20; i += all ? 1 : 7) {
    std::mt19937_64 random(i);
    offered_gemm gemm_case(combinations[i], random);
    gemm_problem const& p = gemm_case.problem;
    memory.clear();
    gemm_operands o = gemm_case.moved([&](std::span<std::byte> x) { return memory.copy(x); });
    o.workspace = workspace, o.workspace_bytes = workspace_bytes;
    std::vector<gemm_plan> plans;
    try {
      plans = plan_candidates(p, o, gpu_device(), kernel_set::all);
    } catch (rejected const&) {
      ++refused;
      continue;
    }
    std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
    if (plans.empty()) {
      ++not_built;
      continue;
    }
    gemm_plan const& plan = plans[random() % plans.size()];
    kernels.insert(plan.kernel);
    gemm(plan, o, nullptr);
    must(cudaDeviceSynchronize());
    memory.fetch();
    check_report const r = check_gemm(p, gemm_case.operands);
    ++ran;
    if (r.wrong == 0 && r.wrong_scales == 0) continue;
    ++wrong;
    ADD_FAILURE() << combinations[i].text() << ", " << p.m << "x" << p.n << "x" << p.k << ", seed "
                  << i << ", " << plan.kernel << ": " << r.wrong << " elements and "
                  << r.wrong_scales << " scales are wrong; D(" << r.largest_ratio.row << ","
                  << r.largest_ratio.col << ") = " << r.largest_ratio.got << ", want "
                  << r.largest_ratio.expected << " within " << r.largest_ratio.bound;
  }
  std::printf("%d ran by %zu kernels, %d refused, %d need kernels that this build lacks\n", ran,
              kernels.size(), refused, not_built);
  EXPECT_GT(ran, 300);
  static_cast<void>(cudaFree(workspace));
}

}  // namespace

int main(int argc, char** argv) {
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
