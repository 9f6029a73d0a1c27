// SPDX-License-Identifier: Apache-2.0
// steps.cpp  The acts of a call in words, from its schedule.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/dist/plan.hpp"
#include "tilewright/dist/schedule.hpp"

namespace tw::dist {
namespace {

std::string words_of_rows(range const& r) {
  return fmt::format("{} rows from {}", r.size, r.begin);
}

std::string words_of_ranks(std::vector<int> const& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

std::vector<int> peers_of(int ranks, int rank, int (*at_step)(int, int, int)) {
  std::vector<int> list;
  for (int i = 1; i < ranks; ++i) list.push_back(at_step(ranks, rank, i));
  return list;
}

std::vector<std::string> gather_in_words(path via, shards const& rows, int rank) {
  int const ranks = rows.ranks();
  std::vector<int> const to = peers_of(ranks, rank, receiver), from = peers_of(ranks, rank, sender);
  std::string const own = words_of_rows(rows.of(rank));
  if (via == path::direct)
    return {
        fmt::format("one launch stores {} to {}, and waits for theirs", own, words_of_ranks(to)),
        "GEMM of " + words_of_rows({0, rows.extent()})};
  std::vector<std::string> list{
      fmt::format("copy engines send {} to {}, during the GEMMs", own, words_of_ranks(to))};
  if (via == path::gated) {
    list.push_back(
        fmt::format("GEMM of {}: tiles of {} first, then in the order of {}, whose rows "
                    "a tile waits for",
                    words_of_rows({0, rows.extent()}), own, words_of_ranks(from)));
    return list;
  }
  for (gather_step const& s : gather_steps(via, rows, rank)) {
    std::string const wait = s.waits_for.empty() ? "" : "wait for " + words_of_ranks(s.waits_for);
    std::string const gemm = s.rows.empty() ? "" : "GEMM of " + words_of_rows(s.rows);
    if (!wait.empty() || !gemm.empty())
      list.push_back(wait + (wait.empty() || gemm.empty() ? "" : ", then ") + gemm);
  }
  return list;
}

std::vector<std::string> reduce_in_words(operation op, path via, shards const& rows, int rank) {
  int const ranks = rows.ranks();
  bool const all = op == operation::gemm_all_reduce;
  std::vector<int> const from = peers_of(ranks, rank, sender);
  range const own = rows.of(rank), whole{0, rows.extent()};
  std::vector<std::string> list;
  if (via == path::direct)
    return {"GEMM of " + words_of_rows(whole),
            fmt::format("one launch stores partial results of {} to {}, waits for theirs, and adds "
                        "{} in the order of the ranks",
                        all ? "all rows" : "their rows", words_of_ranks(from),
                        words_of_rows(all ? whole : own))};
  for (reduce_step const& s : reduce_steps(via, rows, rank)) {
    std::string text = s.rows.empty() ? "" : "GEMM of " + words_of_rows(s.rows);
    if (!s.sends_to.empty())
      text += fmt::format("{}send partial results to {}", text.empty() ? "" : ", then ",
                          words_of_ranks(s.sends_to));
    if (!text.empty()) list.push_back(text);
  }
  list.push_back(fmt::format("wait for {}, then add {} in the order of the ranks",
                             words_of_ranks(from), words_of_rows(own)));
  if (all)
    list.push_back(fmt::format("send D of {} to {}, and copy theirs as they arrive",
                               words_of_rows(own), words_of_ranks(from)));
  return list;
}

}  // namespace

std::vector<std::string> steps_in_words(operation op, path via, shards const& rows, int rank,
                                        bool by_nccl) {
  std::string const gemm = "GEMM of " + words_of_rows({0, rows.extent()});
  if (rows.ranks() == 1) return {gemm};
  if (by_nccl) {
    if (!splits_k(op)) return {"NCCL gathers the rows of all ranks", gemm};
    return {gemm, fmt::format("NCCL's {} of the partial results", name(op)),
            "the epilogue, unless D is the sum itself"};
  }
  return splits_k(op) ? reduce_in_words(op, via, rows, rank) : gather_in_words(via, rows, rank);
}

}  // namespace tw::dist
