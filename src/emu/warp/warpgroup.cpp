// SPDX-License-Identifier: Apache-2.0
// warpgroup.cpp  The wgmma engine. A collective does not synchronise: each thread records its k-th
//                call and runs on; a group is issued when all 128 threads have committed it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "emu/wgmma/product.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

bool same_call(wgmma_call const& x, wgmma_call const& y) {
  return x.d == y.d && x.a.bits == y.a.bits && x.b.bits == y.b.bits &&
         x.accumulate == y.accumulate && x.form == y.form && x.a_in_registers == y.a_in_registers;
}

[[noreturn]] void diverged(std::string const& what, site first, site where) {
  machine::current().reports.stop(
      "E0009", "wgmma-diverged",
      report_text({
          .what = fmt::format("The threads of warpgroup {} of CTA {} do not agree on {}.",
                              current_thread().id / 128, current_thread().cta, what),
          .now = fmt::format("{} by {}", text_of(where), name_of(current_thread())),
          .earlier =
              fmt::format("{} by the first thread of the warpgroup that came", text_of(first)),
          .cause = "wgmma is one instruction of 128 threads: one pair of descriptors, one "
                   "accumulator, one sequence of groups",
          .remedy = "descriptors and flags from values that all 128 threads share",
      }),
      where, {.earlier = first});
}

}  // namespace

accumulator_storage accumulator_open(elem sums, int n, site) {
  engine_call const inside;
  thread& t = current_thread();
  auto& tiles = t.group->tiles;
  auto const k = static_cast<std::size_t>(t.open_accumulators++);
  while (tiles.size() <= k)
    tiles.push_back(std::make_unique_for_overwrite<warpgroup_state::tile>());
  accumulator_state& mine = tiles[k]->of_thread[t.id % 128];
  mine = {};
  // Its registers hold anything: NaNs, or the smallest integer, which show in the result. Rows and
  // columns as in arch/emu/wgmma.hpp; words of two f16 are separate columns.
  int const u = t.id % 128;
  bool const pairs = holds_half_sums(sums);
  std::uint32_t const anything = pairs                      ? 0x7FFF7FFFU
                                 : holds_integer_sums(sums) ? 0x80000000U
                                                            : 0x7FC00000U;
  std::byte* const own =
      tiles[k]->value + 4 * (16 * (u / 32) + u % 32 / 4 + 64 * (pairs ? u & 3 : 2 * (u & 3)));
  for (int i = 0; i < n / (pairs ? 4 : 2); ++i) {
    int const column = pairs ? 4 * (i >> 1) : 8 * (i >> 2) + (i & 1);
    int const row = 8 * (pairs ? i & 1 : i >> 1 & 1);
    std::memcpy(own + 4 * (64 * column + row), &anything, 4);
  }
  return {tiles[k]->value, &mine};
}

void accumulator_close() {
  engine_call const inside;
  --current_thread().open_accumulators;
}

void wgmma_fence(accumulator_state& a, site) {
  engine_call const inside;
  a.touched = false;
}

void accumulator_misused(accumulator_state const& a, int element, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread const& t = current_thread();
  if (!m.options_.hazards) return;
  bool const committed = a.busy_group <= t.wgmma_groups;
  std::string const known =
      t.wgmma_known_done == 0 ? "none" : fmt::format("those up to {}", t.wgmma_known_done - 1);
  m.reports.report(
      {"E0030", "accumulator-read-before-wait",
       report_text({
           .what = fmt::format("Element {} of an accumulator of {} is used while a wgmma may "
                               "still be writing it.",
                               element, warpgroup_name(t)),
           .now = fmt::format("use at {} by {}", text_of(where), name_of(t)),
           .earlier = fmt::format("wgmma at {}, in {} of warpgroup {}", text_of(a.busy_at),
                                  committed ? fmt::format("group {}", a.busy_group - 1)
                                            : std::string("no committed group"),
                                  t.id / 128),
           .missing = committed ? fmt::format("a wait for that group; it has waited for {}", known)
                                : std::string("wgmma_commit() after that wgmma"),
           .cause = committed ? "the registers belong to wgmma until the wait"
                              : "a wait counts committed groups alone: the registers belong to "
                                "wgmma until its group is committed and waited for",
           .remedy = committed ? "wgmma_wait<0>() before the accumulator is used"
                               : "wgmma_commit() after the last wgmma of the group, then "
                                 "wgmma_wait<0>()",
       }),
       where, a.busy_at, fmt::format("accumulator of warpgroup {}", t.id / 128)});
}

