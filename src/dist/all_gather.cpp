// SPDX-License-Identifier: Apache-2.0
// all_gather.cpp  All-gather + GEMM: rows of A are multiplied when they have arrived.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dist/call.hpp"
#include "dist/gathered.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dist/schedule.hpp"
#include "tilewright/problem/accept.hpp"

namespace tw::dist {
namespace {

/// The GEMM of a rank after all shards have arrived: A and its scales lie in the receive buffer.
struct gathered_problem {
  gemm_problem problem;
  bool scales = false;
  std::int64_t scale_offset = 0, bytes = 0;
};

gathered_problem after_gather(gemm_problem const& p) {
  gathered_problem g{p};
  g.problem.a = dense(p.a.type, p.a.ord, p.m, p.k);
  g.bytes = round_up(bytes_of(g.problem.a, p.m, p.k), arena_alignment);
  if (!p.scale_a || !scales_travel(*p.scale_a)) return g;
  g.scales = true;
  g.scale_offset = g.bytes;
  g.problem.scale_a = dense_scales(*p.scale_a, p.m, p.k);
  g.bytes += round_up(bytes_of(*g.problem.scale_a, p.m, p.k), arena_alignment);
  return g;
}

/// All that the ranks must agree on.
std::string text_of(gemm_problem const& p, gathered_problem const& g, shards const& rows) {
  std::string const scales = g.scales ? fmt::format(", scales {} {}x{}", name(p.scale_a->type),
                                                    p.scale_a->block_outer, p.scale_a->block_k)
                                      : "";
  return fmt::format("all-gather + GEMM, M = {}, K = {}, A {} {}{}, rows {}", p.m, p.k,
                     name(p.a.type), p.a.ord == order::row_major ? "row-major" : "column-major",
                     scales, text_of(rows));
}

void check_one_a(std::vector<gemm_call> const& calls) {
  bool equal = !calls.empty();
  for (gemm_call const& c : calls) {
    gemm_problem const &x = c.problem, &first = calls.front().problem;
    gemm_operands const &at = c.operands, &of_first = calls.front().operands;
    equal = equal && x.m == first.m && x.k == first.k && x.a == first.a &&
            x.scale_a == first.scale_a && at.a == of_first.a && at.scale_a == of_first.scale_a;
  }
  if (!equal)
    throw rejected({"TW0904", "GEMMs of one gathered A", fmt::format("{} GEMMs", calls.size()),
                    "1 or more, with equal A, scales of A, M and K", ""});
}

/// The gate of a call: the rank's rows are read in place, if TMA can address them.
gate_form gate_of(shards const& rows, gemm_problem const& p, gemm_operands const& o, range own) {
  gate_form gate;
  for (int r = 0; r <= rows.ranks(); ++r)
    gate.first_row[static_cast<std::size_t>(r)] =
        static_cast<int>(r < rows.ranks() ? rows.of(r).begin : rows.extent());
  if (!own.empty() && p.k > 0 && p.a.ord == order::row_major && tma_addressable(p.a, 2, 1, o.a))
    gate.own = o.a, gate.own_a = p.a;
  return gate;
}

/// Rows of `own`, of all M, that a load of A may have together with rows of another rank.
std::vector<range> shared_with_tiles(range own, std::int64_t m) {
  std::int64_t const step = gate_row_step;
  std::int64_t const first = std::min(own.end(), round_up(own.begin, step));
  std::int64_t const last = own.end() == m ? m : std::max(first, own.end() / step * step);
  return {{own.begin, first - own.begin}, {last, own.end() - last}};
}

/// The GEMM of a call after the gather; without an address of A until `received` is given.
gemm_slice gathered_of(gemm_call const& call, gathered_problem const& all, std::byte* received) {
  gemm_slice s{call.problem, call.operands};
  s.problem.a = all.problem.a, s.problem.scale_a = all.problem.scale_a;
  s.operands.a = received;
  if (all.scales) s.operands.scale_a = received + all.scale_offset;
  return s;
}

/// Bytes of A that a rank sends at most.
std::int64_t most_bytes_of(gemm_problem const& p, shards const& rows) {
  return bytes_of(dense(p.a.type, p.a.ord, rows.largest(), p.k), rows.largest(), p.k);
}

void run(group const& g, std::vector<gemm_call> const& calls, call_options const& how,
         bool& begins) {
  check_one_a(calls);
  group::membership& m = g.state();
  gemm_problem const& p = calls.front().problem;
  gemm_operands const& o = calls.front().operands;
  shards const rows = rows_of(g, p, how);
  int const rank = g.rank();
  range const own = rows.of(rank);
  gathered_problem const all = after_gather(p);
  std::int64_t const most_bytes = most_bytes_of(p, rows);
  std::byte* const received = m.next_buffer(rank);
  path_choice const choice = choice_of_all_gather(g, calls, how, rows);
  path const via = choice.via;
  bool const by_nccl = choice.by_nccl;
  std::string const text = text_of(p, all, rows) + (by_nccl               ? ", by NCCL"
                                                    : via == path::direct ? ", direct"
                                                                          : "");
  check_capacity(g, all.bytes, text);

  std::vector<placed_lines> copies;
  if (!own.empty() && p.k > 0) {
    copies = {copy_of(p.a, o.a, own.size, p.k, all.problem.a, own.begin, 0)};
    if (all.scales)
      for (placed_lines const& c :
           copies_of(*p.scale_a, o.scale_a, own, p.k, *all.problem.scale_a, all.scale_offset))
        copies.push_back(c);
  }

  std::optional<gate_form> gate;
  if (via == path::gated) gate = gate_of(rows, p, o, own);
  std::vector<gather_step> const steps = gather_steps(via, rows, rank);
  std::vector<std::vector<planned_gemm>> gemms(steps.size());
  for (gemm_call const& call : calls) {
    gemm_problem own_rows = call.problem;
    own_rows.m = own.size;  // the shard in the caller's memory
    gemm_slice const whole = gathered_of(call, all, received);
    rows_of(g, call.problem, how);
    check_accepted(own_rows);
    m.check_memory(addresses_of(call.problem, call.operands, own.size, p.m), how);
    check_accepted(whole.problem);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      gemm_slice s = slice_of(whole.problem, whole.operands, extent::m, steps[i].rows);
      if (!has_one_gemm(via) && steps[i].rows == own) {  // without the way through the buffer
        s.problem.a = p.a, s.operands.a = o.a;
        s.problem.scale_a = p.scale_a, s.operands.scale_a = o.scale_a;
      }
      gemms[i].emplace_back(s, m, how, gate);
    }
  }

