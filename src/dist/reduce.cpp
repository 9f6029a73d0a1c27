// SPDX-License-Identifier: Apache-2.0
// reduce.cpp  GEMM + reduce-scatter and GEMM + all-reduce: partial results are sent to the rank
//             that has their rows, which adds them in the order of the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dist/call.hpp"
#include "dist/gathered.hpp"
#include "family/bind.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dist/schedule.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {
namespace {

/// The GEMM of a rank's K without an epilogue, its result rounded to `type`.
gemm_problem partial_of(gemm_problem const& p, elem type) {
  gemm_problem q;
  q.m = p.m, q.n = p.n, q.k = p.k;
  q.a = p.a, q.b = p.b;
  q.d = dense(type, order::row_major, p.m, p.n);
  q.precision = p.precision;
  q.scale_a = p.scale_a, q.scale_b = p.scale_b;
  q.reproducible = p.reproducible;
  return q;
}

/// A receive buffer: a slot of partial results of this rank's rows from each rank; the partial
/// results that this rank sends; D and the auxiliary output of all rows, if each rank has them.
struct reduce_buffer {
  matrix_desc partial;
  std::int64_t slot_bytes = 0, send = 0;
  struct result {
    role is;
    std::int64_t cols;
    matrix_desc matrix;
    std::int64_t offset;
  };
  std::vector<result> results;
  std::int64_t bytes = 0;

