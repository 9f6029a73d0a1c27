// SPDX-License-Identifier: Apache-2.0
// invariant.cu  The bits of a row of a reproducible GEMM on a GPU: M from 1 to 512, other first
//               rows, and parts of N, for every operand type and epilogue, by all kernels that
//               serve the request, planned for this GPU and for one of fewer SMs. Exit 0 done,
//               1 different, 77 no GPU. TW_INVARIANT_STEP=1 tries every M, 7 is the default.
#include <cstdlib>

#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/invariant_cases.hpp"

namespace tw::test {
namespace {

memory_block managed(std::size_t bytes) {
  void* p = nullptr;
  must(cudaMallocManaged(&p, bytes + 256));
  return {static_cast<std::byte*>(p), [](std::byte* x) { static_cast<void>(cudaFree(x)); }};
}

void run_on_gpu(gemm_plan const& plan, gemm_operands o) {
  constexpr std::int64_t room = std::int64_t{128} << 20;
  static void* const space = [] {
    void* p = nullptr;
    must(cudaMalloc(&p, room));
    must(cudaMemset(p, 0, room));
    return p;
  }();
  o.workspace = space, o.workspace_bytes = room;
  gemm(plan, o, nullptr);
  must(cudaDeviceSynchronize());
}

class InvariantGpu : public testing::TestWithParam<invariant_case> {};

TEST_P(InvariantGpu, RowsHaveTheBitsOfTheWhole) {
  char const* const text = std::getenv("TW_INVARIANT_STEP");
  int const step = text != nullptr ? std::atoi(text) : 7, m = 512, n = 1024;
  std::vector<invariant_part> parts{{0, 1, 0, n}, {511, 1, 0, n}, {37, 200, 256, 256}};
  for (int i = 1; i <= m; i += step)
    parts.push_back({(m - i) / 2, i, i % 8 * 128, i % 3 == 0 ? 128 : n - i % 8 * 128});
  invariant_case c = GetParam();
  if (c.k > 128) c.k *= 10;
  std::vector<device> const devices{gpu_device(), with_sm_count(gpu_device(), 50)};
  std::set<std::string> kernels;
  expect_invariant(c, m, n, parts, devices, 1000, managed, run_on_gpu, kernels);
  for (std::string const& k : kernels) std::printf("  %s\n", k.c_str());
  EXPECT_GT(kernels.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Cases, InvariantGpu, testing::ValuesIn(invariant_cases()),
                         [](auto const& i) { return i.param.name; });

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