  auto const send = [&](int to) {
    for (placed_lines const& c : copies) m.send(c.from, m.buffer(to) + c.offset, c.of);
  };
  auto const put = [&](placed_lines const& c) { m.copy(c.from, m.buffer(rank) + c.offset, c.of); };
  auto const put_own_rows = [&] { std::ranges::for_each(copies, put); };
  if (via == path::direct) {
    exchange x;
    x.to.resize(static_cast<std::size_t>(rows.ranks()));
    for (placed_lines& to : x.to)
      if (!copies.empty()) to = copies[0];
    x.most_bytes = most_bytes;
    x.before = {rank_act::gemm, {0, p.m}};
    run_call(m, begins, text, how, beginning::by_exchange, [&] {
      m.run(x);
      for (planned_gemm const& gemm : gemms[0]) gemm.run(m);
    });
    return;
  }
  run_call(m, begins, text, how, by_nccl ? beginning::together : beginning::alone, [&] {
    if (by_nccl) {
      std::vector<range> parts;
      for (int r = 0; r < rows.ranks(); ++r) {
        std::int64_t const bytes = all.problem.a.pitch_bytes();
        parts.push_back({rows.of(r).begin * bytes, rows.of(r).size * bytes});
      }
      void const* from = m.buffer(rank) + parts[static_cast<std::size_t>(rank)].begin;
      if (!copies.empty() && copies[0].of.adjacent())
        from = copies[0].from;  // the shard as it lies in the caller's memory
      else
        put_own_rows();
      m.nccl()->gather(from, m.buffer(rank), parts);
      for (planned_gemm const& gemm : gemms[0]) gemm.run(m);
      return;
    }
    for (int i = 1; i < rows.ranks(); ++i) {
      int const to = receiver(rows.ranks(), rank, i);
      send(to);
      m.set(rank_flag::sent, to);
    }
    if (via == path::serial) put_own_rows();
    if (gate) {
      bool const in_place = gate->own != nullptr;
      for (std::size_t i = in_place ? 1 : 0; i < copies.size(); ++i) put(copies[i]);
      if (in_place)
        for (range const r : shared_with_tiles(own, p.m))
          if (!r.empty())
            put(copy_of(p.a, element_at(o.a, p.a.type, (r.begin - own.begin) * p.a.pitch_elems),
                        r.size, p.k, all.problem.a, r.begin, 0));
      bool launched = false;
      for (planned_gemm const& gemm : gemms[0]) gemm.run(m), launched |= gemm.launches();
      if (!launched) m.wait(rank_flag::sent, steps[0].waits_for, {rank_act::gemm, steps[0].rows});
      return;
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      m.wait(rank_flag::sent, steps[i].waits_for, {rank_act::gemm, steps[i].rows});
      for (planned_gemm const& gemm : gemms[i]) gemm.run(m);
    }
  });
}

}  // namespace

std::int64_t bytes_of_all_gather(gemm_problem const& p) { return after_gather(p).bytes; }

gemm_problem problem_after_gather(gemm_problem const& p) { return after_gather(p).problem; }

path_choice choice_of_all_gather(group const& g, std::vector<gemm_call> const& calls,
                                 call_options const& how, shards const& rows) {
  group::membership& m = g.state();
  gemm_problem const& p = calls.front().problem;
  gathered_problem const all = after_gather(p);
  auto const refuse_gated = [&] {
    if (m.shares_gpu())
      throw rejected({"TW0904", "path gated", "ranks that share a GPU",
                      "a GPU for each rank, or another path",
                      "one rank's kernel may hold the SMs for which copies of another rank wait"});
    for (gemm_call const& call : calls) {
      gemm_slice const s = gathered_of(call, all, m.next_buffer(g.rank()));
      if (!computes_nothing(s.problem)) m.plan_gated(s.problem, s.operands, how);
    }
  };
  path_choice choice = path_of(m, p, how,
                               {most_bytes_of(p, rows),
                                all.bytes,
                                all.scales ? "scales of A that travel" : "",
                                {operation::all_gather_gemm, rows.ranks(), p.a.type, p.m, p.k, ""},
                                refuse_gated});
  // NCCL gathers shards of whole rows; other shards are sent as on the other paths.
  choice.by_nccl = m.nccl() != nullptr && choice.via == path::serial &&
                   p.a.ord == order::row_major && !all.scales;
  if (!choice.by_nccl && !m.reaches_all())
    refuse_unreachable(m, all.scales ? "block scales of A" : "a column-major A");
  return choice;
}

void all_gather_gemm(group const& g, gemm_problem const& p, gemm_operands const& o,
                     call_options const& how) {
  all_gather_gemm(g, {{p, o}}, how);
}

void all_gather_gemm(group const& g, std::vector<gemm_call> const& calls, call_options const& how) {
  attempt_call(g, [&](bool& begins) { run(g, calls, how, begins); });
}

}  // namespace tw::dist
