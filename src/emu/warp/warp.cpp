// SPDX-License-Identifier: Apache-2.0
// warp.cpp  stmatrix and ldmatrix: one instruction of 32 threads. A store is carried out when the
//           32nd lane has brought its part; a load returns only then.
#include <fmt/format.h>

#include "emu/elements/fragment.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

/// The warp's k-th operation of a kind, made by the first lane that comes.
warp_state::matrix_op& op_at(std::deque<warp_state::matrix_op>& ops, std::uint32_t k, int count,
                             bool transposed, site where) {
  if (k == ops.size()) {
    ops.emplace_back();
    ops.back().count = count;
    ops.back().transposed = transposed;
    ops.back().where = where;
  }
  return ops[k];
}

void check(machine& m, warp_state::matrix_op const& op, int count, bool transposed, void const* row,
           bool names_row, char const* name, site where) {
  thread& t = *m.sched.running();
  if (op.count != count || op.transposed != transposed)
    m.reports.stop(
        "E0021", "warp-diverged",
        report_text({
            .what = fmt::format("The lanes of a warp give {} of different shapes.", name),
            .now = fmt::format("x{}{} at {} by lane {} of {}", count,
                               transposed ? ", transposed," : "", text_of(where), t.id % 32,
                               name_of(t)),
            .earlier = fmt::format("x{}{} at {} by the first lane that came", op.count,
                                   op.transposed ? ", transposed," : "", text_of(op.where)),
            .cause = "it is one instruction of 32 lanes",
            .remedy = "no branch between the lanes of a warp around it",
        }),
        where, {.earlier = op.where});
  if (!names_row) return;
  std::uint32_t const offset = m.memory.offset_in_smem(*t.block, row, 16, where);
  if (offset % 16 != 0)
    m.reports.stop(
        "E0022", "matrix-row-alignment",
        report_text({
            .what = fmt::format("A row of {} is not aligned to 16 bytes.", name),
            .now = fmt::format("{} at {} by {}: its row is at {}", name, text_of(where), name_of(t),
                               object_name(m.grid_, *t.block, offset)),
            .cause = fmt::format("the row begins at byte {} of shared memory", offset),
            .remedy = "rows of 8 elements at multiples of 16 bytes: such a leading dimension, and "
                      "alignas(16)",
        }),
        where, {object_name(m.grid_, *t.block, offset)});
}

}  // namespace

void warp_unit::matrix_store(void* row, std::uint32_t const* regs, int count, bool transposed,
                             site where) {
  thread& t = *m_.sched.running();
  warp_state& w = m_.sched.warp_of(t);
  auto& op = op_at(w.stores, t.matrix_stores++ - w.stores_base, count, transposed, where);
  int const lane = t.id % 32;
  check(m_, op, count, transposed, row, lane < 8 * count, "stmatrix", where);
  op.row[lane] = static_cast<std::byte*>(row);
  if (hazard::checker* check = t.block->cluster->check.get(); check != nullptr && lane < 8 * count)
    check->matrix_row(t, m_.memory.offset_in_smem(*t.block, row, 16, where), true, where);
  if (m_.log_ && lane < 8 * count)
    m_.log_->access(t, act::matrix_store, m_.memory.offset_in_smem(*t.block, row, 16, where));
  for (int i = 0; i < count; ++i) op.regs[lane][i] = regs[i];
  if (++op.arrived < w.threads) return;
  m_.sched.progressed();
  ++m_.counts_.matrix_stores;
  if (m_.banks_) m_.banks_->matrix(t, op, true, where);
  stmatrix_warp(op.count, op.transposed, op.row, op.regs);
  w.stores.pop_front();
  ++w.stores_base;
}

void warp_unit::matrix_load(void const* row, std::uint32_t* regs, int count, bool transposed,
                            site where) {
  thread& t = *m_.sched.running();
  warp_state& w = m_.sched.warp_of(t);
  std::uint32_t const k = t.matrix_loads++;
  int const lane = t.id % 32;
  auto* op = &op_at(w.loads, k - w.loads_base, count, transposed, where);
  check(m_, *op, count, transposed, row, lane < 8 * count, "ldmatrix", where);
  op->row[lane] = static_cast<std::byte*>(const_cast<void*>(row));
  if (hazard::checker* check = t.block->cluster->check.get(); check != nullptr && lane < 8 * count)
    check->matrix_row(t, m_.memory.offset_in_smem(*t.block, row, 16, where), false, where);
  if (m_.log_ && lane < 8 * count)
    m_.log_->access(t, act::matrix_load, m_.memory.offset_in_smem(*t.block, row, 16, where));
  if (++op->arrived == w.threads) {
    ++m_.counts_.matrix_loads;
    if (m_.banks_) m_.banks_->matrix(t, *op, false, where);
    if (hazard::checker* check = t.block->cluster->check.get()) {
      std::uint32_t rows[32];
      for (int i = 0; i < 8 * count; ++i)
        rows[i] = m_.memory.offset_in_smem(*t.block, op->row[i], 16, where);
      check->matrices_loaded(t, rows, count, where);
    }
    ldmatrix_warp(op->count, op->transposed, op->row, op->regs);
    m_.sched.wake_all(w.load_waiters);
  } else {
    w.load_waiters.push_back(&t);
    m_.sched.block(wait_kind::ldmatrix, &w, k, where);
    op = &w.loads[k - w.loads_base];
  }
  for (int i = 0; i < count; ++i) regs[i] = op->regs[lane][i];
  if (++op->taken == w.threads) {
    w.loads.pop_front();
    ++w.loads_base;
  }
}

void stmatrix(void* row, std::uint32_t const* regs, int count, bool transposed, site where) {
  engine_call const inside;
  machine::current().warp.matrix_store(row, regs, count, transposed, where);
}

void ldmatrix(void const* row, std::uint32_t* regs, int count, bool transposed, site where) {
  engine_call const inside;
  machine::current().warp.matrix_load(row, regs, count, transposed, where);
}

}  // namespace tw::emu
