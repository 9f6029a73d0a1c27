// SPDX-License-Identifier: Apache-2.0
// address_space.cpp  Addresses of shared and global memory, and ordinary accesses.
#include "emu/machine/address_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

void address_space::begin() {
  maps_.clear();
  heap_.clear();
  acquired_descs_.clear();
}

std::uint32_t address_space::offset_in_smem(cta_state& c, void const* p, std::size_t bytes,
                                            site where) {
  auto const offset = static_cast<std::byte const*>(p) - c.smem;
  if (offset < 0 ||
      static_cast<std::size_t>(offset) + bytes > static_cast<std::size_t>(m_.grid_.smem_bytes))
    m_.reports.stop(
        "E0006", "smem-out-of-bounds",
        report_text({
            .what = fmt::format("{} bytes at {} lie outside the shared memory of CTA {}, which has "
                                "{} bytes.",
                                bytes,
                                offset < 0 || offset > (1 << 24) ? std::string("a foreign address")
                                                                 : fmt::format("+{:#x}", offset),
                                c.threads.front().cta, m_.grid_.smem_bytes),
            .now = fmt::format("access at {} by {}", text_of(where), name_of(*m_.sched.running())),
            .cause = "an index past the end of its array, or smem_bytes smaller than the struct",
            .remedy = "smem_bytes = sizeof(smem), and indices below the number of stages",
        }),
        where);
  return static_cast<std::uint32_t>(offset);
}

void address_space::require_aligned(void const* p, int bytes, char const* what, site where) {
  if (reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) != 0)
    m_.reports.stop(
        "E0047", "access-alignment",
        report_text({
            .what = fmt::format("The address of {} of {} bytes is not a multiple of {}.", what,
                                bytes, bytes),
            .now = fmt::format("access at {} by {}", text_of(where), name_of(*m_.sched.running())),
            .cause = fmt::format(
                "the address lies {} bytes past one",
                reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes)),
            .remedy = "addresses that are multiples of the size, or fewer bytes at once",
        }),
        where);
}

cta_state& address_space::peer_cta(int cta, site where) {
  cluster_state& c = *m_.sched.running()->block->cluster;
  if (cta < 0 || cta >= static_cast<int>(c.ctas.size()))
    m_.reports.stop(
        "E0007", "bad-cluster-rank",
        report_text({
            .what = fmt::format("A thread names CTA {} of a cluster of {}.", cta, c.ctas.size()),
            .now = fmt::format("use at {} by {}", text_of(where), name_of(*m_.sched.running())),
            .cause = "the number is a rank in the cluster, not a CTA of the grid",
            .remedy = "ranks from 0 to the cluster size minus 1",
        }),
        where);
  cta_state& peer = c.ctas[static_cast<std::size_t>(cta)];
  if (peer.live_threads == 0) exited_cta(cta, where);
  return peer;
}

