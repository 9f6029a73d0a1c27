// SPDX-License-Identifier: Apache-2.0
// mutants.hpp  Correct kernels, each with copies that are wrong in one detail, and the diagnosis
//              that the emulator owes for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"

namespace tw::mutants {

/// Result of one emulated run of a mutant.
struct outcome {
  std::vector<emu::diagnosis> diagnoses;
  std::int64_t wrong_elements = 0;  // of the result, where the run came to its end
};

struct mutant {
  std::string_view kernel;              // the kernel that it is a copy of
  std::string_view name;                // empty: the correct kernel
  std::string_view change;              // in words
  std::vector<std::string_view> codes;  // any of them is right; the schedule decides which comes
  outcome (*run)(int which, emu::options const&);
  int which = 0;
};

std::span<mutant const> gemm_mutants();
/// The correct reference GEMM: d = a b^T, bf16, size x size x size, size a multiple of 256; 2 CTAs.
void run_reference_gemm(void* a, void* b, void* d, int size, emu::options const& o);
std::span<mutant const> plain_mutants();
std::span<mutant const> ladder_mutants();
std::span<mutant const> cluster_mutants();
std::span<mutant const> global_mutants();
std::span<mutant const> map_mutants();
std::span<mutant const> life_mutants();
std::span<mutant const> rule_mutants();
std::span<mutant const> tensor_mutants();
std::span<mutant const> scaled_mutants();
std::span<mutant const> tensor_form_mutants();
std::span<mutant const> launch_mutants();
std::span<mutant const> rank_mutants();
std::span<mutant const> gated_mutants();
/// The plain kernels were compiled so that the emulator sees their loads and stores.
bool plain_accesses_are_seen();
/// All of them, correct kernels included.
std::vector<mutant> all_mutants();

/// Eager, lazy, random completion, random completion with random warp order.
inline constexpr int schedule_families = 4;
emu::options schedule(int family, std::uint64_t seed);
std::string_view schedule_name(int family);

struct verdict {
  int runs = 0, caught = 0;       // caught: the first diagnosis is one of the mutant's codes
  int other = 0;                  // another diagnosis came first
  int wrong_results = 0;          // runs that ended with a wrong result
  std::vector<std::string> seen;  // codes that came first, sorted
  emu::diagnosis example;         // of the first run
};
/// Runs a mutant in these schedule families with `seeds` seeds each, from first_seed on.
verdict judge(mutant const& m, std::span<int const> families, int seeds,
              std::uint64_t first_seed = 1);
/// In all of them.
verdict judge(mutant const& m, int seeds, std::uint64_t first_seed = 1);

}  // namespace tw::mutants
