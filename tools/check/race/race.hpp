// SPDX-License-Identifier: Apache-2.0
// race.hpp  The kernels and planted faults of the playground's page "Find the race", and one
//           emulated run of any of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tw::race {

/// A kernel of the ladder or of `check --mutants`, or a copy of it that is wrong in one detail.
struct specimen {
  std::string name;                // "ladder/06_persistent/ring-restarts", "gemm/no-fence"
  std::string kernel;              // the name without the fault
  std::string fault;               // empty: the correct kernel
  std::string change;              // in words
  std::vector<std::string> codes;  // any of them is right; "wrong-result": no rule is broken
  bool of_ladder = false;
  int rung = 0, which = 0;  // of the ladder
  std::string rung_name;
  std::string needs;        // of the ladder: multiples of M, N and K
  int m = 0, n = 0, k = 0;  // of the ladder: a size that shows the fault
};

/// All of them, correct kernels first.
std::vector<specimen> specimens();
/// Refuses (TW0634) a name that none has.
specimen specimen_named(std::string const& name);

struct request {
  std::string name;
  std::string schedule = "eager";  // eager, lazy, random or random warps
  std::uint64_t seed = 1;
  int size = 0;  // of the ladder: M = N = K; 0: the specimen's own
  bool timeline = true;
  std::function<void(double)> progress;  // of the ladder: the share of the multiply-adds done
};

/// The specimen, the diagnoses as emu::to_json writes them, the number of wrong elements if the run
/// came to its end, the timeline as slices and as the picture that --timeline draws.
nlohmann::ordered_json run(request const& r);
nlohmann::ordered_json list();

}  // namespace tw::race