  std::int64_t slot(int rank) const { return rank * slot_bytes; }
};

/// direct: a slot of an all-reduce has all rows, and every rank adds them.
reduce_buffer buffer_of(operation op, gemm_problem const& p, shards const& rows, elem type,
                        bool direct) {
  reduce_buffer b;
  bool const all_rows = direct && op == operation::gemm_all_reduce;
  b.partial = dense(type, order::row_major, p.m, p.n);
  b.slot_bytes =
      round_up(bytes_of(b.partial, all_rows ? p.m : rows.largest(), p.n), arena_alignment);
  b.send = b.slot(rows.ranks());
  if (all_rows) {  // this rank's partial results lie in its slot
    b.bytes = b.send;
    return b;
  }
  b.bytes = b.send + round_up(bytes_of(b.partial, p.m, p.n), arena_alignment);
  if (op != operation::gemm_all_reduce) return b;
  for (role const r : {role::d, role::aux}) {
    matrix_desc const* const x = matrix_of(p, r);
    if (x == nullptr) continue;
    std::int64_t const cols = r == role::aux ? p.n : result_cols(p.epilogue, p.n);
    matrix_desc const all = dense(x->type, x->ord, p.m, cols);
    b.results.push_back({r, cols, all, b.bytes});
    b.bytes += round_up(bytes_of(all, p.m, cols), arena_alignment);
  }
  return b;
}

strided_matrix strided(matrix_desc const& m, void* at) {
  bool const by_rows = m.ord == order::row_major;
  return {at, by_rows ? m.pitch_elems : 1, by_rows ? 1 : m.pitch_elems, m.type};
}

/// The sum and the epilogue of `p.m` rows, whose partial results are in the slots.
add_partials_params sum_of(gemm_problem const& p, gemm_operands const& o, reduce_buffer const& b,
                           std::byte const* received, int ranks) {
  add_partials_params q = {};
  q.parts = received;
  q.part_stride = b.slot_bytes * 8 / size_bits(b.partial.type);
  q.pitch = b.partial.pitch_elems;
  q.count = ranks;
  q.rows = static_cast<int>(p.m), q.cols = static_cast<int>(p.n);
  q.type = b.partial.type;
  q.d = strided(p.d, o.d);
  if (p.aux) q.aux = strided(*p.aux, o.aux);
  q.gated = p.epilogue.gate != gating::none;
  q.epilogue.alpha = p.alpha, q.epilogue.beta = p.beta;
  q.epilogue.c = view_of_c(p, o);
  q.epilogue.fused = fused_of(p, o, false);
  return q;
}

std::string text_of(operation op, gemm_problem const& p, shards const& rows, elem type) {
  std::string const of_d =
      op == operation::gemm_all_reduce
          ? fmt::format(", D {}{}{}", name(p.d.type),
                        p.d.ord == order::row_major ? " row-major" : " column-major",
                        p.aux ? " with an auxiliary output" : "")
          : "";
  return fmt::format("GEMM + {}, M = {}, N = {}, partial results {}{}, rows {}", name(op), p.m, p.n,
                     name(type), of_d, text_of(rows));
}

/// Is D the sum of partial results as NCCL writes it?
bool is_plain_sum(gemm_slice const& s, reduce_buffer const& b) {
  gemm_problem const& p = s.problem;
  return p.alpha == 1 && !p.c && !p.aux && p.epilogue == gemm_epilogue{} && p.d == b.partial;
}

/// The partial results of all rows are in `send`: NCCL adds them, then the epilogue is applied.
void reduce_by_nccl(group::membership& m, gemm_slice const& sum, reduce_buffer const& b,
                    shards const& rows, bool all_rows) {
  std::byte* const received = m.buffer(m.rank());
  std::byte* const parts = received + b.send;
  std::int64_t const pitch = b.partial.pitch_elems;
  bool const plain = is_plain_sum(sum, b);
  void* added = plain ? sum.operands.d : all_rows ? parts : received;
  if (all_rows) {
    m.nccl()->all_reduce(parts, added, rows.extent() * pitch, b.partial.type);
  } else {
    std::vector<range> elems;
    for (int r = 0; r < rows.ranks(); ++r)
      elems.push_back({rows.of(r).begin * pitch, rows.of(r).size * pitch});
    m.nccl()->reduce_scatter(parts, added, elems, b.partial.type);
  }
  if (!plain && !computes_nothing(sum.problem))
    m.add(sum_of(sum.problem, sum.operands, b, static_cast<std::byte*>(added), 1));
}

/// Each rank sends the results of its rows to all, and copies those it receives to D.
void exchange_results(group::membership& m, gemm_problem const& p, gemm_operands const& o,
                      gemm_slice const& mine, reduce_buffer const& b, shards const& rows,
                      std::vector<int> const& others) {
  range const own = rows.of(m.rank());
  m.results_are_there();
  for (int i = 1; i < m.ranks(); ++i) {
    int const to = receiver(m.ranks(), m.rank(), i);
    for (reduce_buffer::result const& r : b.results) {
      matrix_desc const& x = *matrix_of(p, r.is);
      placed_lines const c =
          copy_of(x, address(mine.operands, r.is), own.size, r.cols, r.matrix, own.begin, r.offset);
      m.send(c.from, m.buffer(to) + c.offset, c.of);
    }
    m.set(rank_flag::results, to);
  }
  std::byte const* const received = m.buffer(m.rank());
  for (int const from : others) {
    range const theirs = rows.of(from);
    m.wait(rank_flag::results, {from}, {rank_act::result, theirs});
    for (reduce_buffer::result const& r : b.results) {
      matrix_desc const& x = *matrix_of(p, r.is);
      bool const by_rows = x.ord == order::row_major;
      std::int64_t const first =
          theirs.begin * (by_rows ? r.matrix.pitch_bytes() : size_bytes(x.type));
      placed_lines const c =
          copy_of(r.matrix, received + r.offset + first, theirs.size, r.cols, x, theirs.begin, 0);
      auto* const to = static_cast<std::byte*>(const_cast<void*>(address(o, r.is)));
      m.copy(c.from, to + c.offset, c.of);
    }
  }
}

/// Bytes that a rank sends at most to a peer on path::direct.
std::int64_t sent_bytes(operation op, gemm_problem const& p, shards const& rows, elem type) {
  std::int64_t const lines = op == operation::gemm_all_reduce ? p.m : rows.largest();
  return bytes_of(dense(type, order::row_major, lines, p.n), lines, p.n);
}

/// Each rank receives the partial results of its rows, or of all rows, and adds them. Its GEMM has
/// written its own partial results.
exchange direct_exchange(gemm_slice const& sum, reduce_buffer const& b, shards const& rows,
                         bool all_rows, std::byte const* received, group::membership const& m) {
  gemm_problem const& p = sum.problem;
  int const rank = m.rank();
  exchange x;
  for (int r = 0; r < rows.ranks(); ++r) {
    range const of = all_rows ? range{0, p.m} : rows.of(r);
    std::byte const* const from =
        received + (all_rows ? b.slot(rank) : b.send + of.begin * b.partial.pitch_bytes());
    x.to.push_back(copy_of(b.partial, from, of.size, p.n, b.partial, 0, b.slot(rank)));
    if (r == rank) x.to.back().of.count = 0;
  }
  x.unit = add_partials_kernel::wide * size_bytes(b.partial.type);
  x.before = {rank_act::sum, all_rows ? range{0, p.m} : rows.of(rank)};
  if (computes_nothing(p)) return x;
  x.sum = sum_of(p, sum.operands, b, received, rows.ranks());
  if (!all_rows) {
    x.sum->own = x.to[static_cast<std::size_t>(rank)].from;
    x.sum->own_index = rank;
  }
  return x;
}

void run(operation op, group const& g, gemm_problem const& p, gemm_operands const& o,
         call_options const& how, bool& begins) {
  group::membership& m = g.state();
  shards const rows = rows_of(g, p, how);
  int const rank = g.rank(), ranks = g.ranks();
  range const own = rows.of(rank);
  path_choice const choice = choice_of_reduce(op, g, p, how, rows);
  path const via = choice.via;
  bool const by_nccl = choice.by_nccl;
  bool const all_rows = op == operation::gemm_all_reduce;
  elem const type = partial_type(p, how.float32_partials);
  gemm_problem const partial = partial_of(p, type);
  reduce_buffer const b = buffer_of(op, p, rows, type, via == path::direct);
  std::string const text = text_of(op, p, rows, type) + (by_nccl               ? ", by NCCL"
                                                         : via == path::direct ? ", direct"
                                                                               : "");
  gemm_problem result = p;
  if (!all_rows) result.m = own.size;
  check_accepted(partial);
  check_accepted(result);
  check_capacity(g, b.bytes, text);
  m.check_memory(addresses_of(p, o, p.m, result.m), how);
  if (ranks == 1 && m.on_gpu() && !p.reproducible) {
    planned_gemm const whole({p, o}, m, how);
    run_call(m, begins, text, how, beginning::alone, [&] { whole.run(m); });
    return;
  }

  std::byte* const received = m.next_buffer(rank);
  gemm_operands to_send;
  to_send.a = o.a, to_send.b = o.b;
  to_send.scale_a = o.scale_a, to_send.scale_b = o.scale_b;
  to_send.second_level_a = o.second_level_a, to_send.second_level_b = o.second_level_b;
  bool const in_slot = via == path::direct && all_rows;
  to_send.d = received + (in_slot ? b.slot(rank) : b.send);
  to_send.workspace = o.workspace, to_send.workspace_bytes = o.workspace_bytes;
  std::vector<reduce_step> const steps = reduce_steps(via, rows, rank);
  std::vector<planned_gemm> gemms;
  for (reduce_step const& step : steps) {
    gemm_slice s = slice_of(partial, to_send, extent::m, step.rows);
    if (!has_one_gemm(via) && step.sends_to.empty() && step.rows == own)
      s.operands.d = received + b.slot(rank);
    gemms.emplace_back(s, m, how);
  }
  gemm_slice const mine = all_rows ? slice_of(p, o, extent::m, own) : gemm_slice{result, o};
  if (!computes_nothing(mine.problem)) check_operands(mine.problem, mine.operands);

  if (by_nccl) {
    gemm_slice const sum = all_rows ? gemm_slice{p, o} : mine;
    run_call(m, begins, text, how, beginning::together, [&] {
      gemms[0].run(m);
      reduce_by_nccl(m, sum, b, rows, all_rows);
    });
    return;
  }
  if (via == path::direct) {
    gemm_slice const sum = all_rows ? gemm_slice{p, o} : mine;
    exchange x = direct_exchange(sum, b, rows, all_rows, received, m);
    x.most_bytes = sent_bytes(op, p, rows, type);
    run_call(m, begins, text, how, beginning::by_exchange, [&] {
      gemms[0].run(m);
      m.run(x);
    });
    return;
  }
  auto const send = [&](int to) {
    range const r = rows.of(to);
    placed_lines const c = copy_of(b.partial, received + b.send + r.begin * b.partial.pitch_bytes(),
                                   r.size, p.n, b.partial, 0, b.slot(rank));
    m.send(c.from, m.buffer(to) + c.offset, c.of);
  };
  std::vector<int> others;
  for (int i = 1; i < ranks; ++i) others.push_back(sender(ranks, rank, i));
  run_call(m, begins, text, how, beginning::alone, [&] {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      gemms[i].run(m);
      if (!steps[i].sends_to.empty()) m.results_are_there();
      for (int const to : steps[i].sends_to) {
        send(to);
        m.set(rank_flag::sent, to);
      }
    }
    if (via == path::serial) {
      placed_lines const c =
          copy_of(b.partial, received + b.send + own.begin * b.partial.pitch_bytes(), own.size, p.n,
                  b.partial, 0, b.slot(rank));
      m.copy(c.from, received + c.offset, c.of);
    }
    m.wait(rank_flag::sent, others, {rank_act::sum, own});
    if (!computes_nothing(mine.problem))
      m.add(sum_of(mine.problem, mine.operands, b, received, ranks));
    if (all_rows) exchange_results(m, p, o, mine, b, rows, others);
  });
}

}  // namespace

