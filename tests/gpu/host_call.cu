// SPDX-License-Identifier: Apache-2.0
// host_call.cu  Host side of a call of gemm(): it may be captured into a CUDA graph in the
//               strictest mode, it allocates nothing, threads may share a plan, and the caller's
//               current device and last error stay. Exit 0 done, 1 wrong, 77 no GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dispatch/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace {

using namespace tw;

void must(cudaError_t e, int line = __builtin_LINE()) {
  if (e == cudaSuccess) return;
  std::printf("host_call.cu:%d: %s\n", line, cudaGetErrorString(e));
  std::exit(1);
}

bool report(bool right, char const* what) {
  std::printf("%s %s\n", right ? "ok   " : "WRONG", what);
  return right;
}

/// A product of integers whose sums are exact, on the device, with a workspace for all its plans.
struct product {
  gemm_problem p;
  gemm_operands o;
  std::vector<float> expected;

  product(int m, int n, int k) {
    p.m = m, p.n = n, p.k = k;
    p.a = {elem::bf16, order::row_major, k};
    p.b = {elem::bf16, order::col_major, k};
    p.d = {elem::f32, order::row_major, n};
    for (void const** x : {&o.a, &o.b}) {
      void* memory = nullptr;
      must(cudaMalloc(&memory, std::size_t{2} * k * (x == &o.a ? m : n)));
      *x = memory;
    }
    must(cudaMalloc(&o.d, sizeof(float) * m * n));
    o.workspace_bytes = gemm_workspace_bytes(p, o);
    must(cudaMalloc(&o.workspace, o.workspace_bytes));
    must(cudaMemset(o.workspace, 0, o.workspace_bytes));
  }
  ~product() {
    for (void* x : {const_cast<void*>(o.a), const_cast<void*>(o.b), o.d, o.workspace})
      static_cast<void>(cudaFree(x));
  }
  product(product const&) = delete;
  product& operator=(product const&) = delete;

  /// A(m, k) = row % 3 + s, B(k, n) = 1 + column % 5: D(m, n) = k (row % 3 + s)(1 + column % 5).
  void fill(int s) {
    std::vector<std::uint16_t> a(p.m * p.k), b(p.n * p.k);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_bf16(float(i / p.k % 3 + s)).bits;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = to_bf16(float(1 + i / p.k % 5)).bits;
    must(cudaMemcpy(const_cast<void*>(o.a), a.data(), 2 * a.size(), cudaMemcpyHostToDevice));
    must(cudaMemcpy(const_cast<void*>(o.b), b.data(), 2 * b.size(), cudaMemcpyHostToDevice));
    must(cudaMemset(o.d, 0xFF, sizeof(float) * p.m * p.n));
    expected.resize(p.m * p.n);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = float(p.k) * float(i / p.n % 3 + s) * float(1 + i % p.n % 5);
    must(cudaDeviceSynchronize());
  }
  bool right() const {
    std::vector<float> d(expected.size());
    must(cudaMemcpy(d.data(), o.d, sizeof(float) * d.size(), cudaMemcpyDeviceToHost));
    return d == expected;
  }
};

/// Captured where anything but enqueueing is an error, and replayed on new contents.
bool captured(product& x, gemm_plan const& plan, char const* what) {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreate(&stream));
  x.fill(1);
  gemm(plan, x.o, stream);  // loads the module
  must(cudaStreamSynchronize(stream));
  bool right = x.right();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  gemm(plan, x.o, stream);
  gemm(x.p, x.o, stream);  // the cached plan, or planned anew: also while capturing
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  for (int s = 2; s < 6; ++s) {
    x.fill(s);
    must(cudaGraphLaunch(run, stream));
    must(cudaStreamSynchronize(stream));
    right = right && x.right();
  }
  must(cudaGraphExecDestroy(run));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
  return report(right, what);
}

bool allocates_nothing(product& x) {
  auto const used = [] {
    std::size_t free_bytes = 0, total = 0;
    must(cudaMemGetInfo(&free_bytes, &total));
    cudaMemPool_t pool = nullptr;
    must(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t pooled = 0;
    must(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &pooled));
    return std::pair{free_bytes, pooled};
  };
  x.fill(1);
  gemm(x.p, x.o, nullptr);
  must(cudaDeviceSynchronize());
  auto const before = used();
  for (int i = 0; i < 50; ++i) gemm(x.p, x.o, nullptr);
  must(cudaDeviceSynchronize());
  return report(used() == before && before.second == 0 && x.right(), "50 calls allocate nothing");
}

