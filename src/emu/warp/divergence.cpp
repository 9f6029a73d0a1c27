// SPDX-License-Identifier: Apache-2.0
// divergence.cpp  E0075: lanes of a warp wait at an instruction of the warp for lanes that took
//                 another branch.
#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

/// Lanes that wait at one instruction of their warp, and those that it still needs.
struct parted {
  std::uint32_t here = 0, missing = 0;
  thread const* first = nullptr;  // of those that are here
};

bool of_a_warp(wait_kind k) {
  return k == wait_kind::exchange || k == wait_kind::warp_barrier || k == wait_kind::ldmatrix ||
         k == wait_kind::tensor_step;
}

/// A thread there cannot go on before others have come.
bool of_threads(wait_kind k) {
  return of_a_warp(k) || k == wait_kind::named_barrier || k == wait_kind::cluster_barrier;
}

std::string_view instruction(thread const& t) {
  switch (t.waiting) {
    case wait_kind::exchange: return static_cast<char const*>(t.wait_object);
    case wait_kind::tensor_step: return static_cast<tensor_step const*>(t.wait_object)->name;
    case wait_kind::ldmatrix: return "ldmatrix";
    default: return "warp_sync";
  }
}

std::uint32_t bit_of_lane(int lane) { return std::uint32_t{1} << lane; }

parted lanes_at(warp_state const& w, int lane) {
  thread const& t = w.first[lane];
  parted p{.first = &t};
  // The others need the lanes that have ended no more, but for these two every lane must come.
  bool all_must_run = t.waiting == wait_kind::ldmatrix || t.waiting == wait_kind::tensor_step;
  std::uint32_t wanted = all_lanes >> (32 - w.threads);
  for (warp_state::exchange_op const& op : w.exchanges)
    if (t.waiting == wait_kind::exchange && !op.complete && (op.arrived & bit_of_lane(lane)) != 0) {
      wanted &= op.mask;
      all_must_run = op.all_must_run;
      p.here = op.arrived;
    }
  if (t.waiting != wait_kind::exchange)
    for (int i = 0; i < w.threads; ++i)
      if (w.first[i].waiting == t.waiting && w.first[i].wait_object == t.wait_object)
        p.here |= bit_of_lane(i);
  p.missing = wanted & ~p.here & ~(all_must_run ? 0 : w.ended);
  return p;
}

/// Is it the branch that is at fault? Lanes that wait for a copy or an mbarrier may come later, so
/// they tell nothing unless they are the larger part of the warp.
bool is_divergent(warp_state const& w, parted const& p) {
  if (p.missing == 0) return false;
  for (int i = 0; i < w.threads; ++i) {
    wait_kind const k = w.first[i].waiting;
    if ((p.missing & bit_of_lane(i)) != 0 && !of_threads(k) && k != wait_kind::finished)
      return std::popcount(p.here) < std::popcount(p.missing);
  }
  return true;
}

std::string lanes_text(std::vector<int> const& lanes) {
  return fmt::format("lane{} {}", lanes.size() == 1 ? "" : "s", ranges_text(lanes));
}

std::string lanes_text(std::uint32_t mask) {
  std::vector<int> lanes;
  for (int i = 0; i < 32; ++i)
    if ((mask & bit_of_lane(i)) != 0) lanes.push_back(i);
  return lanes_text(lanes);
}

/// Of those that are missing, the first and who stands where it does: "lanes 1-31 wait at F:7 for
/// cta_sync (96 of 128 threads came)".
std::string where_they_are(grid const& g, warp_state const& w, parted const& p, site& place) {
  thread const& first = w.first[std::countr_zero(p.missing)];
  std::vector<int> lanes;
  for (int i = 0; i < w.threads; ++i)
    if ((p.missing & bit_of_lane(i)) != 0 && w.first[i].waiting == first.waiting &&
        same_place(w.first[i].wait_site, first.wait_site))
      lanes.push_back(i);
  std::string const who = lanes_text(lanes);
  bool const one = lanes.size() == 1;
  if (first.waiting == wait_kind::finished)
    return fmt::format("{} {} ended", who, one ? "has" : "have");
  if (first.waiting == wait_kind::none) return fmt::format("{} {}", who, one ? "polls" : "poll");
  place = first.wait_site;
  return fmt::format("{} {} at {} for {}", who, one ? "waits" : "wait", text_of(place),
                     what_it_waits_for(g, first));
}

