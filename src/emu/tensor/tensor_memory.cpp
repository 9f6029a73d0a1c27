// SPDX-License-Identifier: Apache-2.0
// tensor_memory.cpp  Instructions of a whole warp on tensor memory: the last lane to reach one
//                    executes it for all.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

tensor_memory& tensor_unit::memory_of(cta_state& c) {
  if (!c.tensor) {
    c.tensor = std::make_unique<tensor_memory>();
    std::memset(c.tensor->word, 0xFF, sizeof c.tensor->word);
  }
  return *c.tensor;
}

bool tensor_unit::meet(thread& t, char const* name, operands const& o, std::uint32_t* regs,
                       site where) {
  warp_state& w = m_.sched.warp_of(t);
  tensor_step& s = w.tensor.step;
  if (s.arrived == 0) {
    s.name = name;
    std::copy(o.begin(), o.end(), s.operands);
    s.where = where;
  } else if (std::strcmp(s.name, name) != 0) {
    m_.reports.stop("E0021", "warp-diverged",
                    report_text({
                        .what = "The lanes of a warp give different instructions of the warp.",
                        .now = fmt::format("{} at {} by lane {} of {}", name, text_of(where),
                                           t.id % 32, name_of(t)),
                        .earlier = fmt::format("{} at {} by the first lane that came", s.name,
                                               text_of(s.where)),
                        .cause = "it is one instruction, which waits for all lanes of the warp",
                        .remedy = "no branch between the lanes of a warp around it",
                    }),
                    where, {.earlier = s.where});
  } else if (!std::equal(o.begin(), o.end(), s.operands)) {
    m_.reports.stop(
        "E0105", "tmem-lanes",
        report_text({
            .what = fmt::format("The lanes of a warp give {} different operands.", name),
            .now = fmt::format("{} of {:#x} at {} by lane {} of {}", name, o[0], text_of(where),
                               t.id % 32, name_of(t)),
            .earlier = fmt::format("{} of {:#x} at {} by the first lane that came", s.name,
                                   s.operands[0], text_of(s.where)),
            .cause = "it is one instruction of the warp, with one address: each lane has its place "
                     "by the shape",
            .remedy = "an address that all lanes share: the warp's first lane of tensor memory",
        }),
        where, {.earlier = s.where});
  }
  s.regs[t.id % 32] = regs;
  if (++s.arrived == w.threads) return true;
  s.waiters.push_back(&t);
  m_.sched.block(wait_kind::tensor_step, &s, 0, where);
  return false;
}

void tensor_unit::part(thread& t) {
  tensor_step& s = m_.sched.warp_of(t).tensor.step;
  s.arrived = 0;
  m_.sched.wake_all(s.waiters);
}

void tensor_unit::check_group(thread const& t, int ctas, char const* name, site where) {
  // All allocations of a kernel have one cta_group, and the first of them stands for it.
  tensor_memory const* const own = t.block->tensor.get();
  if (own != nullptr && own->last && own->last->ctas != ctas)
    m_.reports.stop(
        "E0108", "cta-group-mixed",
        report_text({
            .what = fmt::format("{} is given for {} in a kernel whose tensor memory was allocated "
                                "for {}.",
                                name, ctas == 2 ? "a CTA pair" : "one CTA",
                                own->last->ctas == 2 ? "a CTA pair" : "one CTA"),
            .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
            .earlier = fmt::format("tmem_alloc at {}", text_of(own->last->where)),
            .cause = "all tcgen05 instructions of a kernel have the same cta_group",
            .remedy = "one number of CTAs, 1 or 2, in all of them",
        }),
        where, {.earlier = own->last->where});
  if (ctas == 2 && t.block->cluster->ctas.size() % 2 != 0)
    m_.reports.stop(
        "E0108", "cta-group-mixed",
        report_text({
            .what = fmt::format("{} is given for a CTA pair in a cluster of {} CTAs.", name,
                                t.block->cluster->ctas.size()),
            .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
            .cause = "a pair is two CTAs of a cluster, whose ranks differ in the last bit alone",
            .remedy = "clusters of an even number of CTAs",
        }),
        where);
}

