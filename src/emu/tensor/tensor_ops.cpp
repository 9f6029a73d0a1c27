// SPDX-License-Identifier: Apache-2.0
// tensor_ops.cpp  Multiplies, copies and commits of tcgen05: issue, and completion in the order of
//                 issue of each thread.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "emu/umma/umma_element.hpp"

namespace tw::emu {

namespace {

constexpr std::size_t most_at_once = 4;  // steps that are one multiply of larger K

[[noreturn]] void stop_at_operand(machine& m, thread const& t, std::string cause,
                                  std::string remedy, site where) {
  m.reports.stop("E0103", "umma-operand",
                 report_text({
                     .what = "The operands of a tcgen05.mma are not what the instruction can take.",
                     .now = fmt::format("umma at {} by {}", text_of(where), name_of(t)),
                     .cause = std::move(cause),
                     .remedy = std::move(remedy),
                 }),
                 where, {.by = &t});
}

/// Both multiply the same operands but for their places along K, into the same accumulator.
bool continues(umma_call const& x, umma_call const& y) {
  constexpr std::uint64_t start = 0x3FFF;
  return y.accumulate && x.block == 0 && x.kind == y.kind && x.ctas == y.ctas && x.d == y.d &&
         x.idesc == y.idesc && !x.a_in_tmem && !y.a_in_tmem && ((x.a ^ y.a) & ~start) == 0 &&
         ((x.b ^ y.b) & ~start) == 0;
}

}  // namespace

void tensor_unit::check_multiply(thread const& t, umma_call const& call, umma_shape const& shape,
                                 site where) {
  auto const bytes = static_cast<std::uint32_t>(m_.grid_.smem_bytes);
  std::optional<std::string> wrong;
  if (!call.a_in_tmem)
    wrong = check_umma_operand('A', call.a, shape.a_major, shape.a, shape.rows(), smem_base, bytes);
  if (!wrong)
    wrong = check_umma_operand('B', call.b, shape.b_major, shape.b, shape.columns_of_b(), smem_base,
                               bytes);
  if (wrong)
    stop_at_operand(
        m_, t, *wrong,
        "descriptors from make_umma_desc, or offsets as the canonical layouts have them", where);
  bool const half = shape.ctas == 1 && shape.m == 64;  // takes 16 of each 32 lanes
  auto const check_lane = [&](std::uint32_t address, char const* what) {
    std::uint32_t const lane = address >> 16;
    if (lane == 0 || (half && lane == 16)) return;
    m_.reports.stop(
        "E0105", "tmem-lanes",
        report_text({
            .what =
                fmt::format("{} of a tcgen05.mma begins at lane {} of tensor memory.", what, lane),
            .now = fmt::format("umma at {} by {}", text_of(where), name_of(t)),
            .cause = half ? "with M = 64 it begins at lane 0 or 16" : "it begins at lane 0",
            .remedy = "the address that tmem_alloc wrote, and columns added to it",
        }),
        where, {fmt::format("tensor memory of CTA {}", t.cta)});
  };
  check_lane(call.d, "The accumulator");
  if (call.a_in_tmem) check_lane(static_cast<std::uint32_t>(call.a), "A");
  for (int r = 0; r < call.ctas; ++r) {
    cta_state& c = t.block->cluster->ctas[static_cast<std::size_t>(
        call.ctas == 1 ? t.block->rank : t.block->even_rank() + r)];
    tmem_area const d = umma_accumulator(shape, call.d).front();
    check_columns(t, c, d.column, d.columns, "A multiply writes", where);
    if (!call.a_in_tmem) continue;
    tmem_area const a = umma_a_in_tmem(shape, static_cast<std::uint32_t>(call.a)).front();
    check_columns(t, c, a.column, a.columns, "A multiply reads", where);
  }
}

void tensor_unit::check_scales(thread const& t, umma_call const& call, umma_shape const& shape,
                               site where) {
  if (auto const wrong = check_factor_ids(shape))
    m_.reports.stop(
        "E0113", "scale-factors",
        report_text({
            .what = "The instruction descriptor names scale factors that the instruction cannot "
                    "take.",
            .now = fmt::format("umma_scaled at {} by {}", text_of(where), name_of(t)),
            .cause = *wrong,
            .remedy = "ids 0 to 3 in the four steps of mxf8f6f4, 0 and 2 with blocks of 32 of "
                      "4-bit elements, 0 with blocks of 16",
        }),
        where);
  for (int r = 0; r < call.ctas; ++r) {
    cta_state& c = t.block->cluster->ctas[static_cast<std::size_t>(
        call.ctas == 1 ? t.block->rank : t.block->even_rank() + r)];
    for (char const operand : {'A', 'B'}) {
      tmem_area const f = umma_scales(shape, operand, operand == 'A' ? call.sfa : call.sfb);
      check_first_lane(t, f, fmt::format("The scale factors of {}", operand), "umma_scaled", where);
      check_columns(t, c, f.column, f.columns, "A multiply reads scale factors in", where);
    }
  }
}

void tensor_unit::check_first_lane(thread const& t, tmem_area const& a, std::string const& what,
                                   char const* name, site where) {
  if (a.lane == 0) return;
  m_.reports.stop("E0105", "tmem-lanes",
                  report_text({
                      .what = fmt::format("{} begin at lane {} of tensor memory.", what, a.lane),
                      .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
                      .cause = "they are in all lanes and begin at lane 0",
                      .remedy = "the address that tmem_alloc wrote, and columns added to it",
                  }),
                  where, {fmt::format("tensor memory of CTA {}", t.cta)});
}

void tensor_unit::count_op(thread& t, site where) {
  if (!t.tensor_ops) t.tensor_ops = std::make_unique<tensor_thread>();
  ++t.tensor_ops->begun;
  t.tensor_ops->last_at = where;
}

void tensor_unit::copy(tmem_copy_call const& call, site where) {
  thread& t = *m_.sched.running();
  check_group(t, call.ctas, "tmem_copy", where);
  if (auto const wrong =
          check_copy_source(call, smem_base, static_cast<std::uint32_t>(m_.grid_.smem_bytes)))
    m_.reports.stop(
        "E0103", "umma-operand",
        report_text({
            .what = "The source of a tcgen05.cp is not what the instruction can take.",
            .now = fmt::format("tmem_copy at {} by {}", text_of(where), name_of(t)),
            .cause = *wrong,
            .remedy = "make_umma_desc(address, 16, 128, swizzle_mode::none): groups of 8 rows of "
                      "16 bytes, 128 bytes apart",
        }),
        where);
  tmem_area const to = copied_areas(call).front();
  check_first_lane(t, to, "The columns of a copy", "tmem_copy", where);
  for (int r = 0; r < call.ctas; ++r)
    check_columns(t,
                  t.block->cluster->ctas[static_cast<std::size_t>(
                      call.ctas == 1 ? t.block->rank : t.block->even_rank() + r)],
                  to.column, to.columns, "A copy writes", where);
  count_op(t, where);
  ++m_.counts_.tmem_copies;
  if (hazard::checker* check = t.block->cluster->check.get()) check->tmem_copied(t, call, where);
  m_.async.issue(t, {.multiply = {}, .copy = call, .where = where});
}

void tensor_unit::multiply(umma_call const& call, site where) {
  thread& t = *m_.sched.running();
  check_group(t, call.ctas, "umma", where);
  umma_shape shape;
  if (auto const wrong = decode_umma(call, shape))
    stop_at_operand(m_, t, *wrong, "umma_idesc from make_umma_idesc, whose atom has the shape",
                    where);
  check_multiply(t, call, shape, where);
  if (shape.block != 0) check_scales(t, call, shape, where);
  count_op(t, where);
  ++m_.counts_.ummas;
  if (hazard::checker* check = t.block->cluster->check.get())
    check->multiply(t, call, shape, where);
  if (m_.log_) m_.log_->multiply(t, shape, call);
  m_.async.issue(t, {.multiply = call, .where = where});
}

void tensor_unit::commit(void* bar, int ctas, std::uint32_t mask, bool multicast, site where) {
  thread& t = *m_.sched.running();
  cta_state& own = *t.block;
  check_group(t, ctas, "umma_commit", where);
  std::uint32_t const offset = m_.barrier.offset_of(own, bar, where);
  if (!multicast) mask = 1U << own.rank;
  if (mask == 0 || mask >> own.cluster->ctas.size() != 0)
    m_.reports.stop("E0007", "bad-cluster-rank",
                    report_text({
                        .what = fmt::format("The mask {:#x} of a commit names CTAs that a cluster "
                                            "of {} does not have.",
                                            mask, own.cluster->ctas.size()),
                        .now = fmt::format("commit at {} by {}", text_of(where), name_of(t)),
                        .cause = "bit r of the mask stands for rank r",
                        .remedy = "a mask of at least one bit, below 1 << cluster size",
                    }),
                    where);
  // With nothing issued before, the arrive comes at once: a tile whose K is 0.
  if (!t.tensor_ops) t.tensor_ops = std::make_unique<tensor_thread>();
  tensor_op op;
  op.where = where;
  op.until = t.tensor_ops->committed = t.tensor_ops->begun;
  hazard::checker* const check = own.cluster->check.get();
  for (cta_state& c : own.cluster->ctas) {
    if ((mask >> c.rank & 1U) == 0) continue;
    mbarrier_state& b = m_.barrier.at(c, c.smem + offset, where);
    if (check != nullptr) check->use(t, c, b, true, where);
    op.arrives.push_back({&c, &b});
  }
  if (check != nullptr) check->commit(t, op);
  if (m_.log_) op.traced_as = m_.log_->tensor_commit(t);
  m_.async.issue(t, std::move(op));
}

void async_engine::issue(thread& t, tensor_op op) {
  std::deque<tensor_op>& ops = t.tensor_ops->ops;
  ops.push_back(std::move(op));
  if (m_.options_.policy == async_policy::eager)
    m_.tensor.complete_soon(t);
  else if (ops.size() == 1)
    pending_tensor_.push_back(&t);
}

void tensor_unit::complete_soon(thread& t) {
  std::deque<tensor_op> const& ops = t.tensor_ops->ops;
  held_ = &t;
  bool const more_may_follow =
      ops.back().multiply && ops.size() < most_at_once &&
      (ops.size() == 1 || continues(*ops[ops.size() - 2].multiply, *ops.back().multiply));
  if (!more_may_follow) complete_held();
}

void tensor_unit::complete_held() {
  if (held_ == nullptr) return;
  thread& t = *std::exchange(held_, nullptr);
  while (!t.tensor_ops->ops.empty()) complete(t);
}

void tensor_unit::complete(thread& t) {
  m_.sched.progressed();
  if (t.tensor_ops->ops.front().multiply) {
    complete_multiplies(t);
    return;
  }
  if (t.tensor_ops->ops.front().copy) {
    complete_copy(t, *t.tensor_ops->ops.front().copy);
    t.tensor_ops->ops.pop_front();
    return;
  }
  tensor_op const op = std::move(t.tensor_ops->ops.front());
  t.tensor_ops->ops.pop_front();
  complete_commit(t, op);
}

void tensor_unit::complete_copy(thread& t, tmem_copy_call const& call) {
  int const first = call.ctas == 1 ? t.block->rank : t.block->even_rank();
  for (int r = first; r < first + call.ctas; ++r) {
    cta_state& c = t.block->cluster->ctas[static_cast<std::size_t>(r)];
    run_copy(memory_of(c), call, c.smem, smem_base);
  }
}

void tensor_unit::complete_multiplies(thread& t) {
  std::deque<tensor_op>& ops = t.tensor_ops->ops;
  umma_call const* calls[most_at_once];
  std::size_t count = 0;
  while (count < std::min(most_at_once, ops.size()) && ops[count].multiply &&
         (count == 0 || continues(*calls[count - 1], *ops[count].multiply))) {
    calls[count] = &*ops[count].multiply;
    ++count;
  }
  umma_shape shape;
  decode_umma(*calls[0], shape);
  cluster_state& cluster = *t.block->cluster;
  int const first = shape.ctas == 1 ? t.block->rank : t.block->even_rank();
  for (int r = first; r < first + shape.ctas; ++r) {
    cta_state& c = cluster.ctas[static_cast<std::size_t>(r)];
    check_padding(t, c, shape, *calls[0], ops.front().where);
    umma_memory const smem{c.smem,
                           {cluster.ctas[static_cast<std::size_t>(first)].smem,
                            cluster.ctas[static_cast<std::size_t>(first + shape.ctas - 1)].smem},
                           smem_base,
                           static_cast<std::uint32_t>(m_.grid_.smem_bytes)};
    run_umma(memory_of(c), shape, calls, static_cast<int>(count), smem,
             m_.options_.exact_sums ? sum_mode::exact : sum_mode::fast);
  }
  for (std::size_t i = 0; i < count; ++i) ops.pop_front();
  m_.async.multiplied(static_cast<double>(shape.m) * shape.n * shape.k *
                      static_cast<double>(count));
}

void tensor_unit::check_padding(thread const& t, cta_state& c, umma_shape const& shape,
                                umma_call const& call, site where) {
  int const bits = size_bits(shape.a);
  if (!call.a_in_tmem || bits >= 8 || shape.dense) return;
  tensor_memory& m = memory_of(c);
  for (tmem_area const& a : umma_a_in_tmem(shape, static_cast<std::uint32_t>(call.a)))
    for (int lane = a.lane; lane < a.lane + a.lanes; ++lane)
      for (int column = a.column; column < a.column + a.columns; ++column) {
        std::uint32_t const word = m.at(lane, column);
        if ((word & padding_in_tmem(bits)) == 0) continue;
        int const lowest = lowest_bit_in_tmem(bits);
        m_.reports.report(
            {"E0114",
             "narrow-operand",
             report_text({
                 .what = fmt::format("tcgen05.mma reads A of {} in bytes of tensor memory, whose "
                                     "other bits are not zero.",
                                     name(shape.a)),
                 .now = fmt::format("umma at {} by {}: {:#010x} in lane {}, column {}",
                                    text_of(where), name_of(t), word, lane, column),
                 .cause = fmt::format("an element has bits {} to {} of a byte; no source says how "
                                      "the tensor core takes the others",
                                      lowest, lowest + bits - 1),
                 .remedy = "tmem_copy with tmem_unpack, or the element shifted to its bits",
             }),
             where,
             {},
             fmt::format("tensor memory of CTA {}", c.threads.front().cta)});
        return;
      }
}

void tensor_unit::complete_commit(thread& t, tensor_op const& op) {
  for (tensor_op::arrive const& a : op.arrives) {
    mbarrier_state& b = *a.at;
    m_.reports.landing = true;  // stays so if a report ends the run
    if (b.pending == 0)
      m_.reports.stop(
          "E0003", "mbarrier-too-many-arrivals",
          report_text({
              .what = fmt::format("{} gets an arrival too many in phase {}.",
                                  object_name(m_.grid_, *a.cta, b.offset), b.phase),
              .now = fmt::format("umma_commit at {} by {}", text_of(op.where), name_of(t)),
              .barrier = barrier_text(m_.grid_, *a.cta, b),
              .cause = fmt::format("init() announced {}; each commit is one of them", b.count),
              .remedy = "a wait before this commit, if it is one of the next phase; else a larger "
                        "count in init()",
          }),
          op.where, {object_name(m_.grid_, *a.cta, b.offset), b.phase, b.made_at, &t});
    ++m_.counts_.arrives;
    if (hazard::checker* check = a.cta->cluster->check.get()) check->committed(t, op, b);
    if (m_.log_) m_.log_->committed(op.traced_as, *a.cta, b);
    barriers::arrives(t, b);
    --b.pending;
    m_.barrier.complete_if_done(*a.cta, b);
    m_.reports.landing = false;
  }
}

void tensor_unit::check_committed(thread const& t) {
  if (!t.tensor_ops || t.tensor_ops->begun == t.tensor_ops->committed) return;
  m_.reports.stop(
      "E0111", "commit-nothing",
      report_text({
          .what = "A thread ends with multiplies that it never committed.",
          .now = "end of " + name_of(t),
          .earlier = "last umma at " + text_of(t.tensor_ops->last_at),
          .cause = "no barrier shows that they are complete: their sums may be read too "
                   "early, and their operands overwritten",
          .remedy = "umma_commit() after the last multiply, to a barrier that those who "
                    "read the accumulator wait for",
      }),
      t.tensor_ops->last_at);
}

void umma(umma_call const& call, site where) {
  engine_call const inside;
  machine::current().tensor.multiply(call, where);
}
void tmem_copy(tmem_copy_call const& call, site where) {
  engine_call const inside;
  machine::current().tensor.copy(call, where);
}
void umma_commit(void* bar, int ctas, std::uint32_t mask, bool multicast, site where) {
  engine_call const inside;
  machine::current().tensor.commit(bar, ctas, mask, multicast, where);
}

}  // namespace tw::emu
