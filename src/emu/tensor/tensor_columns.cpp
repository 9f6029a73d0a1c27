// SPDX-License-Identifier: Apache-2.0
// tensor_columns.cpp  Columns of tensor memory come and go: allocations of a CTA or a pair, and of
//                     the CTAs that share an SM.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr std::uint32_t undefined_word = 0xFFFFFFFF;  // a NaN in every type
constexpr int granule = 32;                           // columns are allocated in steps of this size

std::string columns_text(int first, int columns) {
  return fmt::format("columns {}-{}", first, first + columns - 1);
}

}  // namespace

void tensor_unit::stop_at_columns(thread const& t, std::string what, std::string cause,
                                  std::string remedy, site where) {
  std::string held;
  if (t.block->tensor)
    for (tensor_memory::allocation const& a : t.block->tensor->allocations)
      held += fmt::format("{}{}, allocated at {}", held.empty() ? "" : "; ",
                          columns_text(a.first, a.columns), text_of(a.where));
  m_.reports.stop("E0104", "tmem-columns",
                  report_text({
                      .what = std::move(what),
                      .now = fmt::format("{} by {}", text_of(where), name_of(t)),
                      .earlier = held.empty() ? "no columns are allocated" : held,
                      .cause = std::move(cause),
                      .remedy = std::move(remedy),
                  }),
                  where, {fmt::format("tensor memory of CTA {}", t.cta)});
}

void tensor_unit::check_columns(thread const& t, cta_state& c, int first, int columns,
                                char const* what, site where) {
  tensor_memory& m = memory_of(c);
  for (int i = first; i < first + columns;) {
    if (tensor_memory::allocation const* a = i < tmem_columns ? m.of_column(i) : nullptr) {
      i = a->first + a->columns;
      continue;
    }
    stop_at_columns(t,
                    fmt::format("{} {} of tensor memory, of which column {} is not allocated.",
                                what, columns_text(first, columns), i),
                    "a kernel may access the columns that it has allocated, 512 at most",
                    "a larger allocation, or an address within it: the number of columns counts "
                    "from the address that tmem_alloc wrote",
                    where);
  }
}

template <class F>
void tensor_unit::each_neighbour(cta_state const& c, F&& f) {
  auto const of_sm = static_cast<std::size_t>(std::max(1, m_.options_.ctas_per_sm));
  auto const& live = m_.clusters();
  auto const own = static_cast<std::size_t>(
      std::ranges::find(live, c.cluster, [](auto const& x) { return x.get(); }) - live.begin());
  for (std::size_t i = own / of_sm * of_sm; i < std::min(live.size(), (own / of_sm + 1) * of_sm);
       ++i)
    if (i != own) f(live[i]->ctas[static_cast<std::size_t>(c.rank)]);
}

std::optional<tensor_memory::holder> tensor_unit::holder_of(cta_state const& c, int first,
                                                            int columns) {
  std::optional<tensor_memory::holder> found;
  each_neighbour(c, [&](cta_state const& other) {
    if (!other.tensor || other.live_threads == 0 || !other.tensor->last) return;
    int const cta = other.threads.front().cta;
    if (!other.tensor->relinquished) found = {cta, true, other.tensor->last->where};
    for (int i = first; i < first + columns && !found; i += granule)
      if (tensor_memory::allocation const* a = other.tensor->of_column(i))
        found = {cta, false, a->where};
  });
  return found;
}

int tensor_unit::find_columns(std::initializer_list<cta_state*> ctas, int columns) {
  for (cta_state* const c : ctas) memory_of(*c).held_by.reset();
  for (int first = 0; first + columns <= tmem_columns; first += granule) {
    bool free = true;
    for (cta_state* const c : ctas) {
      tensor_memory& m = memory_of(*c);
      for (int i = first; i < first + columns && free; i += granule)
        free = m.of_column(i) == nullptr;
      if (!free) break;
      if (auto const holder = holder_of(*c, first, columns)) {
        m.held_by = holder;
        free = false;
      }
    }
    if (free) return first;
  }
  return -1;
}