namespace {

/// E0054: wgmma adds to registers that hold nothing.
void check_defined(machine& m, thread const& t, wgmma_call const& call, site where) {
  accumulator_state const& a = *call.registers;
  bool const set = a.touched_at.line != 0 || a.busy_group != 0;
  if (!call.accumulate || set || !m.options_.hazards) return;
  m.reports.report({"E0054",
                    "accumulator-not-initialised",
                    report_text({
                        .what = fmt::format("wgmma adds to an accumulator of {} that was never "
                                            "set.",
                                            warpgroup_name(t)),
                        .now = fmt::format("wgmma at {} by {}", text_of(where), name_of(t)),
                        .cause = "registers hold anything when an accumulator begins to live",
                        .remedy = "accumulate = false in the first wgmma of a tile, or zeros in "
                                  "all elements before it",
                    }),
                    where,
                    {},
                    fmt::format("accumulator of warpgroup {}", t.id / 128)});
}

}  // namespace

void wgmma_record(wgmma_call const& call, std::uint32_t const* a_regs, bool watched, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  warpgroup_state& w = *t.group;
  check_defined(m, t, call, where);
  t.wgmma_site = where;
  if (call.registers->touched && m.options_.hazards) {
    site const touched_at = call.registers->touched_at;
    m.reports.report(
        {"E0031", "missing-wgmma-fence",
         report_text({
             .what = touched_at.line != 0
                         ? "wgmma uses accumulator registers that were touched since the last "
                           "wgmma_fence."
                         : "wgmma uses accumulator registers that no wgmma_fence has made "
                           "ready.",
             .now = fmt::format("wgmma at {} by {}", text_of(where), name_of(t)),
             .earlier =
                 touched_at.line != 0 ? fmt::format("touched at {}", text_of(touched_at)) : "",
             .cause = "the multiply may overtake what ordinary instructions did to its "
                      "registers",
             .remedy = "wgmma_fence(accumulator) before the first wgmma of a group",
         }),
         where, touched_at, fmt::format("accumulator of warpgroup {}", t.id / 128)});
  }
  call.registers->touched = false;
  call.registers->busy_group = t.wgmma_groups + 1;
  call.registers->busy_at = where;
  std::size_t const k = t.wgmma_steps++ - w.steps_base;
  if (k == w.steps.size()) {
    warpgroup_state::step s{call, 0, where, nullptr, {}};
    if (call.a_in_registers) s.a_regs = std::make_unique<std::uint32_t[]>(128 * 4);
    w.steps.push_back(std::move(s));
  }
  warpgroup_state::step& s = w.steps[k];
  if (s.arrived != 0 && !same_call(s.call, call)) diverged("a wgmma", s.where, where);
  if (call.a_in_registers)
    std::copy_n(a_regs, 4, s.a_regs.get() + static_cast<std::size_t>(t.id % 128) * 4);
  if (watched && m.options_.hazards)
    t.fragments.push_back(
        {a_regs, {a_regs[0], a_regs[1], a_regs[2], a_regs[3]}, t.wgmma_groups + 1, where, {}});
  ++s.arrived;
  if (t.block->cluster->check) t.block->cluster->check->view_of(t, s.views);
}

void wgmma_commit(site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  warpgroup_state& w = *t.group;
  t.commit_site = where;
  t.wgmma_committed_steps = t.wgmma_steps;
  std::size_t const g = t.wgmma_groups++ - w.groups_base;
  if (g == w.groups.size()) w.groups.push_back({t.wgmma_steps, 0, where});
  warpgroup_state::group& group = w.groups[g];
  if (group.last_step != t.wgmma_steps)
    diverged("the number of wgmma in a group", group.where, where);
  if (m.log_) m.log_->commit(t, t.wgmma_groups - 1);
  if (++group.arrived == 128) m.async.issue_group(w);
}

namespace {

[[noreturn]] void stop_at_operands(machine& m, warpgroup_state const& w, std::string cause,
                                   site where) {
  thread const& by = w.block->threads[static_cast<std::size_t>(128 * w.index)];
  m.reports.stop(
      "E0020", "wgmma-operand",
      report_text({
          .what = "The descriptors of a wgmma do not describe operands in shared memory.",
          .now = fmt::format("wgmma at {} by {}", text_of(where), warpgroup_name(by)),
          .cause = std::move(cause),
          .remedy = "descriptors from operand_tile::desc, or offsets as the canonical layouts "
                    "have them",
      }),
      where, {.by = &by});
}

}  // namespace

