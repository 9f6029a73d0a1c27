// SPDX-License-Identifier: Apache-2.0
// c_library.cu  The C library on CUDA tensors: right results, on streams and in a graph, and the
//               caller's current device and last error as before. Its CUDA runtime is another copy
//               than this program's, as in Python. Exit 0 done, 1 wrong, 77 no GPU.
#include <cmath>
#include <cstdio>
#include <thread>

#include "tests/c/tensors.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw_c_test {
namespace {

using tw::elem;
using tw::test::must;

/// A dense matrix on the host and on a device.
class cuda_tensor {
 public:
  cuda_tensor(elem type, extents shape, extents strides = {}, int device = 0)
      : host_(type, std::move(shape), std::move(strides)) {
    std::int64_t last = 0;
    host_.each([&](std::int64_t z, std::int64_t i, std::int64_t j) {
      last = std::max(last, host_.at(z, i, j));
    });
    bytes_ = static_cast<std::size_t>((last + 1) * host_.bytes());
    int before = 0;
    must(cudaGetDevice(&before));
    must(cudaSetDevice(device));
    must(cudaMalloc(&data_, bytes_ + 16));
    must(cudaSetDevice(before));
    view_ = *host_.dl();
    view_.data = data_, view_.device = {kDLCUDA, device};
  }
  ~cuda_tensor() { static_cast<void>(cudaFree(data_)); }
  cuda_tensor(cuda_tensor const&) = delete;
  cuda_tensor& operator=(cuda_tensor const&) = delete;

  template <class Draw>
  void fill(Draw const& draw) {
    host_.fill(draw);
    must(cudaMemcpy(data_, host_.address(0), bytes_, cudaMemcpyHostToDevice));
  }
  tensor& fetch() {
    must(cudaMemcpy(host_.address(0), data_, bytes_, cudaMemcpyDeviceToHost));
    return host_;
  }
  void clear() { must(cudaMemset(data_, 0, bytes_)); }
  tensor& host() { return host_; }
  DLTensor* dl() { return &view_; }

 private:
  tensor host_;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
  DLTensor view_{};
};

struct product {
  static constexpr std::int64_t m = 300, n = 264, k = 192;
  cuda_tensor a, b, d;
  explicit product(int device = 0)
      : a(elem::bf16, {m, k}, {}, device),
        b(elem::bf16, {k, n}, {1, k}, device),
        d(elem::bf16, {m, n}, {}, device) {
    std::mt19937_64 rng(46);
    std::normal_distribution<float> normal;
    a.fill([&] { return normal(rng); });
    b.fill([&] { return normal(rng); });
    d.clear();
  }
  tw_gemm_args args() {
    tw_gemm_args g{};
    g.size = sizeof g, g.a = a.dl(), g.b = b.dl(), g.d = d.dl();
    return g;
  }
  void expect_right() {
    tensor& result = d.fetch();
    int wrong = 0;
    result.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
      double sum = 0, size = 0;
      for (std::int64_t x = 0; x < k; ++x) {
        double const y = a.host().get(i * k + x) * b.host().get(j * k + x);
        sum += y, size += std::fabs(y);
      }
      double const got = result.get(i * n + j);
      if (!(std::fabs(got - sum) <= 0.005 * std::fabs(sum) + 1e-5 * size) && ++wrong < 4)
        ADD_FAILURE() << i << ", " << j << ": " << got << ", not " << sum;
    });
    EXPECT_EQ(wrong, 0);
  }
};

TEST(CLibraryGpu, AGemmIsRightAndLeavesTheStateOfTheRuntime) {
  product p;
  tw_gemm_args g = p.args();
  static_cast<void>(cudaSetDevice(1 << 20));  // leaves an error
  ASSERT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  must(cudaDeviceSynchronize());
  p.expect_right();
}

