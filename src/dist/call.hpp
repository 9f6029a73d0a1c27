// SPDX-License-Identifier: Apache-2.0
// call.hpp  A call of an operation: the rows of each rank, launches that are planned before
//           anything is sent, and the end of the call. A call that fails breaks the group.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "dist/membership.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/path_table.hpp"
#include "tilewright/family/plan.hpp"

namespace tw::dist {

/// Rows of the ranks. Throws `rejected`: TW0903 if they do not fit the problem and the group,
/// TW0904 for batches, groups of rows and addresses in arrays.
shards rows_of(group const& g, gemm_problem const& p, call_options const& how);

/// Throws accept()'s refusal; a problem without elements of D is not refused.
void check_accepted(gemm_problem const& p);

/// Throws TW0902 if a receive buffer of the group is smaller than `need`.
void check_capacity(group const& g, std::int64_t need, std::string const& problem);

/// Few enough bytes for path::direct, whose stores are slower than copies: sent by a rank to each
/// peer.
inline bool is_small(std::int64_t bytes, int ranks) {
  return bytes * (ranks - 1) <= std::int64_t{4} << 20;
}

/// Of gathered_bytes().
std::int64_t bytes_of_all_gather(gemm_problem const& p);
std::int64_t bytes_of_reduce(operation op, gemm_problem const& p, shards const& rows, elem type,
                             std::optional<path> via);

/// Throws TW0909: ranks that cannot write each other's memory, and data that NCCL cannot gather.
[[noreturn]] void refuse_unreachable(group::membership const& m, std::string const& what);

/// "3+3+2".
std::string text_of(shards const& rows);

/// Needs of path::direct, equal on all ranks, and of path::gated.
struct path_needs {
  std::int64_t sent_bytes;             // that a rank sends at most to a peer
  std::int64_t buffer_bytes;           // of a receive buffer
  std::string obstacle;                // why a call cannot be direct; empty: it can
  path_key call;                       // without the GPU's name
  std::function<void()> refuse_gated;  // throws if the call cannot be gated
};

/// The path of a call, why in words, and whether NCCL's collectives serve it.
struct path_choice {
  path via = path::serial;
  std::string why;
  bool by_nccl = false;
};

/// The path of a call on GPUs that write each other's memory, without a measurement: from facts
/// that are equal on all ranks, which may have different N of an all-gather, or K of a sum. Not
/// gated. sent_bytes: that a rank sends at most to a peer on path::direct. by_nccl: NCCL's
/// collectives serve path::serial.
path default_path(path_key const& call, std::int64_t sent_bytes, bool by_nccl);

/// The path of a call. One rank multiplies its operands in place. Ranks that cannot write each
/// other's memory use NCCL's collectives: serial. Throws TW0904 if the options have path::direct
/// or path::gated, and the call cannot take it. Leaves by_nccl to the operation.
path_choice path_of(group::membership& m, gemm_problem const& p, call_options const& how,
                    path_needs const& needs);

/// Why the path table's fastest path is chosen.
std::string fastest_text(double us);

/// The choice of a call, with its rows (rows_of()). Throws as the call if its path is refused.
path_choice choice_of_all_gather(group const& g, std::vector<gemm_call> const& calls,
                                 call_options const& how, shards const& rows);
path_choice choice_of_reduce(operation op, group const& g, gemm_problem const& p,
                             call_options const& how, shards const& rows);

/// The problem of the GEMM of an all-gather after the gather: A and its scales are dense, as they
/// lie in a receive buffer.
gemm_problem problem_after_gather(gemm_problem const& p);

/// A GEMM of a slice, planned and with its operands checked. A slice without elements of D launches
/// nothing.
class planned_gemm {
 public:
  planned_gemm() = default;
  /// gate: of path::gated, without the ranks.
  planned_gemm(gemm_slice const& s, group::membership const& m, call_options const& how,
               std::optional<gate_form> const& gate = {});
  void run(group::membership& m) const;
  bool launches() const { return plan_ != nullptr; }

 private:
  std::shared_ptr<gemm_plan const> plan_;
  gemm_operands operands_;
  std::optional<gate_form> gate_;
};

/// A call of a user, which is refused or begins: work(begins), which hands `begins` to run_call().
/// The peers learn of a refusal.
template <class Work>
void attempt_call(group const& g, Work const& work) {
  bool begins = false;
  try {
    work(begins);
  } catch (std::exception const& e) {
    if (!begins) g.state().refuse_call(e.what());
    throw;
  }
}

/// Runs `work` as the next call of the group. If it throws, the group is broken.
template <class Work>
void run_call(group::membership& m, bool& begins, std::string const& problem,
              call_options const& how, beginning by, Work const& work) {
  begins = true;
  m.begin(problem, how, by);
  try {
    work();
  } catch (std::exception const& e) {
    m.end(e.what());
    throw;
  }
  m.end({});
}

}  // namespace tw::dist