void async_engine::issue_group(warpgroup_state& w) {
  hazard::checker* const check = w.block->cluster->check.get();
  if (check != nullptr || m_.log_ != nullptr) {
    std::uint32_t first = 0;  // steps of groups that have been issued but are not complete
    for (std::uint32_t g = w.groups_base; g < w.groups_issued; ++g)
      first = w.groups[g - w.groups_base].last_step - w.steps_base;
    std::uint32_t const last = w.groups[w.groups_issued - w.groups_base].last_step - w.steps_base;
    if (m_.log_) m_.log_->issued(w, w.groups_issued, first, last);
    for (std::uint32_t i = first; i < last && check != nullptr; ++i) {
      wgmma_call const& call = w.steps[i].call;
      wgmma_step_data const step{call.a_in_registers, w.steps[i].a_regs.get(), call.a, call.b,
                                 call.accumulate};
      if (auto wrong = check_wgmma_group(call.form, &step, 1, smem_base,
                                         static_cast<std::uint32_t>(m_.grid_.smem_bytes)))
        stop_at_operands(m_, w, *std::move(wrong), w.steps[i].where);
      check->multiply(w, w.steps[i].call, w.steps[i].views, w.groups_issued, w.steps[i].where);
    }
  }
  ++w.groups_issued;
  if (m_.options_.policy == async_policy::eager)
    complete_group(w);
  else
    pending_groups_.push_back(&w);
}

void async_engine::complete_group(warpgroup_state& w) {
  m_.sched.progressed();
  ++m_.counts_.wgmma_groups;
  warpgroup_state::group const group = w.groups.front();
  std::vector<wgmma_step_data> run;
  auto const smem_bytes = static_cast<std::uint32_t>(m_.grid_.smem_bytes);
  double macs = 0;
  while (w.steps_base != group.last_step) {
    warpgroup_state::step const& first = w.steps.front();
    wgmma_form const form = first.call.form;
    void* const d = first.call.d;
    site const where = first.where;
    run.clear();
    std::size_t taken = 0;
    while (w.steps_base + taken != group.last_step) {
      warpgroup_state::step const& s = w.steps[taken];
      if (s.call.d != d || s.call.form != form) break;
      run.push_back({s.call.a_in_registers, s.a_regs.get(), s.call.a, s.call.b, s.call.accumulate});
      ++taken;
    }
    std::optional<std::string> const error =
        run_wgmma_group(d, form, run.data(), static_cast<int>(taken), w.block->smem, smem_base,
                        smem_bytes, m_.options_.exact_sums ? sum_mode::exact : sum_mode::fast);
    if (error) stop_at_operands(m_, w, *error, where);
    m_.counts_.wgmmas += static_cast<std::int64_t>(taken);
    macs += 64.0 * form.k() * form.n * static_cast<double>(taken);
    for (std::size_t i = 0; i < taken; ++i) w.steps.pop_front();
    w.steps_base += static_cast<std::uint32_t>(taken);
  }
  w.groups.pop_front();
  ++w.groups_base;
  ++w.groups_done;
  if (*macs_done_) (*macs_done_)(macs);
  auto const passed = std::partition(w.waiters.begin(), w.waiters.end(), [&](thread const* t) {
    return t->wait_value > w.groups_done;
  });
  for (auto it = passed; it != w.waiters.end(); ++it) m_.sched.wake(*it);
  w.waiters.erase(passed, w.waiters.end());
}

void async_engine::check_fragments(thread& t, std::uint32_t groups, site where) {
  std::vector<thread::fragment> const all = std::move(t.fragments);
  t.fragments.clear();
  for (thread::fragment const& f : all) {
    if (f.group > groups) {
      t.fragments.push_back(f);
      continue;
    }
    bool const seen = f.changed.line != 0;
    if (!seen && std::equal(f.value, f.value + 4, f.at)) continue;
    m_.reports.report(
        {"E0048", "wgmma-fragment-overwritten",
         report_text({
             .what = "Registers of A change while a wgmma may still be reading them.",
             .now = seen ? fmt::format("written at {} by {}", text_of(f.changed), name_of(t))
                         : fmt::format("found changed by the wait at {} of {}", text_of(where),
                                       name_of(t)),
             .earlier = fmt::format("read by wgmma at {}, group {} of {}", text_of(f.where),
                                    f.group - 1, warpgroup_name(t)),
             .missing = "a wait for that group before the registers change",
             .cause = "wgmma reads A from the registers after the instruction has been issued",
             .remedy = "wgmma_wait before the fragment is loaded again, or a second fragment",
         }),
         seen ? f.changed : where, f.where, fmt::format("A of warpgroup {}", t.id / 128)});
  }
}

void wgmma_wait(int pending, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  if (t.wgmma_groups <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.wgmma_groups - static_cast<std::uint32_t>(pending);
  if (m.log_) m.log_->group_wait(t, needed);
  t.wgmma_known_done = std::max(t.wgmma_known_done, needed);
  if (!t.fragments.empty()) m.async.check_fragments(t, needed, where);
  if (hazard::checker* check = t.block->cluster->check.get()) check->waited_for_groups(t, needed);
  if (t.group->groups_done >= needed) return;
  t.group->waiters.push_back(&t);
  m.sched.block(wait_kind::wgmma_group, t.group, needed, where);
}

}  // namespace tw::emu