void tensor_unit::wake_waiters(cta_state const& c) {
  if (c.tensor) m_.sched.wake_all(c.tensor->waiters);
  each_neighbour(c, [&](cta_state const& other) {
    if (other.tensor) m_.sched.wake_all(other.tensor->waiters);
  });
}

void tensor_unit::grant(cta_state& c, tensor_memory::allocation const& a) {
  tensor_memory& m = memory_of(c);
  m.allocations.push_back(a);
  for (int i = a.first; i < a.first + a.columns; ++i)
    for (auto& half : m.word) std::fill_n(half[i], tensor_memory::lanes_of_half, undefined_word);
  if (hazard::checker* check = c.cluster->check.get()) check->tmem_renewed(c, a.first, a.columns);
}

void tensor_unit::allocate(std::uint32_t* address, int columns, int ctas, site where) {
  thread& t = *m_.sched.running();
  if (!meet(t, "tmem_alloc", {smem_address(address, where), static_cast<std::uint64_t>(columns)},
            nullptr, where))
    return;
  cta_state& c = *t.block;
  check_group(t, ctas, "tmem_alloc", where);
  tensor_memory& m = memory_of(c);
  if (columns < granule || columns > tmem_columns ||
      !std::has_single_bit(static_cast<unsigned>(columns)))
    stop_at_columns(t, fmt::format("tmem_alloc of {} columns.", columns),
                    "columns are allocated by 32, 64, 128, 256 or 512",
                    "the next larger of these numbers", where);
  if (m.relinquished)
    m_.reports.stop("E0107", "tmem-relinquished",
                    report_text({
                        .what = fmt::format("CTA {} allocates tensor memory after it has given up "
                                            "the right to.",
                                            t.cta),
                        .now = fmt::format("tmem_alloc at {} by {}", text_of(where), name_of(t)),
                        .earlier = fmt::format("tmem_relinquish at {}", text_of(*m.relinquished)),
                        .cause = "tmem_relinquish lets other CTAs of the SM allocate in its place",
                        .remedy = "all allocations first, then tmem_relinquish",
                    }),
                    where, {.earlier = *m.relinquished});
  if (m.last && columns > m.last->columns)
    stop_at_columns(
        t, fmt::format("tmem_alloc of {} columns after one of {}.", columns, m.last->columns),
        "the columns of a CTA's allocations must not grow from one to the next",
        "the largest allocation first", where);
  tensor_memory::allocation a{0, columns, ctas, where};
  if (ctas == 2) {
    cta_state& peer = c.cluster->ctas[static_cast<std::size_t>(c.peer_rank())];
    tensor_memory& other = memory_of(peer);
    if (hazard::checker* check = c.cluster->check.get()) check->pair_started(t, peer, where);
    if (other.wanted && other.wanted->columns != columns)
      stop_at_columns(t,
                      fmt::format("tmem_alloc of {} columns, of which the peer CTA allocates {}.",
                                  columns, other.wanted->columns),
                      "a pair allocates the same columns in both CTAs",
                      "one number of columns in both CTAs", where);
    m.wanted = a;
    for (;;) {
      if (!m.wanted) break;  // the peer's warp has found columns for both
      int const first = find_columns({&c, &peer}, columns);
      if (other.wanted && first >= 0) {
        a.first = first;
        tensor_memory::allocation theirs = *other.wanted;
        theirs.first = first;
        grant(c, a);
        grant(peer, theirs);
        m.last = a;
        other.last = theirs;
        m.wanted.reset();
        other.wanted.reset();
        m_.sched.wake_all(other.waiters);
        break;
      }
      m.waiters.push_back(&t);
      m_.sched.block(wait_kind::tensor_columns, &c, static_cast<std::uint32_t>(columns), where);
    }
    a = *m.last;
  } else {
    while ((a.first = find_columns({&c}, columns)) < 0) {
      m.waiters.push_back(&t);
      m_.sched.block(wait_kind::tensor_columns, &c, static_cast<std::uint32_t>(columns), where);
    }
    grant(c, a);
    m.last = a;
  }
  // The address is written by an ordinary store: other threads read it after a barrier.
  if (hazard::checker* check = c.cluster->check.get()) {
    if (ctas == 2) check->tmem_allocated(t, where);
    check->plain(t, c, m_.memory.offset_in_smem(c, address, 4, where), 4, true, where);
  }
  *address = static_cast<std::uint32_t>(a.first);
  part(t);
}