TEST(CLibraryGpu, AnotherDeviceStaysCurrent) {
  int count = 0;
  must(cudaGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "one device";
  product p(1);
  tw_gemm_args g = p.args();
  must(cudaSetDevice(0));
  ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  int now = -1;
  must(cudaGetDevice(&now));
  EXPECT_EQ(now, 0);
  must(cudaSetDevice(1));
  must(cudaDeviceSynchronize());
  p.expect_right();
  must(cudaSetDevice(0));
}

TEST(CLibraryGpu, ADeviceThatIsNotThereIsNamed) {
  product p;
  DLTensor a = *p.a.dl(), b = *p.b.dl(), d = *p.d.dl();
  for (DLTensor* t : {&a, &b, &d}) t->device.device_id = 61;
  tw_gemm_args g = p.args();
  g.a = &a, g.b = &b, g.d = &d;
  EXPECT_EQ(tw_gemm(&g), TW_NO_DEVICE);
  EXPECT_STREQ(tw_last_error()->code, "TW0503");
  g = p.args();
  EXPECT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
}

TEST(CLibraryGpu, AThreadWithoutAContextComputes) {
  product p;
  std::thread([&] {
    tw_gemm_args g = p.args();
    EXPECT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  }).join();
  must(cudaDeviceSynchronize());
  p.expect_right();
}

TEST(CLibraryGpu, AGraphOfThreeCallsHasTheBitsOfACall) {
  product p;
  tw_gemm_args g = p.args();
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  g.stream = stream;
  ASSERT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  must(cudaStreamSynchronize(stream));
  std::vector<double> want, got;
  auto const bits_to = [&](std::vector<double>& to) {
    tensor& d = p.d.fetch();
    d.each([&](std::int64_t, std::int64_t i, std::int64_t j) {
      to.push_back(d.get(i * product::n + j));
    });
  };
  bits_to(want);
  cudaGraph_t graph;
  cudaGraphExec_t launched;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tw_gemm(&g), TW_OK) << tw_last_error()->text;
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&launched, graph, 0));
  p.d.clear();
  for (int i = 0; i < 2; ++i) must(cudaGraphLaunch(launched, stream));
  must(cudaStreamSynchronize(stream));
  bits_to(got);
  EXPECT_EQ(want, got);
  must(cudaGraphExecDestroy(launched));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
}

/// A leading dimension that TMA cannot address: copied to the workspace that the plan needs.
TEST(CLibraryGpu, APlanSaysHowMuchWorkspaceItNeeds) {
  constexpr std::int64_t m = 64, n = 64, k = 51;
  cuda_tensor a(elem::bf16, {m, k}), b(elem::bf16, {k, n}, {1, k}), d(elem::bf16, {m, n});
  a.fill([] { return 1.0F; });
  b.fill([] { return 1.0F; });
  tw_gemm_args g{};
  g.size = sizeof g, g.a = a.dl(), g.b = b.dl(), g.d = d.dl();
  EXPECT_EQ(tw_gemm(&g), TW_REFUSED);
  EXPECT_STREQ(tw_last_error()->code, "TW0410");
  tw_plan* plan = nullptr;
  ASSERT_EQ(tw_plan_make(&g, &plan), TW_OK) << tw_last_error()->text;
  std::int64_t const bytes = tw_plan_workspace_bytes(plan);
  ASSERT_GT(bytes, 0);
  must(cudaMalloc(&g.workspace, static_cast<std::size_t>(bytes)));
  must(cudaMemset(g.workspace, 0, static_cast<std::size_t>(bytes)));
  g.workspace_bytes = bytes;
  ASSERT_EQ(tw_plan_run(plan, &g), TW_OK) << tw_last_error()->text;
  must(cudaDeviceSynchronize());
  EXPECT_EQ(d.fetch().get(m * n - 1), k);
  must(cudaFree(g.workspace));
  tw_plan_free(plan);
}

}  // namespace
}  // namespace tw_c_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!tw::gpu().usable) {
    std::printf("no GPU: %s\n", tw::to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