void address_space::exited_cta(int cta, site where) {
  m_.reports.stop(
      "E0016", "access-to-exited-cta",
      report_text({
          .what = fmt::format("A thread reaches into the shared memory of CTA {}, which has ended.",
                              m_.sched.running()->cta - m_.sched.running()->cluster_rank + cta),
          .now = fmt::format("access at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = "nothing kept that CTA alive until its peers were done with it",
          .remedy = "cluster_sync() as the last act of the kernel, in all threads",
      }),
      where);
}

void address_space::note_load(thread::repeated_load& last, void const* address, int max_in_a_row,
                              site where) {
  if (last.address != address)
    last = {address, 0};
  else if (++last.times >= max_in_a_row)
    m_.sched.yield(where, address);
}

bool address_space::is_shared(cluster_state const& c, void const* address) {
  auto const at = static_cast<std::byte const*>(address) - c.ctas.front().smem;
  return at >= 0 && static_cast<std::size_t>(at) < c.ctas.size() * smem_bytes_of_cta;
}

void address_space::require_global(void const* address, char const* what, site where) {
  cluster_state const& c = *m_.sched.running()->block->cluster;
  if (!is_shared(c, address)) return;
  auto const at = static_cast<std::byte const*>(address) - c.ctas.front().smem;
  cta_state const& owner = c.ctas[static_cast<std::size_t>(at) / smem_bytes_of_cta];
  std::string const place =
      object_name(m_.grid_, owner, static_cast<std::uint32_t>(at % smem_bytes_of_cta));
  m_.reports.stop(
      "E0055", "wrong-state-space",
      report_text({
          .what = fmt::format("{} takes an address in global memory and is given {}.", what, place),
          .now = fmt::format("use at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = "the instruction names the state space .global: on the GPU the address would "
                   "be another one",
          .remedy = "a word in global memory; within a CTA, an mbarrier or a barrier",
      }),
      where, {place});
}

address_space::smem_place address_space::place_of(void const* address, std::size_t bytes,
                                                  site where) {
  cluster_state& c = *m_.sched.running()->block->cluster;
  auto const at = static_cast<std::byte const*>(address) - c.ctas.front().smem;
  if (at < 0 || static_cast<std::size_t>(at) >= c.ctas.size() * smem_bytes_of_cta) return {};
  cta_state& owner = c.ctas[static_cast<std::size_t>(at) / smem_bytes_of_cta];
  if (owner.live_threads == 0) exited_cta(owner.rank, where);
  return {&owner, offset_in_smem(owner, address, bytes, where)};
}

void address_space::require_shared_by_threads(void const* address, char const* what, site where) {
  if (is_global(address)) return;
  m_.reports.stop(
      "E0055", "wrong-state-space",
      report_text({
          .what = fmt::format("{} is given a variable of one thread.", what),
          .now = fmt::format("use at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = "an atomic operation serves words that threads share: global or shared memory. "
                   "On the GPU a thread's variables and the kernel's parameters are in neither",
          .remedy = "a word in global or shared memory, or an ordinary operation on the variable",
      }),
      where);
}

void address_space::check_bounds(void const* address, std::size_t bytes, char const* what,
                                 site where) {
  auto const first = reinterpret_cast<std::uintptr_t>(address), last = first + bytes;
  global_array const* nearest = nullptr;
  for (global_array const& a : m_.options_.arrays) {
    auto const begin = reinterpret_cast<std::uintptr_t>(a.begin);
    if (first >= begin && last <= begin + a.bytes) return;
    if (last > begin - a.margin_bytes && first < begin + a.bytes + a.margin_bytes) nearest = &a;
  }
  if (nearest == nullptr) return;  // a variable of the program
  auto const block = heap_.upper_bound(first);
  if (block != heap_.begin() && first < std::prev(block)->first + std::prev(block)->second.bytes)
    return;  // memory that the kernel allocated
  auto const begin = reinterpret_cast<std::uintptr_t>(nearest->begin);
  std::string const place = name_of_global(reinterpret_cast<std::uintptr_t>(nearest->begin));
  m_.reports.stop(
      "E0052", "global-out-of-bounds",
      report_text({
          .what = fmt::format("{} of {} bytes lies outside of an array of {} bytes.", what, bytes,
                              nearest->bytes),
          .now = fmt::format("access at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = first < begin ? fmt::format("it begins {} bytes before {}", begin - first, place)
                                 : fmt::format("it begins at byte {} of {}", first - begin, place),
          .remedy = "indices below the number of elements: a bound on the loop, or a condition "
                    "around the access at the edge",
      }),
      where, {place});
}

void address_space::check_no_mbarrier(cta_state& c, std::uint32_t offset, std::size_t bytes,
                                      char const* what, site where) {
  auto const hit = [&]() -> std::int64_t {
    if (bytes <= 16) {
      for (std::size_t i = offset / 8; i <= (offset + bytes - 1) / 8; ++i)
        if (c.is_mbarrier[i]) return static_cast<std::int64_t>(8 * i);
      return -1;
    }
    for (mbarrier_state const& b : c.mbarriers)
      if (b.offset < offset + bytes && b.offset + 8 > offset && c.is_mbarrier[b.offset / 8])
        return b.offset;
    return -1;
  }();
  if (hit < 0) return;
  std::string const place = object_name(m_.grid_, c, static_cast<std::uint32_t>(hit));
  m_.reports.stop(
      "E0057", "mbarrier-overwritten",
      report_text({
          .what = fmt::format("{} writes to {}, which is an mbarrier in use.", what, place),
          .now = fmt::format("write at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = "from init() on the 8 bytes belong to the barrier; other writes of them are "
                   "undefined",
          .remedy = "separate memory for the barrier",
      }),
      where, {place});
}

void address_space::plain_access(void const* address, std::size_t bytes, bool write, bool aligned,
                                 site where) {
  thread& t = *m_.sched.running();
  constexpr int max_reads_in_a_row = 256;
  if (write)
    t.plain_load = {};
  else
    note_load(t.plain_load, address, max_reads_in_a_row, where);
  // g++ announces 16 bytes of a type that is aligned to 8 as it does those aligned to 16.
  std::size_t const alignment = std::min<std::size_t>(bytes, 8);
  bool const misaligned =
      aligned && (reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) != 0;
  cluster_state& c = *t.block->cluster;
  auto const at = static_cast<std::byte const*>(address) - c.ctas.front().smem;
  if (!is_shared(c, address)) {
    if (write)
      for (thread::fragment& f : t.fragments) {
        auto const distance =
            static_cast<std::byte const*>(address) - reinterpret_cast<std::byte const*>(f.at);
        if (distance < static_cast<std::ptrdiff_t>(sizeof(f.value)) &&
            distance + static_cast<std::ptrdiff_t>(bytes) > 0)
          f.changed = where;
      }
    if (!is_global(address)) return;  // a thread's own, or the engine's, as thread_id()
    if (!m_.options_.arrays.empty())
      check_bounds(address, bytes, write ? "An ordinary store" : "An ordinary load", where);
    if (misaligned)
      require_aligned(address, static_cast<int>(alignment), write ? "a store" : "a load", where);
    if (write && m_.log_) m_.log_->access(t, act::global_store, 0);
    if (c.check)
      c.check->global_plain(t, reinterpret_cast<std::uintptr_t>(address), bytes, write, where);
    return;
  }
  cta_state& owner = c.ctas[static_cast<std::size_t>(at) / smem_bytes_of_cta];
  std::uint32_t const offset = offset_in_smem(owner, address, bytes, where);
  if (owner.live_threads == 0) exited_cta(owner.rank, where);
  if (misaligned)
    require_aligned(address, static_cast<int>(alignment), write ? "a store" : "a load", where);
  if (write) check_no_mbarrier(owner, offset, bytes, "An ordinary store", where);
  ++(write ? m_.counts_.plain_stores : m_.counts_.plain_loads);
  if (m_.banks_ && &owner == t.block)
    m_.banks_->plain(t, m_.sched.warp_of(t), offset, static_cast<std::uint32_t>(bytes),
                     write ? bank_access::store : bank_access::load, where);
  if (m_.log_) m_.log_->access(t, act::plain, offset);
  if (c.check) c.check->plain(t, owner, offset, static_cast<std::uint32_t>(bytes), write, where);
}

void address_space::allocated(void const* p, std::size_t bytes, site where) {
  auto const begin = reinterpret_cast<std::uintptr_t>(p);
  heap_.insert_or_assign(begin, heap_block{bytes, where});
  if (hazard::global_memory* const all = m_.globals()) {
    std::scoped_lock const lock(all->mutex);
    all->forget(begin, bytes);
  }
}

void address_space::freed(void const* p, std::size_t bytes) {
  auto const begin = reinterpret_cast<std::uintptr_t>(p);
  heap_.erase(begin);
  if (hazard::global_memory* const all = m_.globals()) {
    std::scoped_lock const lock(all->mutex);
    all->forget(begin, bytes);
  }
}

void address_space::leave_undefined(void* p, int bytes, site where) {
  if (bytes <= 0) return;
  cta_state& own = *m_.sched.running()->block;
  auto const count = static_cast<std::uint32_t>(bytes);
  std::uint32_t const offset = offset_in_smem(own, p, count, where);
  check_no_mbarrier(own, offset, count, "leave_undefined()", where);
  std::memset(p, 0xFF, count);
  if (own.cluster->check) own.cluster->check->undefined(*m_.sched.running(), offset, count, where);
}

bool address_space::is_global(void const* address) const {
  auto const inside = [at = static_cast<std::byte const*>(address)](void const* from,
                                                                    std::size_t bytes) {
    auto const distance = at - static_cast<std::byte const*>(from);
    return distance >= 0 && static_cast<std::size_t>(distance) < bytes;
  };
  thread const& t = *m_.sched.running();
  cluster_state const& c = *t.block->cluster;
  if (c.stack_store.holds(address) || inside(&self, sizeof(self)) || inside(&t, sizeof(t)) ||
      inside(m_.params_of(t.device), m_.grid_.params_bytes))
    return false;
  for (auto const& tile : t.group->tiles)
    if (inside(tile.get(), sizeof(*tile))) return false;
  return true;
}

}  // namespace tw::emu
