// SPDX-License-Identifier: Apache-2.0
// call.cpp  Checks of a call, its digest and its launches.
#include "dist/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "family/bind.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {

shards rows_of(group const& g, gemm_problem const& p, call_options const& how) {
  if (p.batch != 1 || p.groups || p.has_pointers())
    throw rejected({"TW0904", "GEMM over several ranks",
                    p.groups ? "groups" : fmt::format("a batch of {}", p.batch), "one GEMM",
                    "a batch is divided without communication: some of its GEMMs to each rank"});
  if (has_weights(p))
    throw rejected({"TW0904", "GEMM over several ranks", "4-bit weights", "other operands",
                    "each rank can multiply its rows of activations without communication"});
  if (!how.rows) return shards::even(p.m, g.ranks());
  bool negative = false;
  for (int r = 0; r < how.rows->ranks(); ++r) negative = negative || how.rows->of(r).size < 0;
  if (how.rows->ranks() != g.ranks() || how.rows->extent() != p.m || negative)
    throw rejected({"TW0903", "rows of the ranks (call_options::rows)", text_of(*how.rows),
                    fmt::format("{} numbers that are not negative, M = {} in all", g.ranks(), p.m),
                    ""});
  return *how.rows;
}

void check_accepted(gemm_problem const& p) {
  if (auto const why = accept(p); why && !computes_nothing(p)) throw rejected(*why);
}

void check_capacity(group const& g, std::int64_t need, std::string const& problem) {
  std::int64_t const got = g.state().options().gathered_bytes;
  if (need <= got) return;
  throw rejected(
      {"TW0902", "receive buffer of the group", fmt::format("{} bytes", got),
       fmt::format("{} bytes for {}", need, problem),
       "group_options::gathered_bytes; tw::dist::gathered_bytes() returns the need of a problem"});
}

std::string text_of(shards const& rows) {
  std::string text;
  for (int r = 0; r < rows.ranks(); ++r)
    text += fmt::format("{}{}", r == 0 ? "" : "+", rows.of(r).size);
  return text;
}

std::int64_t gathered_bytes(operation op, gemm_problem const& p, shards const& rows,
                            bool float32_partials, std::optional<path> via) {
  if (!splits_k(op)) return bytes_of_all_gather(p);
  return bytes_of_reduce(op, p, rows, partial_type(p, float32_partials), via);
}

void refuse_unreachable(group::membership const& m, std::string const& what) {
  std::vector<int> const to = m.unreached();
  throw rejected({"TW0909", "exchange over ranks that cannot write each other's memory",
                  fmt::format("{}; rank {} cannot write the memory of rank{} {}", what, m.rank(),
                              to.size() == 1 ? "" : "s", fmt::join(to, ", ")),
                  "a row-major A without block scales, which NCCL gathers",
                  "P2P access between the GPUs (NVLink) allows all operands"});
}

path_choice path_of(group::membership& m, gemm_problem const& p, call_options const& how,
                    path_needs const& needs) {
  if (m.ranks() == 1) return {path::pieces, "one rank communicates with no other"};
  if (!m.reaches_all())
    return {path::serial,
            "the GPUs do not write each other's memory (no P2P): NCCL exchanges by host memory"};
  if (how.via == path::direct && !needs.obstacle.empty())
    throw rejected({"TW0904", "path direct", needs.obstacle, "another path", ""});
  if (how.via == path::gated) needs.refuse_gated();
  if (how.via) return {*how.via, "the options of the call name it"};
  if (!m.on_gpu()) return {path::pieces, "the default of ranks in host memory"};
  bool const may_be_direct =
      needs.obstacle.empty() && needs.buffer_bytes <= m.options().gathered_bytes;
  auto const may_be_gated = [&] {
    try {
      needs.refuse_gated();
      return true;
    } catch (rejected const&) {
      return false;
    }
  };
  path_key key = needs.call;
  key.gpu = gpu().name;
  if (auto const tuned = tuned_path(key); tuned && (tuned->via != path::direct || may_be_direct) &&
                                          (tuned->via != path::gated || may_be_gated()))
    return {tuned->via, fastest_text(tuned->us)};
  // M is equal on all ranks. On two H200 the launches of the pieces cost more than they hide below.
  constexpr std::int64_t rows_for_pieces = 512;
  if (p.m >= rows_for_pieces)
    return {path::pieces, fmt::format("the default from {} rows on", rows_for_pieces)};
  // NCCL takes 38 us for an all-reduce of 1 MiB there, the exchange 43; of 512 KiB both take 34.
  constexpr std::int64_t less_than_nccl = std::int64_t{512} << 10;
  bool const by_nccl = m.nccl() != nullptr && !p.reproducible;
  bool const small = by_nccl ? needs.sent_bytes * (m.ranks() - 1) <= less_than_nccl
                             : is_small(needs.sent_bytes, m.ranks());
  std::string why = fmt::format("the default below {} rows, with {} bytes from a rank to a peer",
                                rows_for_pieces, needs.sent_bytes);
  if (small && !may_be_direct)
    why += needs.obstacle.empty()
               ? fmt::format("; direct needs a receive buffer of {} bytes", needs.buffer_bytes)
               : "; direct does not take " + needs.obstacle;
  return {may_be_direct && small ? path::direct : path::serial, why};
}

planned_gemm::planned_gemm(gemm_slice const& s, group::membership const& m, call_options const& how,
                           std::optional<gate_form> const& gate)
    : operands_(s.operands),
      gate_(gate) {
  if (computes_nothing(s.problem)) return;
  plan_ = gate_ ? m.plan_gated(s.problem, operands_, how) : m.plan(s.problem, operands_, how);
  check_operands(s.problem, operands_);
}

void planned_gemm::run(group::membership& m) const {
  if (plan_ && gate_)
    m.multiply_gated(*plan_, operands_, *gate_);
  else if (plan_)
    m.multiply(*plan_, operands_);
}

}  // namespace tw::dist
