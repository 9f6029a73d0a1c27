// SPDX-License-Identifier: Apache-2.0
// global_accesses.cpp  Each access of global memory against those before it, of any CTA.
#include <algorithm>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"

namespace tw::emu::hazard {

std::uint32_t checker::global_face_of(thread const& t, component who, bool own_thread) {
  if (global_faces_.size() <= who) global_faces_.resize(who + 1);
  std::uint32_t& id = global_faces_[who];
  if (id == 0)
    id = 1 + memory_->add_face({cluster_->id, who, own_thread, t.cta, t.id, t.role, t.device});
  return id - 1;
}

stamp checker::known_of(clock_ref const& clock, global_face const& f) const {
  if (f.cluster == cluster_->id) return clock->happened(f.who);
  stamp most = 0;
  for (imports const& i : imports_)
    if (stamp const n = clock->happened(i.who); n > 0)
      most = std::max(most, i.taken[n - 1]->happened(f.cluster, f.who));
  return most;
}

checker::verdict checker::judge_global(thread const& t, record const& now,
                                       record const& earlier) const {
  global_face const& by = memory_->face(earlier.who);
  if (morally_strong(now, earlier,
                     {by.cta == t.cta, by.cluster == cluster_->id, by.device == t.device}))
    return verdict::ordered;
  if (memory_->is_predecessor(earlier.who))
    return t.actor.known->happened(predecessor_component()) > 0 &&
                   memory_->chain_waits_since(earlier.who)
               ? verdict::ordered
               : verdict::unordered;
  global_face const& f = memory_->face(earlier.who);
  bool const self = f.cluster == cluster_->id && f.who == thread_component(t);
  stamp const known = self ? t.actor.own : known_of(t.actor.known, f);
  if (known < earlier.when) return verdict::unordered;
  bool const generic_write = is_write(earlier.what) && !is_async(earlier.what);
  if (!is_async(now.what) || !generic_write ||
      memory_->fence_between(earlier.who, earlier.when, known))
    return verdict::ordered;
  // The other reading: the issuing thread's own fence, after it received the access, counts too.
  // A copy engine runs no fence.
  bool const on_path =
      options_.proxy == proxy_rule::on_path || earlier.what == access::engine_write;
  return on_path && t.global.fenced_known && known_of(t.global.fenced_known, f) >= earlier.when
             ? verdict::ordered
             : verdict::unfenced;
}

void checker::global_access(thread& t, std::uintptr_t address, std::size_t bytes,
                            record const& given) {
  check_window(t, address, bytes, given);
  global_conflict found;
  {
    std::scoped_lock const lock(memory_->mutex);
    found = global_note(t, address, bytes, given);
  }
  if (found.how != verdict::ordered) report_global(t, found, given);  // may leave for good
}

checker::global_conflict checker::global_note(thread& t, std::uintptr_t address, std::size_t bytes,
                                              record const& given) {
  global_conflict found;
  record r = given;
  r.who = global_face_of(t, given.who, given.who == thread_component(t));
  bool const write = is_write(r.what);
  if (write) memory_->before_write(address, bytes);
  shadow& s = memory_->cells();
  auto const compare = [&](std::uintptr_t at, record const& earlier) {
    if (found.how != verdict::ordered) return false;
    found.how = judge_global(t, r, earlier);
    if (found.how == verdict::ordered) return true;
    found.address = at;
    found.earlier = earlier;
    found.by_predecessor = memory_->is_predecessor(earlier.who);
    found.chain_broken = found.by_predecessor && !memory_->chain_waits_since(earlier.who);
    found.by = memory_->face(earlier.who);
    found.completed = memory_->completed(earlier.who) >= earlier.when;
    return false;
  };
  while (bytes > 0) {
    std::uintptr_t const in_cell = address % cell_bytes;
    if (in_cell == 0 && bytes >= cell_bytes) {
      std::size_t const here = std::min<std::size_t>(bytes / cell_bytes * cell_bytes,
                                                     block_bytes - address % block_bytes);
      std::uint32_t const block = memory_->block_at(address);
      each_block(static_cast<std::uint32_t>(address % block_bytes),
                 static_cast<std::uint32_t>(here), [&](touched at) {
                   at.block = block;
                   s.each_earlier(at, write, [&](record const& e) { return compare(address, e); });
                   s.note(at, r);
                 });
      address += here;
      bytes -= here;
      continue;
    }
    std::size_t const here = std::min<std::size_t>(bytes, cell_bytes - in_cell);
    auto const mask = static_cast<std::uint16_t>(((1U << here) - 1) << in_cell);
    auto const cell = static_cast<std::uint32_t>(memory_->block_at(address) * 64 +
                                                 address % block_bytes / cell_bytes);
    s.each_earlier(cell, mask, write, [&](record const& e) { return compare(address, e); });
    s.note(cell, mask, r);
    address += here;
    bytes -= here;
  }
  return found;
}

void checker::engine_copied(thread& t, std::uintptr_t address, std::size_t bytes, bool write,
                            site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = write ? access::engine_write : access::engine_read;
  r.where = where;
  global_access(t, address, bytes, r);
}

void checker::check_window(thread const& t, std::uintptr_t address, std::size_t bytes,
                           record const& now) {
  for (device_memory const& m : machine_->layout_.memory) {
    auto const begin = reinterpret_cast<std::uintptr_t>(m.begin);
    if (address >= begin + m.bytes || address + bytes <= begin) continue;
    if (m.device != t.device && !m.window) report_outside_window(t, address, m.device, now);
    return;
  }
}

void checker::global_plain(thread& t, std::uintptr_t address, std::size_t bytes, bool write,
                           site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = write ? access::plain_write : access::plain_read;
  r.where = where;
  global_access(t, address, bytes, r);
}

void checker::global_map(thread& t, bulk_op const& op, record r) {
  if (op.map_in_global == nullptr) return;
  r.what = access::map_read;
  r.origin = 0;
  global_access(t, reinterpret_cast<std::uintptr_t>(op.map_in_global), sizeof(tensor_map), r);
}

void checker::global_box(thread& t, bulk_op const& op, record r) {
  if (op.what == bulk_op::kind::load) {
    r.what = access::tma_load_read;
    r.origin = 0;
  }
  if (op.what == bulk_op::kind::load && op.bytes == nullptr) {
    std::scoped_lock const lock(memory_->mutex);
    record kept = r;
    kept.who = global_face_of(t, r.who, false);
    if (!memory_->remember_load(*op.map, op.at, kept)) return;
  }
  each_global_row(*op.map, op.at, [&](std::uintptr_t address, std::size_t bytes) {
    global_access(t, address, bytes, r);
  });
}

}  // namespace tw::emu::hazard
