// SPDX-License-Identifier: Apache-2.0
// warp.cpp  stmatrix and ldmatrix: one instruction of 32 threads. A store is carried out when the
//           32nd lane has brought its part; a load returns only then.
#include <fmt/format.h>

#include "emu/fragment.hpp"
#include "emu/machine.hpp"
#include "emu/words.hpp"

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
  thread& t = *m.running();
  if (op.count != count || op.transposed != transposed)
    m.stop("E0021", "warp-diverged",
           told({
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
  std::uint32_t const offset = m.offset_in_smem(*t.block, row, 16, where);
  if (offset % 16 != 0)
    m.stop("E0022", "matrix-row-alignment",
           told({
               .what = fmt::format("A row of {} is not aligned to 16 bytes.", name),
               .now = fmt::format("{} at {} by {}: its row is at {}", name, text_of(where),
                                  name_of(t), object_name(m.grid_, *t.block, offset)),
               .cause = fmt::format("the row begins at byte {} of shared memory", offset),
               .remedy = "rows of 8 elements at multiples of 16 bytes: a pitch that is one, and "
                         "alignas(16)",
           }),
           where, {object_name(m.grid_, *t.block, offset)});
}

}  // namespace

void machine::matrix_store(void* row, std::uint32_t const* regs, int count, bool transposed,
                           site where) {
  thread& t = *running_;
  warp_state& w = warps_[static_cast<std::size_t>(t.warp_index)];
  auto& op = op_at(w.stores, t.matrix_stores++ - w.stores_base, count, transposed, where);
  int const lane = t.id % 32;
  check(*this, op, count, transposed, row, lane < 8 * count, "stmatrix", where);
  op.row[lane] = static_cast<std::byte*>(row);
  if (hazard::checker* check = t.block->cluster->check.get(); check != nullptr && lane < 8 * count)
    check->matrix_row(t, offset_in_smem(*t.block, row, 16, where), true, where);
  if (log_ && lane < 8 * count)
    log_->smem_access(t, act::matrix_store, offset_in_smem(*t.block, row, 16, where));
  for (int i = 0; i < count; ++i) op.regs[lane][i] = regs[i];
  if (++op.arrived < w.threads) return;
  ++progress_;
  ++counts_.matrix_stores;
  if (banks_) banks_->matrix(t, op, true, where);
  stmatrix_warp(op.count, op.transposed, op.row, op.regs);
  w.stores.pop_front();
  ++w.stores_base;
}

void machine::matrix_load(void const* row, std::uint32_t* regs, int count, bool transposed,
                          site where) {
  thread& t = *running_;
  warp_state& w = warps_[static_cast<std::size_t>(t.warp_index)];
  std::uint32_t const k = t.matrix_loads++;
  int const lane = t.id % 32;
  auto* op = &op_at(w.loads, k - w.loads_base, count, transposed, where);
  check(*this, *op, count, transposed, row, lane < 8 * count, "ldmatrix", where);
  op->row[lane] = static_cast<std::byte*>(const_cast<void*>(row));
  if (hazard::checker* check = t.block->cluster->check.get(); check != nullptr && lane < 8 * count)
    check->matrix_row(t, offset_in_smem(*t.block, row, 16, where), false, where);
  if (log_ && lane < 8 * count)
    log_->smem_access(t, act::matrix_load, offset_in_smem(*t.block, row, 16, where));
  if (++op->arrived == w.threads) {
    ++counts_.matrix_loads;
    if (banks_) banks_->matrix(t, *op, false, where);
    ldmatrix_warp(op->count, op->transposed, op->row, op->regs);
    wake_all(w.load_waiters);
  } else {
    w.load_waiters.push_back(&t);
    block(wait_kind::ldmatrix, &w, k, where);
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
  machine::current().matrix_store(row, regs, count, transposed, where);
}

void ldmatrix(void const* row, std::uint32_t* regs, int count, bool transposed, site where) {
  engine_call const inside;
  machine::current().matrix_load(row, regs, count, transposed, where);
}

}  // namespace tw::emu
