// SPDX-License-Identifier: Apache-2.0
// cluster_mutants.cpp  The mutants of the reduction through distributed shared memory.
#include <cmath>

#include "tools/mutants/cluster_kernels.hpp"
#include "tools/mutants/mutants.hpp"

namespace tw::mutants {

namespace {

outcome run(int which, emu::options const& o) {
  std::vector<float> sums(128, NAN);
  outcome out;
  try {
    launch<dsmem_sum<>>(4, cluster_params{sums.data(), static_cast<cluster_mutation>(which)}, o);
  } catch (emu::fault const& f) {
    out.diagnoses = f.diagnoses();
    return out;
  }
  for (int t = 0; t < 128; ++t)
    out.wrong_elements +=
        sums[static_cast<std::size_t>(t)] != static_cast<float>(2 * 6000 + 80 * (127 - t) + 4);
  return out;
}

}  // namespace

std::span<mutant const> cluster_mutants() {
  using enum cluster_mutation;
  static auto const row = [](cluster_mutation what, std::string_view name, std::string_view change,
                             std::vector<std::string_view> codes) {
    return mutant{"dsmem_sum", name, change, std::move(codes), run, static_cast<int>(what)};
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
  };
  return list;
}

}  // namespace tw::mutants