void tensor_unit::move(tmem_form const& f, std::uint32_t address, std::uint32_t* regs, bool store,
                       site where) {
  complete_held();
  thread& t = *m_.sched.running();
  char const* const name = store ? "tmem_store" : "tmem_load";
  std::uint64_t const form = static_cast<std::uint64_t>(f.shape) << 32 |
                             static_cast<std::uint64_t>(f.count) << 8 | (f.packed ? 1U : 0U);
  if (!meet(t, name, {address, form, static_cast<std::uint64_t>(f.split)}, regs, where)) return;
  cta_state& c = *t.block;
  warp_state& w = m_.sched.warp_of(t);
  int const lane = static_cast<int>(address >> 16);
  int const column = static_cast<int>(address & 0xFFFF);
  bool const whole = f.shape == tmem_shape::l32x32b;
  int const quarter = t.id / 32 % 4 * 32;
  if (lane < quarter || lane >= quarter + 32 || lane % (whole ? 32 : 16) != 0)
    m_.reports.stop(
        "E0105", "tmem-lanes",
        report_text({
            .what = lane < quarter || lane >= quarter + 32
                        ? fmt::format("A warp accesses lane {} of tensor memory, which belongs to "
                                      "another warp.",
                                      lane)
                        : fmt::format("A {} of tensor memory begins at lane {}.",
                                      store ? "store" : "load", lane),
            .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
            .cause =
                fmt::format("warp {} reaches lanes {}-{}, {}", t.id / 32, quarter, quarter + 31,
                            whole ? "and this shape takes all of them"
                                  : "and this shape begins at the first or the 17th of them"),
            .remedy = "tmem_at(address, 32 * (warp_id() % 4), column)",
        }),
        where, {fmt::format("tensor memory of CTA {}", t.cta)});
  int const registers = tmem_registers(f.shape, f.count);
  int const packing = f.packed ? 2 : 1;
  int const bits = f.shape == tmem_shape::l16x64b    ? 2
                   : f.shape == tmem_shape::l16x128b ? 4
                   : f.shape == tmem_shape::l16x256b ? 8
                                                     : 1;
  int const columns = f.count * bits * packing;
  bool const two_parts = f.shape == tmem_shape::l16x32bx2;
  for (int p = 0; p < (two_parts ? 2 : 1); ++p) {
    int const first = column + p * f.split;
    check_columns(t, c, first, columns, store ? "A store writes" : "A load reads", where);
    if (hazard::checker* check = c.cluster->check.get()) {
      // The lanes of the second part of l16x32bx2 are the same ones.
      check->tmem_moved(t, c, {lane, whole ? 32 : 16, first, columns}, store,
                        (store ? w.tensor.stores : w.tensor.loads) + 1, where);
    }
  }
  ++(store ? w.tensor.stores : w.tensor.loads);
  ++(store ? m_.counts_.tmem_stores : m_.counts_.tmem_loads);
  tensor_memory& m = memory_of(c);
  if (whole && !f.packed) {  // register i of lane l is lane l of column i
    for (int i = 0; i < registers; ++i) {
      std::uint32_t* const lanes = &m.at(lane, column + i);
      for (int l = 0; l < 32; ++l) {
        std::uint32_t& r = w.tensor.step.regs[l][i];
        (store ? lanes[l] : r) = store ? r : lanes[l];
      }
    }
    part(t);
    return;
  }
  for (int l = 0; l < 32; ++l) {
    std::uint32_t* const r = w.tensor.step.regs[l];
    for (int i = 0; i < registers; ++i) {
      tmem_cell const at = tmem_cell_of(f.shape, l, i, 0);
      int const from = column + at.column * packing + (two_parts && l >= 16 ? f.split : 0);
      if (!f.packed) {
        std::uint32_t& word = m.at(lane + at.lane, from);
        (store ? word : r[i]) = store ? r[i] : word;
        continue;
      }
      std::uint32_t& low = m.at(lane + at.lane, from);
      std::uint32_t& high = m.at(lane + at.lane, from + 1);
      if (store) {
        low = r[i] & 0xFFFF;
        high = r[i] >> 16;
      } else {
        r[i] = (low & 0xFFFF) | high << 16;
      }
    }
  }
  part(t);
}

void tensor_unit::wait(bool store, site where) {
  thread& t = *m_.sched.running();
  // Each lane waits for the warp's operations before; all lanes come to it.
  if (hazard::checker* check = t.block->cluster->check.get()) {
    tensor_warp const& w = m_.sched.warp_of(t).tensor;
    check->tmem_waited(t, store, store ? w.stores : w.loads);
  }
  if (meet(t, store ? "tmem_wait_store" : "tmem_wait_load", {}, nullptr, where)) part(t);
}

void tmem_load(tmem_form const& f, std::uint32_t address, std::uint32_t* regs, site where) {
  engine_call const inside;
  machine::current().tensor.move(f, address, regs, false, where);
}
void tmem_store(tmem_form const& f, std::uint32_t address, std::uint32_t const* regs, site where) {
  engine_call const inside;
  machine::current().tensor.move(f, address, const_cast<std::uint32_t*>(regs), true, where);
}
void tmem_wait_load(site where) {
  engine_call const inside;
  machine::current().tensor.wait(false, where);
}
void tmem_wait_store(site where) {
  engine_call const inside;
  machine::current().tensor.wait(true, where);
}
void tcgen05_fence_before(site) {
  engine_call const inside;
  thread& t = *machine::current().sched.running();
  if (hazard::checker* check = t.block->cluster->check.get()) check->tensor_fence(t, true);
}
void tcgen05_fence_after(site) {
  engine_call const inside;
  thread& t = *machine::current().sched.running();
  if (hazard::checker* check = t.block->cluster->check.get()) check->tensor_fence(t, false);
}

}  // namespace tw::emu
