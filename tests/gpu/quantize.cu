// SPDX-License-Identifier: Apache-2.0
// quantize.cu  The quantising kernel on a GPU writes the bits that the host's function writes, and
//              its time for a large matrix. Exit 0 done, 1 wrong, 77 no GPU.
#include <cstdio>

#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/scales/quantize_cases.hpp"
#include "tilewright/dispatch/quantize.hpp"

namespace tw::test {
namespace {

/// Device memory with these bytes.
class device_bytes {
 public:
  explicit device_bytes(std::vector<std::byte> const& host) : size_(host.size()) {
    must(cudaMalloc(&data_, size_ + 16));
    must(cudaMemcpy(data_, host.data(), size_, cudaMemcpyHostToDevice));
  }
  ~device_bytes() { cudaFree(data_); }
  device_bytes(device_bytes const&) = delete;
  device_bytes& operator=(device_bytes const&) = delete;
  void* data() const { return data_; }
  std::vector<std::byte> fetch() const {
    std::vector<std::byte> host(size_);
    must(cudaMemcpy(host.data(), data_, size_, cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

TEST(QuantizeGpu, SameBitsAsOnTheHost) {
  std::mt19937_64 rng(20261125);
  device_bytes const workspace(std::vector<std::byte>(4));
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    drawn const d = draw(rng);
    std::vector<std::byte> to(d.to_bytes, std::byte{0x5A}), scales(d.scale_bytes, std::byte{0x5A});
    device_bytes const from(d.from), gpu_to(to), gpu_scales(scales);
    quantize(d.problem, d.from.data(), to.data(), scales.data());
    quantize(d.problem, {from.data(), gpu_to.data(), gpu_scales.data(), workspace.data()}, nullptr);
    must(cudaDeviceSynchronize());
    ASSERT_EQ(gpu_to.fetch(), to) << i << ": " << d.problem.outer << "x" << d.problem.k << " "
                                  << name(d.problem.from.type) << " " << name(d.problem.to.type);
    ASSERT_EQ(gpu_scales.fetch(), scales) << i;
  }
}

TEST(QuantizeGpu, TimeOfALargeMatrix) {
  constexpr std::int64_t n = 8192;
  device_bytes const from(std::vector<std::byte>(n * n * 2, std::byte{0x3C}));
  device_bytes const to(std::vector<std::byte>(n * n)), scales(std::vector<std::byte>(n * n / 16));
  device_bytes const workspace(std::vector<std::byte>(4));
  for (scaling const kind :
       {scaling::tensor, scaling::row, scaling::block_1x128, scaling::block_128x128}) {
    quantize_problem p{n,
                       n,
                       {elem::bf16, order::row_major, n},
                       {elem::e4m3, order::row_major, n},
                       make_scale({false, n, n}, kind)};
    quantize_operands const o{from.data(), to.data(), scales.data(), workspace.data()};
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    quantize(p, o, nullptr);
    must(cudaEventRecord(begin));
    constexpr int runs = 20;
    for (int i = 0; i < runs; ++i) quantize(p, o, nullptr);
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end));
    double const us = 1e3 * ms / runs;
    std::printf("bf16 %ldx%ld to e4m3, %s: %.1f us, %.0f GB/s read and written once\n",
                static_cast<long>(n), static_cast<long>(n), name(kind), us, 3e-3 * n * n / us);
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
