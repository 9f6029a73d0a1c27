// SPDX-License-Identifier: Apache-2.0
// rule_mutants.cpp  The mutants of the kernels for one rule each.
#include <cmath>

#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"
#include "tools/check/mutants/rule_kernels.hpp"

namespace tw::mutants {

namespace {

constexpr int elems = 1024, margin = 512, max_ctas = 8;

/// Arrays whose bounds are known, with a margin that no kernel may touch.
struct rule_memory {
  std::vector<float> in = std::vector<float>(elems + 2 * margin);
  std::vector<float> out = std::vector<float>(elems + 2 * margin, NAN);
  std::vector<unsigned> flags = std::vector<unsigned>(max_ctas);
  alignas(16) unsigned counts[elems] = {};
  rule_params p{};

  rule_memory(int which, emu::options& o, bool map_of_out) {
    for (int i = 0; i < elems; ++i) in[static_cast<std::size_t>(margin + i)] = value(i);
    p.in = in.data() + margin;
    p.out = out.data() + margin;
    p.flag = flags.data();
    p.counts = counts;
    p.broken = static_cast<rule_mutation>(which);
    for (void const* array : {static_cast<void const*>(p.in), static_cast<void const*>(p.out)})
      o.arrays.push_back({array, elems * sizeof(float), margin * sizeof(float)});
    tensor_map_desc d;
    d.base = map_of_out ? static_cast<void*>(p.out) : counts;
    d.type = elem::f32;
    d.dim[0] = d.dim[1] = d.box[0] = d.box[1] = 32;
    d.stride_bytes[0] = 128;
    p.map = make_tensor_map(d, target::emu);
  }
  static float value(int i) { return static_cast<float>(i % 97); }
};

float halves(int i) { return rule_memory::value(i / 64 * 64 + 63 - i % 64); }
float counted(int i) { return static_cast<float>(i % 31); }
float same(int i) { return rule_memory::value(i); }
float one_more(int i) { return rule_memory::value(i) + 1; }
float with_neighbours(int i) {
  return (i > 0 ? rule_memory::value(i - 1) : 0) + rule_memory::value(i) +
         (i < elems - 1 ? rule_memory::value(i + 1) : 0);
}

template <class Kernel, int Ctas, int Elems, float (*Right)(int), bool MapOfOut = false>
outcome run_kernel(int which, emu::options const& given) {
  emu::options o = given;
  o.sms = 1;
  o.bank_conflicts = false;  // vectors at odd places have some
  rule_memory m(which, o, MapOfOut);
  outcome out;
  out.diagnoses = reported_run(Kernel{}, Ctas, m.p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int i = 0; i < Elems; ++i) out.wrong_elements += m.p.out[i] != Right(i);
  return out;
}

std::vector<mutant> made() {
  using enum rule_mutation;
  std::vector<mutant> list;
  auto const add = [&](std::string_view kernel, auto* run, rule_mutation what,
                       std::string_view name, std::string_view change,
                       std::vector<std::string_view> codes) {
    list.push_back({kernel, name, change, std::move(codes), run, static_cast<int>(what)});
  };
  auto* const two = run_kernel<two_halves, 1, 256, halves>;
  add("two_halves", two, none, "", "", {});
  add("two_halves", two, lanes_at_two_places, "lanes-at-two-places",
      "lanes of a warp call cta_sync at two places of the program", {"E0053"});
  add("two_halves", two, lanes_at_two_ids, "lanes-at-two-ids",
      "lanes of a warp wait at two named barriers", {"E0053"});
  add("two_halves", two, lane_stays_away, "lane-stays-away",
      "one lane passes a cta_sync by, and is one ahead from then on", {"E0024", "E0053"});
  auto* const counts = run_kernel<counts_to_tma, 2, elems, counted>;
  add("counts_to_tma", counts, none, "", "", {});
  add("counts_to_tma", counts, fence_before_atomics, "fence-before-atomics",
      "fence_proxy_async_global before the atomic additions, not after them", {"E0044"});
  add("counts_to_tma", counts, fence_before_stores, "fence-before-stores",
      "fence_proxy_async_global before relaxed stores, not after them", {"E0044"});
  add("counts_to_tma", counts, fence_of_one_thread, "fence-of-one-thread",
      "one thread alone has the proxy fence after its additions", {"E0044"});
  add("counts_to_tma", counts, barrier_at_four, "barrier-at-four",
      "the mbarrier lies 4 bytes after a multiple of 8", {"E0047"});
  auto* const regs = run_kernel<budgets, 1, elems, same>;
  add("budgets", regs, none, "", "", {});
  add("budgets", regs, too_many_registers, "too-many-registers",
      "40 + 240 + 240 registers for 128 threads each", {"E0008"});
  add("budgets", regs, no_registers_given, "no-registers-given",
      "two warpgroups request more registers, the third gives none up", {"E0008"});
  add("budgets", regs, chosen_by_warp, "chosen-by-warp",
      "one warp of a warpgroup gives up registers, the other three request more", {"E0008"});
  add("budgets", regs, one_warp_alone, "one-warp-alone",
      "one warp of each warpgroup requests more registers", {"E0008"});
  add("budgets", regs, increase_to_fewer, "increase-to-fewer",
      "set_max_regs_inc where set_max_regs_dec gives registers up", {"E0008"});
  auto* const ctas = run_kernel<chain, max_ctas, elems, same>;
  add("chain", ctas, none, "", "", {});
  add("chain", ctas, descending_order, "descending-order",
      "each CTA waits for the next, not for the one before it", {"E0001"});
  add("chain", ctas, first_wait_for_last, "first-wait-for-last",
      "as many CTAs as the device holds wait for the last one", {"E0001"});
  add("chain", ctas, grid_barrier, "grid-barrier", "all CTAs wait for all; the device holds fewer",
      {"E0001"});
  auto* const bounds = run_kernel<halo, 1, elems, with_neighbours>;
  add("halo", bounds, none, "", "", {});
  add("halo", bounds, one_past_the_end, "one-past-the-end",
      "the last element's neighbour is read, which does not exist", {"E0052"});
  add("halo", bounds, one_before_the_begin, "one-before-the-begin",
      "the first element's neighbour is read, which does not exist", {"E0052"});
  add("halo", bounds, rounded_up, "rounded-up", "one round more than the array has elements for",
      {"E0052"});
  add("halo", bounds, vector_at_four, "vector-at-four",
      "loads of 16 bytes begin 4 bytes after a multiple of 16", {"E0047"});
  add("halo", bounds, vector_in_smem_at_four, "vector-in-smem-at-four",
      "stores of 16 bytes to shared memory begin 4 bytes after a multiple of 16", {"E0047"});
  add("halo", bounds, copy_at_eight, "copy-at-eight",
      "cp.async of 16 bytes begins 8 bytes after a multiple of 16", {"E0047"});
  auto* const committed = run_kernel<groups, 1, elems, one_more, true>;
  add("groups", committed, none, "", "", {});
  add("groups", committed, no_copy_commit, "no-copy-commit", "no cp_async_commit", {"E0045"});
  add("groups", committed, commit_after_wait, "commit-after-wait",
      "cp_async_commit after cp_async_wait", {"E0045"});
  add("groups", committed, no_store_commit, "no-store-commit", "no tma_store_commit", {"E0011"});
  return list;
}

}  // namespace

std::span<mutant const> rule_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
