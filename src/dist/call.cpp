// SPDX-License-Identifier: Apache-2.0
// call.cpp  Checks of a call, its digest and its launches.
#include "dist/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "family/bind.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/plan.hpp"
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

namespace {

// On two H200 the launches of pieces of fewer rows cost more than they hide. Smaller pieces of more
// ranks fill the SMs badly: two pieces are predicted to be faster.
constexpr std::int64_t rows_for_pieces = 512, rows_of_a_piece = 256;

}  // namespace

path default_path(path_key const& call, std::int64_t sent_bytes, bool by_nccl) {
  operation const op = call.op;
  int const ranks = call.ranks;
  bool const large = call.rows >= rows_for_pieces, small = is_small(sent_bytes, ranks);
  if (large && call.rows >= rows_of_a_piece * ranks) return path::pieces;
  if (!by_nccl) return large ? path::two_pieces : small ? path::direct : path::serial;
  // The GEMM is the same on every path: the exchanges are compared.
  constexpr double certain_us = 2, worth_two_launches_us = 40;
  link_rates const l;
  bool const all_reduce = op == operation::gemm_all_reduce;
  auto const rows = static_cast<double>(call.rows), extent = static_cast<double>(call.extent);
  double const elem_bytes = size_bits(call.type) / 8.0;
  double const bytes = exchanged_bytes(op, ranks, rows, extent, extent, elem_bytes);
  double const nccl = nccl_us(l, (all_reduce ? 2 : 1) * bytes);
  auto const sum = [&](double of) {
    return splits_k(op) ? addition_us(l, ranks, of, extent, elem_bytes, elem_bytes) : 0;
  };
  double const later =
      unhidden_us(l, op, ranks, bytes, exchange_us(l, bytes, ranks - 1, 0), sum(rows / ranks));
  if (large && nccl - later >= worth_two_launches_us) return path::two_pieces;
  double const direct = direct_us(l, 0, static_cast<double>(sent_bytes) * (ranks - 1)) +
                        sum(all_reduce ? rows : rows / ranks);
  return small && direct + certain_us <= nccl ? path::direct : path::serial;
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
  bool const by_nccl = m.nccl() != nullptr && !p.reproducible;
  path const via = default_path(needs.call, needs.sent_bytes, by_nccl);
  if (via == path::pieces)
    return {via, fmt::format("the default from {} rows on", rows_for_pieces)};
  if (via == path::two_pieces)
    return {via, fmt::format("the default from {} rows on, with less than {} of each rank",
                             rows_for_pieces, rows_of_a_piece)};
  std::string why = fmt::format(
      "the default below {} rows, with {} bytes from a rank to a peer",
      p.m < rows_for_pieces ? rows_for_pieces : rows_of_a_piece * m.ranks(), needs.sent_bytes);
  if (via != path::direct || may_be_direct) return {via, why};
  why += needs.obstacle.empty()
             ? fmt::format("; direct needs a receive buffer of {} bytes", needs.buffer_bytes)
             : "; direct does not take " + needs.obstacle;
  return {path::serial, why};
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
