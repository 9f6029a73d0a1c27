// SPDX-License-Identifier: Apache-2.0
// membership.cpp  Words of refusals, and copies of lines, for host ranks and GPU ranks.
#include "dist/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/base/check.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dist/schedule.hpp"

namespace tw::dist {

void group::membership::run(exchange const& x) {
  results_are_there();
  placed_lines const& own = x.to[static_cast<std::size_t>(rank())];
  copy(own.from, buffer(rank()) + own.offset, own.of);
  std::vector<int> peers;
  for (int i = 1; i < ranks(); ++i) {
    int const to = receiver(ranks(), rank(), i);
    placed_lines const& c = x.to[static_cast<std::size_t>(to)];
    send(c.from, buffer(to) + c.offset, c.of);
    set(rank_flag::sent, to);
    peers.push_back(sender(ranks(), rank(), i));
  }
  wait(rank_flag::sent, peers, x.before);
  if (x.sum) add(*x.sum);
}

void check_group(int ranks, group_options const& o) {
  if (ranks < 1 || ranks > max_ranks)
    throw rejected({"TW0903", "ranks of a group", fmt::format("{}", ranks),
                    fmt::format("1 to {}", max_ranks), ""});
  if (o.gathered_bytes < 0 || !(o.timeout_s > 0))
    throw rejected(
        {"TW0903", "options of a group",
         fmt::format("gathered_bytes = {}, timeout_s = {}", o.gathered_bytes, o.timeout_s),
         "bytes that are not negative, and a time above 0", ""});
}

void check_arenas(int rank, std::vector<void*> const& arenas, group_options const& options) {
  auto const ranks = static_cast<int>(arenas.size());
  check_group(ranks, options);
  if (rank < 0 || rank >= ranks)
    throw rejected({"TW0903", "rank", fmt::format("{}", rank),
                    fmt::format("0 to {}, for {} arenas", ranks - 1, ranks), ""});
  for (void const* const at : arenas)
    if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % arena_alignment != 0)
      throw rejected({"TW0903", "address of an arena", fmt::format("{}", fmt::ptr(at)),
                      fmt::format("a multiple of {}", arena_alignment), ""});
}

std::int64_t buffer_bytes(group_options const& o) {
  return round_up(o.gathered_bytes, arena_alignment);
}

std::uint32_t digest_of(std::string const& text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return std::max(hash, 1U);
}

void copy_lines(void const* from, void* to, lines const& l) {
  auto const* source = static_cast<std::byte const*>(from);
  auto* target = static_cast<std::byte*>(to);
  for (std::int64_t i = 0; l.bytes > 0 && i < l.count; ++i)
    std::memcpy(target + i * l.to_stride, source + i * l.from_stride,
                static_cast<std::size_t>(l.bytes));
}

void put_text(char* to, std::size_t bytes, std::string const& text) {
  std::size_t const n = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}

std::string text_of(wait_place const& p) {
  std::string const rows = fmt::format("{} rows from {}", p.rows, p.first_row);
  if (p.in == rank_waiter::gate)
    return p.cols > 0 ? fmt::format("the tile of {} and {} columns from {} of its gated GEMM", rows,
                                    p.cols, p.first_col)
                      : fmt::format("the end of its gated GEMM, for {}", rows);
  if (p.in == rank_waiter::exchange)
    return fmt::format("part {} of {} of the exchange for its {} of {}", p.part + 1, p.parts,
                       p.act == rank_act::gemm ? "GEMM" : "sum", rows);
  switch (p.act) {
    case rank_act::begin: return "its first launch";
    case rank_act::gemm: return "all tiles of its GEMM of " + rows;
    case rank_act::sum: return "the sum of " + rows;
    case rank_act::result: break;
  }
  return "D of " + rows;
}

std::string late_text(int rank, double waited_s, int peer, std::uint32_t epoch,
                      std::string const& before, std::string const& seen) {
  return fmt::format("rank {} waited {:.1f} s for rank {} in call {} before {}; rank {} {}", rank,
                     waited_s, peer, epoch, before, peer, seen);
}

std::string left_text(int rank, int peer, std::uint32_t epoch, std::string const& before) {
  return fmt::format(
      "rank {} has destroyed its group, and rank {} waits for it in call {} before {}", peer, rank,
      epoch, before);
}

std::string refused_text(int rank, int peer, std::uint32_t epoch, std::string const& before,
                         std::string const& why) {
  return fmt::format("rank {} has refused call {}, in which rank {} waits for it before {}: {}",
                     peer, epoch, rank, before, why);
}

std::string problems_text(int rank, std::string const& problem, int peer,
                          std::string const& of_peer) {
  return fmt::format("rank {} has {}; rank {} has {}", rank, problem, peer, of_peer);
}

std::string disagreement_text(std::uint32_t epoch, std::string const& problems) {
  return fmt::format("the ranks disagree in call {}: {}", epoch, problems);
}

void refuse_late(std::string const& why, double timeout_s) {
  throw rejected({"TW0905", "wait for a rank", why,
                  fmt::format("the rank's rows within {:g} s", timeout_s),
                  "group_options::timeout_s; the group is broken on all ranks"});
}

void refuse_disagreement(std::uint32_t epoch, std::string const& problems) {
  throw rejected({"TW0901", fmt::format("call {} of the group", epoch), problems,
                  "one operation with equal extents and types on all ranks", ""});
}

void refuse_broken_group(std::string const& why) {
  throw rejected({"TW0906", "group", why, "a group that is not broken",
                  "make a new group; the process and its other groups go on"});
}

}  // namespace tw::dist
