// SPDX-License-Identifier: Apache-2.0
// dependent.cu  Chains of GEMMs that read what the one before wrote, as dependent launches that
//               may start early: the bits are those of plain launches, also from a graph. 0, 1, 77.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace {

using namespace tw;

void must(cudaError_t e, int line = __builtin_LINE()) {
  if (e == cudaSuccess) return;
  std::printf("dependent.cu:%d: %s\n", line, cudaGetErrorString(e));
  std::exit(1);
}

constexpr int length = 24;  // launches of a chain

/// Two buffers that GEMMs read and write in turn, D(i+1) = D(i) B, and a workspace for all.
struct chain {
  gemm_problem p;
  void *x[2], *b, *space;
  std::size_t bytes;
  static constexpr std::int64_t space_bytes = std::int64_t{64} << 20;

  chain(int rows, int size) {
    p.m = rows, p.n = p.k = size;
    p.a = p.d = {elem::bf16, order::row_major, size};
    p.b = {elem::bf16, order::col_major, size};
    bytes = std::size_t{2} * rows * size;
    for (void*& buffer : x) must(cudaMalloc(&buffer, bytes));
    must(cudaMalloc(&b, std::size_t{2} * size * size));
    must(cudaMalloc(&space, space_bytes));
    must(cudaMemset(space, 0, space_bytes));
    std::vector<std::uint16_t> values(std::size_t{1} * size * size);
    unsigned state = 1;
    float const scale = 1.7F / std::sqrt(static_cast<float>(size));  // keeps the size of the sums
    for (auto& v : values) {
      state = state * 1664525U + 1013904223U;
      v = to_bf16((static_cast<float>(state >> 8) / 8388608.0F - 1) * scale).bits;
    }
    must(cudaMemcpy(b, values.data(), 2 * values.size(), cudaMemcpyHostToDevice));
  }
  ~chain() {
    for (void* m : {x[0], x[1], b, space}) static_cast<void>(cudaFree(m));
  }
  chain(chain const&) = delete;
  chain& operator=(chain const&) = delete;

  gemm_operands step(int i) const {
    return {x[i % 2], b, nullptr, x[(i + 1) % 2], space, space_bytes};
  }
  void start() const {
    std::vector<std::uint16_t> values(bytes / 2);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = to_bf16(static_cast<float>(i * 37 % 201) / 100 - 1).bits;
    must(cudaMemcpy(x[0], values.data(), bytes, cudaMemcpyHostToDevice));
    must(cudaMemset(x[1], 0xFF, bytes));
  }
  std::vector<std::uint16_t> result() const {
    std::vector<std::uint16_t> values(bytes / 2);
    must(cudaDeviceSynchronize());
    must(cudaMemcpy(values.data(), x[length % 2], bytes, cudaMemcpyDeviceToHost));
    return values;
  }
};

bool same_bits(chain const& c, gemm_plan const& plan, int repeats) {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreate(&stream));
  auto const run = [&](bool pdl) {
    for (int i = 0; i < length; ++i) gemm(plan, c.step(i), stream, {.pdl = pdl});
  };
  c.start();
  run(false);
  auto const expected = c.result();
  int wrong = 0;
  for (int r = 0; r < repeats; ++r) {
    c.start();
    run(true);
    wrong += c.result() != expected;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  run(true);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&program, graph, 0));
  for (int r = 0; r < repeats; ++r) {
    c.start();
    must(cudaGraphLaunch(program, stream));
    wrong += c.result() != expected;
  }
  must(cudaGraphExecDestroy(program));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
  bool finite = false;  // a chain that died out or overflowed would show nothing
  for (std::uint16_t const v : expected)
    finite = finite || ((v & 0x7F80) != 0x7F80 && v % 32768 != 0);
  std::printf("%s %lldx%lldx%lld %s, %d shared: %d of %d chains differ\n",
              wrong == 0 && finite ? "ok   " : "WRONG", static_cast<long long>(c.p.m),
              static_cast<long long>(c.p.n), static_cast<long long>(c.p.k), plan.kernel.c_str(),
              plan.schedule.split_k_tiles, wrong, 2 * repeats);
  return wrong == 0 && finite;
}

}  // namespace

int main() {
  if (!gpu().usable) {
    std::printf("%s\n", to_string(gpu().why_not).c_str());
    return 77;
  }
  int failures = 0;
  // GEMVs, wgmma kernels, and odd pitches, whose copies overwrite what the launch before has read.
  for (auto const& [rows, size] : {std::pair{1, 2048},
                                   {5, 2048},
                                   {64, 1024},
                                   {512, 512},
                                   {1000, 2048},
                                   {3000, 1536},
                                   {300, 1001}}) {
    chain const c(rows, size);
    auto const plans = plan_candidates(c.p, c.step(0), gpu_device());
    for (std::size_t i = 0; i < plans.size() && i < 4; ++i) failures += !same_bits(c, plans[i], 20);
    for (gemm_plan const& plan : plans)
      if (plan.schedule.split_k_tiles > 0) {
        failures += !same_bits(c, plan, 20);
        break;
      }
  }
  return failures == 0 ? 0 : 1;
}
