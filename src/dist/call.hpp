// SPDX-License-Identifier: Apache-2.0
// call.hpp  A call of an operation: the rows of each rank, launches that are planned before
//           anything is sent, and the end of the call. A call that fails breaks the group.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dist/membership.hpp"
#include "dist/slice.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/family/plan.hpp"

namespace tw::dist {

/// Rows of the ranks. Throws `rejected`: TW0903 if they do not fit the problem and the group,
/// TW0904 for batches, groups of rows and addresses in arrays.
shards rows_of(group const& g, gemm_problem const& p, call_options const& how);

/// Throws accept()'s refusal; a problem without elements of D is not refused.
void check_accepted(gemm_problem const& p);

/// Throws TW0902 if a receive buffer of the group is smaller than `need`.
void check_capacity(group const& g, std::int64_t need, std::string const& problem);

/// Of gathered_bytes().
std::int64_t bytes_of_all_gather(gemm_problem const& p);
std::int64_t bytes_of_reduce(operation op, gemm_problem const& p, shards const& rows, elem type);

/// "3+3+2".
std::string text_of(shards const& rows);

/// A digest of the words that all ranks must agree on.
std::uint32_t digest_of(std::string const& text);

/// The options of a rank's launches.
emu::options options_of(call_options const& how);

/// A GEMM of a slice in the emulator, planned and with its operands checked. A slice without
/// elements of D launches nothing.
class planned_gemm {
 public:
  planned_gemm() = default;
  planned_gemm(gemm_slice const& s, call_options const& how);
  void run(emu::options const& options) const;

 private:
  std::shared_ptr<gemm_plan const> plan_;
  gemm_operands operands_;
};

/// Runs `work` as the next call of the group. If it throws, the group is broken.
template <class Work>
void run_call(group::membership& m, std::string const& problem, Work const& work) {
  m.begin(digest_of(problem), problem);
  try {
    work();
  } catch (std::exception const& e) {
    m.end(e.what());
    throw;
  }
  m.end();
}

}  // namespace tw::dist
