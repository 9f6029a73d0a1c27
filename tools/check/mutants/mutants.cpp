// SPDX-License-Identifier: Apache-2.0
// mutants.cpp  Runs mutants under every kind of schedule.
#include "tools/check/mutants/mutants.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tw::mutants {

std::vector<mutant> all_mutants() {
  std::vector<mutant> all;
  for (auto const list :
       {gemm_mutants(), plain_mutants(), ladder_mutants(), cluster_mutants(), global_mutants(),
        life_mutants(), map_mutants(), rule_mutants(), tensor_mutants(), scaled_mutants(),
        tensor_form_mutants(), launch_mutants(), rank_mutants(), gated_mutants()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::string_view schedule_name(int family) {
  constexpr std::array<std::string_view, schedule_families> names{"eager", "lazy", "random",
                                                                  "random warps"};
  return names.at(static_cast<std::size_t>(family));
}

emu::options schedule(int family, std::uint64_t seed) {
  emu::options o;
  o.policy = family == 0   ? emu::async_policy::eager
             : family == 1 ? emu::async_policy::lazy
                           : emu::async_policy::random;
  o.random_warps = family == 3;
  o.seed = seed;
  o.os_threads = 1;
  o.most_reports = 1;
  o.bank_conflicts = true;
  return o;
}

namespace {

/// No rule is broken, only the values are wrong: the result shows it, in every run.
bool expects_wrong_result(mutant const& m) {
  return std::ranges::find(m.codes, "wrong-result") != m.codes.end();
}

}  // namespace

verdict judge(mutant const& m, int seeds, std::uint64_t first_seed) {
  std::array<int, schedule_families> all{};
  std::iota(all.begin(), all.end(), 0);
  return judge(m, all, seeds, first_seed);
}

verdict judge(mutant const& m, std::span<int const> families, int seeds, std::uint64_t first_seed) {
  verdict v;
  for (int const family : families)
    for (int s = 0; s < seeds; ++s) {
      outcome const o = m.run(m.which, schedule(family, first_seed + static_cast<unsigned>(s)));
      ++v.runs;
      if (o.wrong_elements != 0) ++v.wrong_results;
      if (o.diagnoses.empty()) {
        if (o.wrong_elements != 0 && expects_wrong_result(m)) ++v.caught;
        continue;
      }
      emu::diagnosis const& first = o.diagnoses.front();
      if (v.example.code.empty()) v.example = first;
      bool const expected = std::ranges::find(m.codes, first.code) != m.codes.end();
      ++(expected ? v.caught : v.other);
      if (std::ranges::find(v.seen, first.code) == v.seen.end()) v.seen.push_back(first.code);
    }
  std::ranges::sort(v.seen);
  return v;
}

}  // namespace tw::mutants