void tensor_unit::free(std::uint32_t address, int columns, int ctas, site where) {
  thread& t = *m_.sched.running();
  if (!meet(t, "tmem_dealloc", {address, static_cast<std::uint64_t>(columns)}, nullptr, where))
    return;
  cta_state& c = *t.block;
  check_group(t, ctas, "tmem_dealloc", where);
  tensor_memory& m = memory_of(c);
  auto const it = std::ranges::find_if(m.allocations, [&](tensor_memory::allocation const& a) {
    return static_cast<std::uint32_t>(a.first) == address && a.columns == columns;
  });
  if (it == m.allocations.end())
    stop_at_columns(t,
                    fmt::format("tmem_dealloc of {} columns at {:#x}, which no tmem_alloc has "
                                "allocated so.",
                                columns, address),
                    "an allocation is given back whole: with its address and its columns",
                    "the address that tmem_alloc wrote, and the columns that it allocated", where);
  if (hazard::checker* check = c.cluster->check.get()) {
    if (ctas == 2)
      check->tmem_freed_for_peer(t, c.cluster->ctas[static_cast<std::size_t>(c.peer_rank())],
                                 it->first, it->columns, where);
    check->tmem_freed(t, c, it->first, it->columns, where);
  }
  for (int i = it->first; i < it->first + it->columns; ++i)
    for (auto& half : m.word) std::fill_n(half[i], tensor_memory::lanes_of_half, undefined_word);
  m.allocations.erase(it);
  wake_waiters(c);
  if (ctas == 2) wake_waiters(c.cluster->ctas[static_cast<std::size_t>(c.peer_rank())]);
  part(t);
}

void tensor_unit::relinquish(int ctas, site where) {
  thread& t = *m_.sched.running();
  if (!meet(t, "tmem_relinquish", {}, nullptr, where)) return;
  check_group(t, ctas, "tmem_relinquish", where);
  memory_of(*t.block).relinquished = where;
  wake_waiters(*t.block);
  part(t);
}

void tensor_unit::ended(cta_state const& c) {
  wake_waiters(c);
  if (!c.tensor || c.tensor->allocations.empty()) return;
  tensor_memory::allocation const& a = c.tensor->allocations.front();
  m_.reports.stop(
      "E0106", "tmem-not-freed",
      report_text({
          .what = fmt::format("CTA {} ends with {} of tensor memory that it has not "
                              "given back.",
                              c.threads.front().cta, columns_text(a.first, a.columns)),
          .now = "end of " + name_of(*m_.sched.running()),
          .earlier = fmt::format("tmem_alloc at {}", text_of(a.where)),
          .cause = "no other thread gives them back: the next CTA of the SM waits for ever",
          .remedy = "tmem_dealloc by one warp, after a barrier with all who use them",
      }),
      a.where, {fmt::format("tensor memory of CTA {}", c.threads.front().cta)});
}

void tmem_alloc(std::uint32_t* address, int columns, int ctas, site where) {
  engine_call const inside;
  machine::current().tensor.allocate(address, columns, ctas, where);
}
void tmem_dealloc(std::uint32_t address, int columns, int ctas, site where) {
  engine_call const inside;
  machine::current().tensor.free(address, columns, ctas, where);
}
void tmem_relinquish(int ctas, site where) {
  engine_call const inside;
  machine::current().tensor.relinquish(ctas, where);
}

}  // namespace tw::emu