std::string remedy(thread const& t, std::string_view name) {
  if (name == "warp_id" || name == "warpgroup_id")
    return fmt::format(
        "{}() before the branch, its value in a variable; in the branch thread_id() "
        "/ {}",
        name, name == "warp_id" ? 32 : 128);
  bool const takes_a_mask = t.waiting == wait_kind::exchange && name != "warp_uniform" &&
                            name != "elect_one" && name != "mma_sync";
  if (!takes_a_mask)
    return fmt::format("{} outside of the branch, where all lanes of the warp come", name);
  return fmt::format(
      "{} outside of the branch, or with the mask of the lanes that take it, which "
      "ballot(condition) returns before the branch",
      name);
}

diagnosis diagnosis_of(grid const& g, warp_state const& w, parted const& p) {
  thread const& t = *p.first;
  std::string const name(instruction(t));
  diagnosis d;
  d.code = "E0075";
  d.kind = "warp-operation-in-branch";
  d.where = t.wait_site;
  d.cta = t.cta;
  d.thread = t.id;
  d.role = t.role;
  d.text = report_text({
      .what =
          fmt::format("In warp {} of CTA {}, {} wait{} at {} for {}, which {} not come.", t.id / 32,
                      t.cta, lanes_text(p.here), std::has_single_bit(p.here) ? "s" : "", name,
                      lanes_text(p.missing), std::has_single_bit(p.missing) ? "does" : "do"),
      .now = fmt::format("{} at {} by {}", name, text_of(t.wait_site), name_of(t)),
      .earlier = where_they_are(g, w, p, d.earlier),
      .cause = fmt::format("{} is one instruction of all lanes that its mask names and that have "
                           "not ended: on a GPU it waits for them, or its result is undefined",
                           name),
      .remedy = remedy(t, name),
  });
  return d;
}

}  // namespace

void warp_unit::check_stores(thread const& last) {
  warp_state const& w = m_.sched.warp_of(last);
  if (w.live > 0 || w.stores.empty()) return;
  std::uint32_t stored = 0;
  for (int i = 0; i < w.threads; ++i)
    if (w.first[i].matrix_stores != w.stores_base) stored |= bit_of_lane(i);
  thread const& t = w.first[std::countr_zero(stored)];
  site const where = w.stores.front().where;
  m_.reports.stop(
      "E0075", "warp-operation-in-branch",
      report_text({
          .what = fmt::format("In warp {} of CTA {}, {} executed a stmatrix without the others.",
                              t.id / 32, t.cta, lanes_text(stored)),
          .now = fmt::format("stmatrix at {} by {}", text_of(where), name_of(t)),
          .cause = "stmatrix is one instruction of all 32 lanes: on a GPU its result is undefined",
          .remedy = "stmatrix outside of the branch, where all lanes of the warp come",
      }),
      where, {.by = &t});
}

std::optional<diagnosis> divergence_report(grid const& g, std::vector<warp_state> const& warps) {
  for (warp_state const& w : warps) {
    parted smallest;
    for (int lane = 0; w.live > 0 && lane < w.threads; ++lane) {
      if (!of_a_warp(w.first[lane].waiting)) continue;
      parted const p = lanes_at(w, lane);
      if (is_divergent(w, p) &&
          (smallest.first == nullptr || std::popcount(p.here) < std::popcount(smallest.here)))
        smallest = p;
    }
    if (smallest.first != nullptr) return diagnosis_of(g, w, smallest);
  }
  return std::nullopt;
}

}  // namespace tw::emu
