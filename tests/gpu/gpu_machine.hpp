// SPDX-License-Identifier: Apache-2.0
// gpu_machine.hpp  A GPU as a machine for the instruction checks (tests/arch/kernels/machine.hpp),
//                  and the main function of a program of checks.
#pragma once

#include <cuda_runtime_api.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "tests/arch/kernels/machine.hpp"
#include "tilewright/arch/select.hpp"

namespace tw::test {

class gpu_machine {
 public:
  static constexpr target where = target::gpu;

  gpu_machine() = default;
  gpu_machine(gpu_machine const&) = delete;
  gpu_machine& operator=(gpu_machine const&) = delete;
  ~gpu_machine() {
    for (void* p : memory_) cudaFree(p);
  }

  void* upload(void const* data, std::size_t bytes) {
    void* p = nullptr;
    must(cudaMalloc(&p, bytes), "cudaMalloc");
    memory_.push_back(p);
    must(cudaMemcpy(p, data, bytes, cudaMemcpyHostToDevice), "copy to the GPU");
    return p;
  }
  void download(void* to, void const* from, std::size_t bytes) {
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the GPU");
  }
  template <class K>
  void start(extents3 ctas, typename K::params const& p, bool dependent = false) {
    must(launch<K>(ctas, p, nullptr, dependent), "launch");
  }
  void finish() { must(cudaDeviceSynchronize(), "kernel"); }

 private:
  static void must(cudaError_t e, char const* what) {
    if (e != cudaSuccess) throw std::runtime_error(text(what, ": ", cudaGetErrorName(e)));
  }
  std::vector<void*> memory_;
};

/// Runs checks in child processes, so that one that faults or hangs does not end the others.
class check_program {
 public:
  explicit check_program(std::vector<check<gpu_machine>> checks)
      : checks_(std::move(checks)),
        shared_(static_cast<state*>(mmap(nullptr, sizeof(state), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

  /// Exit status: 0 all passed, 1 some failed, 77 no Hopper GPU.
  int main() {
    while (shared_->next < count()) {
      std::fflush(stdout);  // or the child would print it again
      pid_t const child = fork();
      if (child == 0) run_checks();
      char const* const end = wait_for(child);
      if (shared_->no_gpu) return 77;
      if (end != nullptr) {
        std::printf("FAIL %s: %s\n", checks_[shared_->next].name.c_str(), end);
        shared_->next = shared_->next + 1;
        shared_->failed = shared_->failed + 1;
      }
    }
    std::printf("%d of %d checks passed\n", count() - shared_->failed, count());
    return shared_->failed == 0 ? 0 : 1;
  }

 private:
  static constexpr int patience_s = 60;
  struct state {
    volatile int next, failed, no_gpu;
  };

  int count() const { return static_cast<int>(checks_.size()); }

  [[noreturn]] void run_checks() {
    cudaDeviceProp prop{};
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || prop.major != 9 || prop.minor != 0) {
      std::printf("skipped: no Hopper GPU (%s)\n", cudaGetErrorName(cudaGetLastError()));
      std::fflush(stdout);
      shared_->no_gpu = 1;
      _exit(77);
    }
    while (shared_->next < count()) {
      check<gpu_machine> const& c = checks_[shared_->next];
      std::string wrong;
      try {
        gpu_machine machine;
        wrong = c.run(machine);
      } catch (std::exception const& e) {
        wrong = e.what();
      }
      if (wrong.empty()) {
        std::printf("ok   %s\n", c.name.c_str());
      } else {
        std::printf("FAIL %s: %s\n", c.name.c_str(), wrong.c_str());
        shared_->failed = shared_->failed + 1;
      }
      std::fflush(stdout);
      shared_->next = shared_->next + 1;
      if (cudaDeviceSynchronize() != cudaSuccess) _exit(0);  // the context is lost; start anew
    }
    _exit(0);
  }

  /// Nothing if the child ended by itself, or how it ended.
  char const* wait_for(pid_t child) {
    int current = shared_->next, status = 0;
    for (int left = 100 * patience_s; waitpid(child, &status, WNOHANG) == 0; usleep(10000)) {
      if (shared_->next != current) current = shared_->next, left = 100 * patience_s;
      if (--left > 0) continue;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "hung; killed after 60 s";
    }
    return WIFEXITED(status) ? nullptr : "the process crashed";
  }

  std::vector<check<gpu_machine>> checks_;
  state* shared_;
};

}  // namespace tw::test
