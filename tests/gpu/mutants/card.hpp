// SPDX-License-Identifier: Apache-2.0
// card.hpp  The mutants as kernels of the GPU: one row each, and how a row is launched and judged.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/arch/cuda/host.hpp"
#include "tilewright/arch/select.hpp"

namespace tw::mutants {

/// Results of the launches of one mutant.
struct tally {
  int launches = 0, wrong_launches = 0;  // finished; those of them with a wrong element
  long long wrong = 0, elements = 0;     // of all launches
  std::string error;                     // what CUDA said, after which nothing more is launched
};

/// kernel, name: as `tilewright check --mutants` has them; no name: the correct kernel.
struct card_row {
  std::string_view kernel, name;
  bool may_not_end;  // the kernel may wait for ever
  tally (*run)(int launches, bool poison);
};

std::vector<card_row> gemm_rows();
std::vector<card_row> ladder_rows();
std::vector<card_row> global_rows();
std::vector<card_row> plain_and_cluster_rows();

/// Fills the shared memory of every multiprocessor with NaNs, whether they are read as bf16 or as
/// float: without it a launch may find the right values that the one before has left there.
void poison_shared_memory();

/// Memory of the GPU for a vector of the host.
template <class T>
class on_card {
 public:
  explicit on_card(std::size_t n) : bytes_(n * sizeof(T)), at_(host::allocate(bytes_)) {}
  explicit on_card(std::vector<T> const& v) : on_card(v.size()) { put(v); }
  on_card(on_card const&) = delete;
  on_card& operator=(on_card const&) = delete;
  ~on_card() { host::release(at_); }

  T* at() const { return static_cast<T*>(at_); }
  void put(std::vector<T> const& v) { host::copy(at_, v.data(), bytes_); }
  void fill(int byte) { host::must(cudaMemset(at_, byte, bytes_), "cudaMemset"); }
  std::vector<T> get() const {
    std::vector<T> v(bytes_ / sizeof(T));
    host::copy(v.data(), at_, bytes_);
    return v;
  }

 private:
  std::size_t bytes_;
  void* at_;
};

/// Launches again and again. start() resets the memory that the kernels write; launch() starts
/// them; wrong() counts the wrong elements, of `elements`.
template <class Start, class Launch, class Wrong>
tally repeat(int launches, bool poison, int elements, Start start, Launch launch_kernels,
             Wrong wrong) {
  tally t;
  try {
    for (int i = 0; i < launches; ++i) {
      start();
      if (poison) poison_shared_memory();
      launch_kernels();
      host::must(cudaDeviceSynchronize(), "kernel");
      long long const bad = wrong();
      ++t.launches;
      t.wrong_launches += bad != 0;
      t.wrong += bad;
      t.elements += elements;
    }
  } catch (std::exception const& e) {
    t.error = e.what();
  }
  return t;
}

/// Elements of `found` that are not right(i).
template <class T, class Right>
long long count_wrong(std::vector<T> const& found, int elements, Right right) {
  long long wrong = 0;
  for (int i = 0; i < elements; ++i) wrong += !(found[static_cast<std::size_t>(i)] == right(i));
  return wrong;
}

}  // namespace tw::mutants
