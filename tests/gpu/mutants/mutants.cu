// SPDX-License-Identifier: Apache-2.0
// mutants.cu  The mutants of the reference GEMM on the card: how often do plain launches show them?
//
//     gpu_mutants [LAUNCHES [NUMBER]]     one JSON object a line; 200 launches; NUMBER: that one
// Each runs in a process of its own, which is stopped after 10 s without progress.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tools/mutants/gemm_product.hpp"

namespace tw::mutants {
namespace {

struct progress {
  volatile int launches;
  volatile long long wrong;
  volatile int error;
};

template <int Which>
void run(gemm_product& p, int launches, progress& out) {
  constexpr auto what = static_cast<mutation>(Which);
  void *a = nullptr, *b = nullptr, *d = nullptr;
  std::size_t const d_bytes = p.d.size() * 2;
  cudaMalloc(&a, p.a.size() * 2);
  cudaMalloc(&b, p.b.size() * 2);
  cudaMalloc(&d, d_bytes);
  cudaMemcpy(a, p.a.data(), p.a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(b, p.b.data(), p.b.size() * 2, cudaMemcpyHostToDevice);
  gemm_params const params = p.params(a, b, d, what, target::gpu);
  for (int i = 0; i < launches; ++i) {
    cudaMemset(d, 0xFF, d_bytes);
    cudaError_t e = launch<reference_gemm<what>>(4, params, nullptr);
    if (e == cudaSuccess) e = cudaMemcpy(p.d.data(), d, d_bytes, cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) {
      out.error = static_cast<int>(e);
      return;
    }
    out.wrong = out.wrong + p.wrong_elements();
    out.launches = i + 1;
  }
}

template <int... I>
void run_one(int which, gemm_product& p, int launches, progress& out,
             std::integer_sequence<int, I...>) {
  (void)((I == which ? (run<I>(p, launches, out), true) : false) || ...);
}

int main_of(int launches, int only) {
  gemm_product p;
  auto* const out = static_cast<progress*>(
      mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int which = 0; which < static_cast<int>(mutation::count); ++which) {
    if (only >= 0 && which != only) continue;
    out->launches = 0;
    out->wrong = 0;
    out->error = 0;
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
      run_one(which, p, launches, *out,
              std::make_integer_sequence<int, static_cast<int>(mutation::count)>{});
      _exit(0);
    }
    int status = 0, seen = -1;
    bool hung = false;
    for (int left = 1000; waitpid(child, &status, WNOHANG) == 0; usleep(10000)) {
      if (out->launches != seen) seen = out->launches, left = 1000;
      if (--left > 0) continue;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      hung = true;
      break;
    }
    std::printf(
        "{\"which\": %d, \"launches\": %d, \"wrong_elements\": %lld, \"elements\": %lld, "
        "\"hung\": %s, \"cuda_error\": \"%s\"}\n",
        which, out->launches, out->wrong,
        static_cast<long long>(out->launches) * static_cast<long long>(p.d.size()),
        hung ? "true" : "false",
        out->error == 0 ? "" : cudaGetErrorName(static_cast<cudaError_t>(out->error)));
  }
  return 0;
}

}  // namespace
}  // namespace tw::mutants

int main(int argc, char** argv) {
  return tw::mutants::main_of(argc > 1 ? std::atoi(argv[1]) : 200,
                              argc > 2 ? std::atoi(argv[2]) : -1);
}
