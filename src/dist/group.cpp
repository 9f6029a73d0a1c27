// SPDX-License-Identifier: Apache-2.0
// group.cpp  Groups of host ranks, and the functions of a group.
#include "tilewright/dist/group.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "dist/host_ranks.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {

group::group(std::shared_ptr<membership> state) : state_(std::move(state)) {}

std::int64_t group::arena_bytes(group_options const& options) {
  return host_rank::head_bytes() + 2 * buffer_bytes(options);
}

group group::from_addresses(int rank, std::vector<void*> const& arenas,
                            group_options const& options) {
  check_arenas(rank, arenas, options);
  return group(std::make_shared<host_rank>(rank, arenas, options, nullptr));
}

std::vector<group> group::virtual_ranks(int ranks, group_options const& options) {
  check_group(ranks, options);
  std::int64_t const bytes = arena_bytes(options);
  auto const all = static_cast<std::size_t>(bytes * ranks);
  std::shared_ptr<std::byte[]> const memory(
      static_cast<std::byte*>(::operator new (all, std::align_val_t{arena_alignment})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{arena_alignment}); });
  std::vector<void*> arenas;
  for (int r = 0; r < ranks; ++r) {
    arenas.push_back(memory.get() + r * bytes);
    std::memset(arenas.back(), 0, sizeof(arena_head));
  }
  std::vector<group> list;
  for (int r = 0; r < ranks; ++r)
    list.push_back(group(std::make_shared<host_rank>(r, arenas, options, memory)));
  return list;
}

int group::rank() const { return state_->rank(); }
int group::ranks() const { return state_->ranks(); }
void group::abort() const {
  state_->break_all(fmt::format("rank {} called abort()", state_->rank()));
}
bool group::broken() const { return state_->broken(); }
void group::check() const { state_->check(); }
std::vector<int> group::unreached() const { return state_->unreached(); }
bool group::has_peer_addresses() const { return state_->reaches_all(); }

void run_ranks(std::vector<group> const& groups, std::function<void(group const&)> const& work) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (group const& g : groups)
    threads.emplace_back([&] {
      try {
        work(g);
      } catch (...) {
        std::scoped_lock const lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tw::dist