path_choice choice_of_reduce(operation op, group const& g, gemm_problem const& p,
                             call_options const& how, shards const& rows) {
  group::membership& m = g.state();
  if (p.scale_d)
    throw rejected({"TW0904", "scales of D with K split over ranks", "scales of D", "none",
                    "quantise D of type f32 after the call (tw::quantize)"});
  elem const type = partial_type(p, how.float32_partials);
  path_choice choice = path_of(m, p, how,
                               {sent_bytes(op, p, rows, type),
                                buffer_of(op, p, rows, type, true).bytes,
                                p.epilogue.gate != gating::none ? "a gate after the sum" : "",
                                {op, g.ranks(), type, p.m, p.n, ""},
                                [] {
                                  throw rejected({"TW0904", "path gated", "K split over the ranks",
                                                  "all-gather + GEMM, or another path", ""});
                                }});
  choice.by_nccl = m.nccl() != nullptr && choice.via == path::serial && g.ranks() > 1 &&
                   (!p.reproducible || !m.reaches_all());
  if (choice.by_nccl && p.reproducible) refuse_unreachable(m, "a reproducible sum");
  return choice;
}

std::int64_t bytes_of_reduce(operation op, gemm_problem const& p, shards const& rows, elem type,
                             std::optional<path> via) {
  bool const direct = via == path::direct && rows.ranks() > 1;
  std::int64_t const bytes = buffer_of(op, p, rows, type, direct).bytes;
  if (via || !is_small(sent_bytes(op, p, rows, type), rows.ranks())) return bytes;
  return std::max(bytes, buffer_of(op, p, rows, type, true).bytes);
}

void gemm_reduce_scatter(group const& g, gemm_problem const& p, gemm_operands const& o,
                         call_options const& how) {
  attempt_call(g, [&](bool& begins) { run(operation::gemm_reduce_scatter, g, p, o, how, begins); });
}
void gemm_all_reduce(group const& g, gemm_problem const& p, gemm_operands const& o,
                     call_options const& how) {
  attempt_call(g, [&](bool& begins) { run(operation::gemm_all_reduce, g, p, o, how, begins); });
}

}  // namespace tw::dist
