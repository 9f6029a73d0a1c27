// SPDX-License-Identifier: Apache-2.0
// result_scales.cu  GEMMs on a GPU whose D has 8 bits and scales write the bits of a GEMM with a
//                   float32 D that the host quantises, and their time beside that of a bf16 D.
//                   Exit 0 done, 1 wrong, 77 no GPU.
#include <cstdio>

#include "tests/gpu/built_plans.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/scales/result_scale_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw::test {
namespace {

/// Zeroed or copied memory of the device.
class device_bytes {
 public:
  explicit device_bytes(std::size_t size) : size_(size) {
    must(cudaMalloc(&data_, size_));
    must(cudaMemset(data_, 0, size_));
  }
  device_bytes(void const* host, std::size_t size) : device_bytes(size) {
    if (size_ > 0) must(cudaMemcpy(data_, host, size_, cudaMemcpyHostToDevice));
  }
  ~device_bytes() { static_cast<void>(cudaFree(data_)); }
  device_bytes(device_bytes const&) = delete;
  device_bytes& operator=(device_bytes const&) = delete;
  void fetch(void* host) const { must(cudaMemcpy(host, data_, size_, cudaMemcpyDeviceToHost)); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

/// Computes x on the GPU, by `chosen` or by the plan for the problem; D and scales come back.
void run(scaled_result& x, gemm_plan const* chosen) {
  device_copy const a(x.a), b(x.b), c(x.c), d(x.d), bias(x.bias), col_scale(x.col_scale);
  device_bytes const scales(x.scales.data(), x.scales.size());
  device_bytes const scale_a(x.scale_a.data(), 4 * x.scale_a.size());
  gemm_operands o = x.operands();
  o.a = a.data, o.b = b.data, o.c = x.problem.c ? c.data : nullptr, o.d = d.data;
  o.bias = bias.data, o.col_scale = static_cast<float const*>(col_scale.data);
  o.scale_a = scale_a.data(), o.scale_d = static_cast<std::byte*>(scales.data()) + x.margin;
  o.workspace_bytes = gemm_workspace_bytes(x.problem, o, gpu_device());
  device_bytes const workspace(static_cast<std::size_t>(o.workspace_bytes));
  o.workspace = workspace.data();
  if (chosen != nullptr)
    gemm(*chosen, o, nullptr);
  else
    gemm(x.problem, o, nullptr);
  must(cudaDeviceSynchronize());
  d.fetch();
  scales.fetch(x.scales.data());
}

TEST(ResultScalesGpu, BitsOfAFloatResultThatTheHostQuantises) {
  using enum elem;
  std::mt19937_64 rng(20261125);
  scaled_result_request const requests[] = {{e4m3, e4m3}, {e4m3, e4m3, true},
                                            {bf16, e4m3}, {s8, s8},
                                            {e4m3, e5m2}, {bf16, e4m3, false, true}};
  int ran = 0;
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    scaled_result const given = random_case(rng, requests[i % 6]);
    output_scales const s = *given.problem.scale_d;
    scaled_result wide = given;
    in_bf16(wide);
    wide.d = make_matrix(f32, order::row_major, given.d.rows, given.d.cols, 0, nullptr,
                         given.problem.batch);
    wide.problem.d = wide.d.desc;
    wide.problem.scale_d.reset();
    scaled_result planned = given;
    gemm_operands of_wide = wide.operands(), o = planned.operands();
    of_wide.workspace_bytes = o.workspace_bytes = std::int64_t{1} << 30;
    std::vector<gemm_plan> const wide_plans = built_plans(wide.problem, of_wide);
    std::vector<gemm_plan> const plans = built_plans(given.problem, o);
    if (wide_plans.empty() || plans.empty()) continue;
    ++ran;
    run(wide, &wide_plans.front());
    scaled_result want = given;
    for (std::int64_t n = 0; n < given.problem.batch; ++n)
      quantize(
          {given.d.rows, given.d.cols, wide.d.desc, given.problem.d, s.desc, s.power_of_two,
           s.given},
          static_cast<float*>(wide.d.data()) + n * wide.d.stride,
          static_cast<std::byte*>(want.d.data()) + n * given.problem.d.batch_stride_elems,
          want.scales.data() + want.margin + n * s.desc.batch_stride * size_bytes(s.desc.type));
    for (gemm_plan const& plan : plans) {
      scaled_result x = given;
      run(x, &plan);
      ASSERT_FALSE(difference(x.d.bytes, want.d.bytes, given.problem.d.type))
          << given.text() << " " << plan.kernel;
      ASSERT_EQ(x.scales, want.scales) << given.text() << " " << plan.kernel;
    }
  }
  std::printf("%d of 200 problems have kernels in this build\n", ran);
  EXPECT_GE(ran, 20);
}

/// The mean time of a plan, and its kernel.
void print_time(char const* what, gemm_problem const& p) {
  auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  device_bytes const a(size(p.m * p.k)), b(size(p.n * p.k)), d(size(4 * p.m * p.n));
  device_bytes const scales(size(4 * p.m * (p.n / 128 + 1)));
  gemm_operands o{a.data(), b.data(), nullptr, d.data()};
  o.scale_d = scales.data();
  o.workspace_bytes = gemm_workspace_bytes(p, o, gpu_device());
  device_bytes const workspace(size(o.workspace_bytes));
  o.workspace = workspace.data();
  gemm_plan const plan = plan_gemm(p, o, gpu_device());
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  for (int i = 0; i < 5; ++i) gemm(plan, o, nullptr);
  must(cudaEventRecord(begin));
  constexpr int runs = 50;
  for (int i = 0; i < runs; ++i) gemm(plan, o, nullptr);
  must(cudaEventRecord(end));
  must(cudaEventSynchronize(end));
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%s: %.1f us, %s%s\n", what, 1e3 * ms / runs, plan.kernel.c_str(),
              plan.stage_d ? ", then a second launch" : "");
}

TEST(ResultScalesGpu, TimeBesideABf16Result) {
  for (std::int64_t const k : {2048, 7168})
    for (bool const gated : {false, true}) {
      gemm_problem p{4096, 4096, k};
      p.a = {elem::e4m3, order::row_major, k}, p.b = {elem::e4m3, order::col_major, k};
      if (gated) p.epilogue.act = activation::silu, p.epilogue.gate = gating::split;
      std::int64_t const cols = result_cols(p.epilogue, p.n);
      p.d = {elem::bf16, order::row_major, cols};
      std::printf("4096x4096x%ld%s\n", static_cast<long>(k), gated ? ", SwiGLU" : "");
      print_time("  bf16", p);
      p.d.type = elem::e4m3;
      p.scale_d = output_scales{make_scale({false, p.m, cols}, scaling::block_1x128)};
      print_time("  e4m3 with 1x128 scales", p);
      p.scale_d->power_of_two = true;
      print_time("  e4m3 with 1x128 scales, powers of two", p);
      p.scale_d = output_scales{{}, true};
      print_time("  e4m3 with a given scale", p);
    }
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!tw::gpu().usable) return 77;
  return RUN_ALL_TESTS();
}
