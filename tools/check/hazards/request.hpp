// SPDX-License-Identifier: Apache-2.0
// request.hpp  Options of `tilewright check`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tools/check/hazards/finding.hpp"

namespace tw::hazards {

using shape = std::vector<std::int64_t>;

struct request {
  std::string target;  // "gemm" or the path of a plugin; empty: --mutants
  bool mutants = false;
  std::vector<std::string> shapes;  // as given: "M,N,K"
  int seeds = 0;                    // of each schedule family; 0: the verb's own number
  int runs = 0;                     // of each kernel, instead of seeds; 0: use seeds
  std::uint64_t first_seed = 1;
  std::string schedule;    // the name of one family; empty: all
  std::string kernel;      // only kernels whose name holds this text
  std::string family;      // of gemm: only its kernels; empty: all
  bool invariant = false;  // of gemm: compare bits of parts with the whole
  std::string bug;         // of a plugin
  bool proxy_on_path = false, provenance = true, bank_conflicts = false;
  emu::tensor_order tensor_fences = emu::tensor_order::strict;
  int sms = 0, live_clusters = 0;  // of a plugin's runs; 0: the emulator's defaults
  double time_limit_seconds = 60;  // processor time of one run
  emu::trace* record = nullptr;    // of a plugin: the first run alone, for a timeline
  bool json = false, quiet = false;
  bool examples = false;  // of mutants: what was changed, and how it is named
};

/// "512,256,64" as numbers. Refuses (TW0635) what is not `extents` numbers from min_extent on. A
/// plugin's kernel may take an extent of 0.
shape parse_shape(std::string const& text, std::size_t extents, std::string const& names,
                  std::int64_t min_extent = 1);

/// The requested kinds of schedule.
std::vector<int> families_of(request const& r);

/// "plugin.so --bug b --kernel k --sms 1 --shape 64,64 --schedule lazy --first-seed 3 --seeds 1":
/// repeats a run of the kernel, with every option of r that changes what it does.
std::string replay_options(request const& r, std::string const& kernel, run_key const& k);

}  // namespace tw::hazards
