// SPDX-License-Identifier: Apache-2.0
// cluster_mutants.cpp  The mutants of the reductions through distributed shared memory.
#include <cmath>

#include "tools/check/mutants/cluster_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

template <class Kernel, class Mutation>
outcome run(int which, float (*sum_of)(int thread), emu::options const& o) {
  std::vector<float> sums(128, NAN);
  outcome out;
  out.diagnoses =
      reported_run(Kernel{}, 4, {sums.data(), static_cast<Mutation>(which)}, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int t = 0; t < 128; ++t)
    out.wrong_elements += sums[static_cast<std::size_t>(t)] != sum_of(t);
  return out;
}

outcome run_loads(int which, emu::options const& o) {
  return run<dsmem_sum<>, cluster_mutation>(
      which, [](int t) { return static_cast<float>(2 * 6000 + 80 * (127 - t) + 4); }, o);
}

outcome run_stores(int which, emu::options const& o) {
  // The words of four threads in each round and CTA: the first ones, or the same constant.
  auto const sum_of = [](int t) {
    int const s = 127 - t;
    return static_cast<float>(s % 4 == 0 ? 48000 + 80 * (192 + s) + 16 : 32 * (s % 4));
  };
  return run<store_async_sum<>, store_mutation>(which, sum_of, o);
}

}  // namespace

std::span<mutant const> cluster_mutants() {
  using enum cluster_mutation;
  static auto const row = [](cluster_mutation what, std::string_view name, std::string_view change,
                             std::vector<std::string_view> codes) {
    return mutant{"dsmem_sum", name, change, std::move(codes), run_loads, static_cast<int>(what)};
  };
  static auto const stores = [](store_mutation what, std::string_view name, std::string_view change,
                                std::vector<std::string_view> codes) {
    return mutant{"store_async_sum", name,       change,
                  std::move(codes),  run_stores, static_cast<int>(what)};
  };
  static std::vector<mutant> const list{
      row(none, "", "", {}),
      row(no_barrier, "no-barrier", "no cluster_sync between writing and reading",
          {"E0024", "E0029"}),
      row(cta_barrier, "cta-barrier", "cta_sync for cluster_sync", {"E0024", "E0029"}),
      row(relaxed_barrier, "relaxed-barrier", "cluster_arrive_relaxed for cluster_arrive",
          {"E0014", "E0024"}),
      row(exit_too_early, "exit-too-early", "no cluster_sync at the end", {"E0016", "E0036"}),
      row(no_first_barrier, "no-first-barrier", "no cluster_sync in the first round",
          {"E0024", "E0029"}),
      row(arrives_twice, "arrives-twice", "two cluster_arrive before one cluster_wait", {"E0061"}),
      stores(store_mutation::none, "", "", {}),
      stores(store_mutation::cta_wait, "cta-wait", "wait() for wait<scope::cluster>()", {"E0051"}),
      stores(store_mutation::bytes_missing, "bytes-missing", "one CTA's bytes are not expected",
             {"E0015", "E0029", "E0051"}),
      stores(store_mutation::no_barrier_between, "no-barrier-between",
             "no cluster_sync between the rounds", {"E0015", "E0024", "E0051"}),
  };
  return list;
}

}  // namespace tw::mutants