bool threads_share_a_problem(product const& like) {
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      product mine(static_cast<int>(like.p.m), static_cast<int>(like.p.n),
                   static_cast<int>(like.p.k));
      cudaStream_t stream = nullptr;
      must(cudaStreamCreate(&stream));
      for (int i = 0; i < 10; ++i) {
        mine.fill(static_cast<int>(t) + 1);
        gemm(mine.p, mine.o, stream);
        must(cudaStreamSynchronize(stream));
        wrong[t] += !mine.right();
      }
      must(cudaStreamDestroy(stream));
    });
  for (std::thread& t : threads) t.join();
  return report(wrong == std::vector<int>(4), "four threads call with the same problem");
}

/// The current device, and an error that this program leaves on purpose, are as before after each
/// function that has a part in the CUDA runtime.
bool state_stays(int device) {
  must(cudaSetDevice(device));
  product x(300, 200, 251);  // A and B are copied first
  x.fill(1);
  quantize_problem q;
  q.outer = 64, q.k = 256;
  q.from = {elem::f32, order::row_major, 256}, q.to = {elem::e4m3, order::row_major, 256};
  q.scale = make_scale({false, 64, 256}, scaling::row);
  void* memory = nullptr;  // the matrix, its values in e4m3, a scale per row
  std::size_t const begin[] = {0, 64 * 256 * 4, 64 * 256 * 5};
  must(cudaMalloc(&memory, 64 * 256 * 5 + 64 * 4));
  must(cudaMemset(memory, 0, 64 * 256 * 5 + 64 * 4));
  auto* const at = static_cast<std::byte*>(memory);
  bool right = true;
  auto const quantise = [&] { quantize(q, {at, at + begin[1], at + begin[2], nullptr}, nullptr); };
  auto const check = [&](char const* what, auto const& call) {
    static_cast<void>(cudaSetDevice(1 << 20));  // leaves an error
    call();
    int now = -1;
    cudaError_t const left = cudaPeekAtLastError();
    bool const stayed =
        left == cudaErrorInvalidDevice && cudaGetDevice(&now) == cudaSuccess && now == device;
    if (!stayed) std::printf("%s: error %s, device %d\n", what, cudaGetErrorName(left), now);
    right = right && stayed;
  };
  check("gpu()", [] { static_cast<void>(gpu()); });
  check("gemm_workspace_bytes()", [&] { static_cast<void>(gemm_workspace_bytes(x.p, x.o)); });
  check("gemm()", [&] { gemm(x.p, x.o, nullptr); });
  check("gemm() of a plan", [&] { gemm(plan_gemm(x.p, x.o, gpu_device()), x.o, nullptr); });
  check("quantize()", quantise);
  check("a refused gemm()", [&] {
    gemm_operands no_d = x.o;
    no_d.d = nullptr;
    try {
      gemm(x.p, no_d, nullptr);
      right = false;
    } catch (rejected const&) {
    }
  });
  cudaGetLastError();  // that this function left
  must(cudaDeviceSynchronize());
  must(cudaFree(memory));
  return report(right && x.right(), "the current device and the last error stay");
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  cudaGetLastError();
  int failures = 0;
  // Before any other call of the library: its first look at a device is a part of the law.
  for (int i = 0; i < devices; ++i) {
    must(cudaSetDevice(i));
    if (cudaDeviceProp prop{}; cudaGetDeviceProperties(&prop, i) == cudaSuccess && prop.major == 9)
      failures += !state_stays(i);
  }
  if (devices > 0) must(cudaSetDevice(0));
  if (!gpu().usable) {
    std::printf("%s\n", to_string(gpu().why_not).c_str());
    return 77;
  }
  product plain(512, 384, 256), odd(300, 200, 251), few(64, 64, 4096);
  failures +=
      !captured(plain, plan_gemm(plain.p, plain.o, gpu_device()), "a graph of a plain GEMM");
  failures +=
      !captured(odd, plan_gemm(odd.p, odd.o, gpu_device()), "of one whose operands are copied");
  for (gemm_plan const& plan : plan_candidates(few.p, few.o, gpu_device()))
    if (plan.schedule.split_k_tiles > 0) {
      failures += !captured(few, plan, "of one whose tiles are shared");
      break;
    }
  failures += !allocates_nothing(odd);
  failures += !threads_share_a_problem(odd);
  return failures == 0 ? 0 : 1;
}
